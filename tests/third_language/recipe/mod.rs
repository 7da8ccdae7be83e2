//! Recipes: a language that is made for this test and known to nothing else.
//!
//! ```yaml
//! recipe: pancakes
//! choices:
//!   rest: [10, 60]
//! dishes:
//!   batter: { minutes: $rest, needs: [flour] }
//!   flour: {}
//! ```

use std::sync::Arc;

use locus_core::facts::{AtomId, Facts};
use locus_core::graph::{Location, LocationGraph, LocationId, RoleKind};
use locus_core::value::{Constraint, Domain, Item, Symbol, SymbolKind, Value, ValueType};
use locus_core::vocabulary::declare::{Declarations, lone, set, sig, value};
use locus_core::vocabulary::{Vocabulary, lg};
use locus_core::{Diagnostic, Sources, field_of, sig_of, suggest};
use locus_frontends::language::{
    Chosen, Confidence, Input, InputKind, InputValue, Kind, KindRole, Language, Loaded, NamePart,
    NameSort, NameUse, Names, Place, Request, Suggestion, Witness,
};
use locus_frontends::loader::Loader;
use locus_frontends::yaml::{self, Mapping, Node, Schema, Typed};

/// Recipes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipes;

static KINDS: [Kind; 1] = [Kind {
    name: "recipe",
    role: KindRole::Configuration,
    sign: Some("starts with `recipe`"),
}];

const PATIENCE: Input = Input {
    name: "patience",
    short: None,
    setting: Some("patience"),
    kind: InputKind::Number,
    placeholder: "MINUTES",
    help: "How long the guests of a recipe wait",
    repeatable: false,
};

const CHOICE: Input = Input {
    name: "choice",
    short: None,
    setting: Some("choices"),
    kind: InputKind::Pair,
    placeholder: "NAME=VALUE",
    help: "What the cook of a recipe chooses",
    repeatable: true,
};

static INPUTS: [Input; 2] = [PATIENCE, CHOICE];

static NAMES: [Names; 1] = [Names {
    what: "dish",
    sort: NameSort::Location,
    defined: &["dishes", "*"],
    used: &[NameUse {
        path: &["dishes", "*", "needs"],
        part: NamePart::Each,
    }],
    body: "\n    minutes: 10",
}];

const TABLE: Declarations = Declarations {
    language: "recipe",
    sigs: &[
        value("Number", None, "A number."),
        sig(
            "Dish",
            Some(lg::LOCATION),
            "A dish; its span is its name.",
            &[
                lone("minutes", &["Number"], "How long it takes."),
                set("needs", &["Dish"], "What must be done before."),
            ],
        ),
        sig(
            "Kitchen",
            None,
            "Where all of it happens.",
            &[lone("patience", &["Number"], "How long the guests wait.")],
        ),
    ],
};

impl Language for Recipes {
    fn name(&self) -> &'static str {
        "recipe"
    }

    fn title(&self) -> &'static str {
        "recipes"
    }

    fn kinds(&self) -> &'static [Kind] {
        &KINDS
    }

    fn by_root(&self, root: &Mapping) -> Option<(&'static Kind, Confidence)> {
        root.get("recipe")?;
        Some((KINDS.first()?, Confidence::Certain))
    }

    fn inputs(&self) -> &'static [Input] {
        &INPUTS
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::of(&TABLE)
    }

    fn rules(&self) -> &'static [(&'static str, &'static str)] {
        &[("recipe/kitchen", include_str!("kitchen.als"))]
    }

    fn names(&self) -> &'static [Names] {
        &NAMES
    }

    fn suggest(&self, place: &Place<'_>) -> Vec<Suggestion> {
        let keys: &[&str] = match place.path {
            [] => &["recipe", "choices", "dishes"],
            ["dishes", _] => &["minutes", "needs"],
            _ => &[],
        };
        let suggestion = |key: &&str| Suggestion {
            text: (*key).to_owned(),
            ..Suggestion::default()
        };
        keys.iter()
            .filter(|_| place.is_key)
            .map(suggestion)
            .collect()
    }

    fn admits(&self, domain: &Domain, value: &Value) -> Option<bool> {
        Some(domain.choices()?.contains(value))
    }

    fn choose(&self, request: &mut Request, chosen: &Chosen) {
        let pair = InputValue::Pair(chosen.name.to_string(), chosen.text());
        request.inputs.add(&CHOICE, pair, None);
    }

    fn witness(&self, chosen: &[Chosen], _: &Request, _: &dyn Loader) -> Option<Witness> {
        let line = |one: &Chosen| format!("{} = {}\n", one.name, one.text());
        Some(Witness {
            beside: Vec::new(),
            flag: "--config",
            extension: "toml",
            comment: "#",
            text: format!(
                "[recipe.choices]\n{}",
                chosen.iter().map(line).collect::<String>()
            ),
        })
    }

    fn load(&self, request: &Request, loader: &dyn Loader, sources: &mut Sources) -> Loaded {
        let mut reader = Reader {
            request,
            graph: LocationGraph::new(),
            facts: Facts::new(&TABLE),
            symbols: Vec::new(),
            wrong: Vec::new(),
        };
        for path in &request.files {
            match loader.load(path) {
                Ok(bytes) => {
                    let (file, refused) = sources.add_bytes(path.as_str(), &bytes);
                    reader.wrong.extend(refused);
                    let parsed = yaml::parse(sources, file, &yaml::Limits::default());
                    reader.wrong.extend(parsed.diagnostics);
                    for document in &parsed.documents {
                        reader.recipe(&document.root);
                    }
                }
                Err(error) => {
                    let message = format!("cannot read `{path}`: {}", error.reason);
                    reader.wrong.push(Diagnostic::error("io", message));
                }
            }
        }
        Loaded {
            questions: Vec::new(),
            language: self.name(),
            graph: reader.graph,
            facts: reader.facts,
            declared: Arc::default(),
            diagnostics: reader.wrong,
            unchecked: Vec::new(),
            about_settings: Vec::new(),
            files: request.files.clone(),
        }
    }
}

struct Reader<'a> {
    request: &'a Request,
    graph: LocationGraph,
    facts: Facts,
    symbols: Vec<(Arc<str>, Value)>,
    wrong: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn error(&mut self, node: &Node, message: String, help: Option<String>) {
        let wrong = Diagnostic::error("shape", message).at(node.used_at());
        self.wrong.push(wrong.maybe_help(help));
    }

    fn recipe(&mut self, root: &Node) {
        if let Some(minutes) = self.request.inputs.number("patience") {
            let span = root.used_at();
            let kitchen = self.facts.atom(sig_of!(TABLE, "Kitchen"), "kitchen", span);
            let value = Value::Int(i64::try_from(minutes).unwrap_or(i64::MAX).into());
            let number = sig_of!(TABLE, "Number");
            let patience = self.facts.valued(number, minutes.to_string(), span, value);
            let field = field_of!(TABLE, "Kitchen", "patience");
            self.facts.tuple(field, &[kitchen, patience]);
        }
        let choices = root.get("choices").and_then(Node::as_mapping);
        for (name, entry) in choices.into_iter().flat_map(Mapping::named) {
            let values = entry.value.as_sequence().unwrap_or_default();
            let values: Vec<Value> = values.iter().filter_map(number).collect();
            let mut given = self.request.inputs.pairs("choice");
            let given = given.find(|(other, _)| **other == **name);
            let given = given.and_then(|(_, text)| text.parse::<i64>().ok());
            let value = match given {
                Some(minutes) => Value::Int(minutes.into()),
                None => Value::Symbolic(self.graph.add_symbol(Symbol {
                    name: name.clone(),
                    kind: SymbolKind::Parameter,
                    domain: Domain {
                        ty: ValueType::Int,
                        constraints: vec![Constraint::OneOf(values)],
                    },
                    span: entry.key.span,
                    default: None,
                    depends: Vec::new(),
                })),
            };
            self.symbols.push((name.clone(), value));
        }
        let Some(dishes) = root.get("dishes").and_then(Node::as_mapping) else {
            self.error(root, "a recipe has `dishes`".to_owned(), None);
            return;
        };
        let all: Vec<(Arc<str>, LocationId, AtomId)> = dishes
            .named()
            .map(|(name, entry)| {
                let span = entry.key.span;
                let dish = Location::new(name.clone(), "Dish", span);
                let dish = self.graph.add_location(dish);
                let atom = self.facts.atom(sig_of!(TABLE, "Dish"), name.clone(), span);
                self.facts.locate(atom, dish);
                (name.clone(), dish, atom)
            })
            .collect();
        for ((_, entry), (_, location, atom)) in dishes.named().zip(&all) {
            self.dish(&entry.value, (*location, *atom), &all);
        }
    }

    fn dish(
        &mut self,
        node: &Node,
        (location, atom): (LocationId, AtomId),
        all: &[(Arc<str>, LocationId, AtomId)],
    ) {
        if let Some(minutes) = node.get("minutes") {
            let named = minutes.as_str().and_then(|text| text.strip_prefix('$'));
            let value = match named {
                Some(name) => {
                    let mut known = self.symbols.iter();
                    let known = known.find(|(other, _)| **other == *name);
                    known.map(|(_, value)| value.clone())
                }
                None => number(minutes),
            };
            match value {
                Some(value) => {
                    let span = minutes.used_at();
                    let (sig, name) = (sig_of!(TABLE, "Number"), minutes.as_str().unwrap_or(""));
                    let number = self.facts.valued(sig, name, span, value.clone());
                    let field = field_of!(TABLE, "Dish", "minutes");
                    self.facts.tuple(field, &[atom, number]);
                    let key = node.as_mapping().and_then(|map| map.entry("minutes"));
                    let properties = &mut self.graph.location_mut(location).properties;
                    properties.push(locus_core::value::Field {
                        name: "minutes".into(),
                        key: key.map_or(span, |entry| entry.key.span),
                        item: Item::new(value, span),
                    });
                }
                None => self.error(
                    minutes,
                    "`minutes` is a number or a choice".to_owned(),
                    None,
                ),
            }
        }
        let needs = node.get("needs").and_then(Node::as_sequence);
        for needed in needs.unwrap_or_default() {
            let name = needed.as_str().unwrap_or("");
            match all.iter().find(|(other, ..)| **other == *name) {
                Some((_, provider, other)) => {
                    let span = needed.used_at();
                    let field = field_of!(TABLE, "Dish", "needs");
                    self.facts.tuple_at(field, &[atom, *other], span);
                    if *provider != location {
                        let kind = RoleKind::Dependency;
                        self.graph.bind(*provider, location, kind, "needs", span);
                    }
                }
                None => {
                    let names = all.iter().map(|(name, ..)| &**name);
                    let help = suggest::did_you_mean(name, names);
                    self.error(needed, format!("there is no dish `{name}`"), help);
                }
            }
        }
    }
}

fn number(node: &Node) -> Option<Value> {
    match node.typed(Schema::Core)? {
        Typed::Int(number) => Some(Value::Int(number)),
        _ => None,
    }
}
