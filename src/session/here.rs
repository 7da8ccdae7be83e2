//! What is at a place of a file: from it follow hover, definition, references and completion.
//!
//! Nothing here knows a language: the text gives keys and values, the location graph gives locations, roles and symbols,
//! and the facts give whatever else a language says exists, and what refers to it.

use locus_core::facts::AtomId;
use locus_core::graph::{LocationId, RoleKind};
use locus_core::value::{Field, Item, SymbolId, Value};
use locus_core::{FileId, Span};
use locus_frontends::yaml::{self, Kind, Node};

use super::check::Report;

/// A key, or a position in a list, on the way to a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The key; of an item of a list, its number from 0.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}

/// What of an entry a place is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A key.
    Key,
    /// A value.
    Value,
    /// Neither: the space where something could be written.
    Gap,
}

/// A location that a place is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocationHere {
    /// Its identity in the graph of the report.
    pub id: LocationId,
    /// Its name.
    pub name: String,
    /// What kind of thing it is, in the words of the language.
    pub sort: String,
    /// Where it is defined.
    pub span: Span,
}

/// A role whose use is written at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleHere {
    /// What it is for.
    pub kind: RoleKind,
    /// The property or key that it stands for.
    pub label: String,
    /// Who provides it, if somebody does.
    pub provider: Option<LocationHere>,
}

/// A value that is not known, used at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct SymbolHere {
    /// Its identity in the graph of the report.
    pub id: SymbolId,
    /// What a user calls it.
    pub name: String,
    /// Where it is introduced.
    pub span: Span,
    /// The values it may take, when they are listed.
    pub choices: Option<Vec<String>>,
}

/// Something that a language says exists, as rules see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thing {
    /// What it is: a signature of the language's vocabulary.
    pub sig: String,
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub span: Span,
}

/// What is at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Here {
    /// The keys that lead to it, outermost first.
    pub path: Vec<Step>,
    /// What of the last entry it is in.
    pub part: Part,
    /// The key or value that the place is in; empty in a gap.
    pub span: Span,
    /// The keys that stand beside it, of which a gap could hold one more.
    pub siblings: Vec<String>,
    /// The value that the configuration has there with the inputs given, as text.
    pub value: Option<String>,
    /// The innermost location that the place is in.
    pub location: Option<LocationHere>,
    /// The roles whose use is written here.
    pub roles: Vec<RoleHere>,
    /// The value that is not known and used here.
    pub symbol: Option<SymbolHere>,
    /// What the language says is here, innermost first.
    pub things: Vec<Thing>,
    /// Where what is used here is defined.
    pub definitions: Vec<Span>,
    /// Where what is used or defined here is defined.
    pub declared: Vec<Span>,
    /// Where what is defined or used here is used.
    pub references: Vec<Span>,
    /// The findings that point here, by their place in the report.
    pub findings: Vec<usize>,
    /// The rules that speak of the key here, by their identifiers.
    pub rules: Vec<String>,
}

/// What a use refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Location(LocationId),
    Symbol(SymbolId),
    Atom(AtomId),
}

impl Report {
    /// The file with a name, among the sources of this report.
    pub fn file(&self, name: &str) -> Option<FileId> {
        let mut files = self.sources.files();
        files.find(|&file| self.sources.name(file) == name)
    }

    /// What is at a place of a file, counted in bytes; none when the file is not part of the project.
    pub fn at(&self, file: &str, offset: usize) -> Option<Here> {
        let file = self.file(file)?;
        let offset = u32::try_from(offset).ok()?;
        let covers = |span: Span| span.file == file && span.start <= offset && offset <= span.end;
        let mut here = self.text_at(file, offset);
        let mut uses: Vec<(Span, Target)> = Vec::new();
        self.uses(&mut |span, target| uses.push((span, target)));
        let mut at: Vec<&(Span, Target)> = uses.iter().filter(|(span, _)| covers(*span)).collect();
        at.sort_by_key(|(span, _)| span.len());
        // Of nested uses the innermost is meant; several may share its place.
        let innermost = at.first().map(|(span, _)| *span);
        let mut targets: Vec<Target> = Vec::new();
        for (span, target) in at {
            if Some(*span) == innermost && !targets.contains(target) {
                targets.push(*target);
            }
        }
        for target in &targets {
            let defined = self.defined(*target);
            if !here.definitions.contains(&defined) && !covers(defined) {
                here.definitions.push(defined);
            }
            if let Target::Symbol(id) = target {
                here.symbol = Some(self.symbol_here(*id));
            }
        }
        // Who asks at a definition wants to know who uses it.
        if targets.is_empty() {
            targets.extend(self.defined_at(&covers));
        }
        for target in &targets {
            let defined = self.defined(*target);
            if !here.declared.contains(&defined) {
                here.declared.push(defined);
            }
        }
        for (span, target) in &uses {
            if targets.contains(target) && !here.references.contains(span) {
                here.references.push(*span);
            }
        }
        here.references.sort_unstable();
        here.things = self.things(&covers);
        here.location = self.location_at(&covers, &here.path);
        here.roles = self.roles_at(&covers);
        here.value = self.value_at(&covers);
        let points = |finding: &locus_core::Diagnostic| {
            let labels = finding.labels.iter().chain(&finding.related);
            labels.map(|label| label.span).any(covers)
        };
        let findings = self.findings.iter().enumerate();
        here.findings = findings
            .filter(|(_, finding)| points(finding))
            .map(|(at, _)| at)
            .collect();
        here.rules = self.rules_about(&here.path);
        Some(here)
    }

    /// The rules of the language that mention the last key of a path: fields are named after keys.
    fn rules_about(&self, path: &[Step]) -> Vec<String> {
        let is_key = |step: &&Step| !step.name.chars().all(|c| c.is_ascii_digit());
        let Some(key) = path.iter().rev().find(is_key) else {
            return Vec::new();
        };
        let key = key.name.replace('-', "_");
        let is_it = |word: &str| {
            let before = word.strip_suffix(key.as_str());
            before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
        };
        let rules = locus_invariants::rules().iter();
        let mut ids: Vec<String> = rules
            .filter(|rule| rule.language == self.language)
            .filter(|rule| {
                let mut words = rule.text.split(|c: char| !c.is_alphanumeric() && c != '_');
                words.any(is_it)
            })
            .map(|rule| rule.id.clone())
            .collect();
        ids.dedup();
        ids
    }

    /// Keys and values of the text around a place.
    fn text_at(&self, file: FileId, offset: u32) -> Here {
        let mut here = Here {
            path: Vec::new(),
            part: Part::Gap,
            span: Span::new(file, offset as usize, offset as usize),
            siblings: Vec::new(),
            value: None,
            location: None,
            roles: Vec::new(),
            symbol: None,
            things: Vec::new(),
            definitions: Vec::new(),
            declared: Vec::new(),
            references: Vec::new(),
            findings: Vec::new(),
            rules: Vec::new(),
        };
        let parsed = yaml::parse(&self.sources, file, &yaml::Limits::default());
        let documents = parsed.documents.iter();
        let holds = |node: &&Node| node.span.start <= offset && offset <= node.span.end;
        if let Some(root) = documents.map(|document| &document.root).find(holds) {
            descend(root, offset, &mut here);
        }
        here
    }

    /// Calls a function for everything that is used somewhere, and where.
    fn uses(&self, call: &mut impl FnMut(Span, Target)) {
        for (id, location) in self.graph.locations() {
            for field in &location.properties {
                values(&field.item, &mut |item| match item.value {
                    Value::Location(id) => call(item.span, Target::Location(id)),
                    Value::Symbolic(id) => call(item.span, Target::Symbol(id)),
                    _ => {}
                });
            }
            for &role in &location.provided {
                call(self.graph.role(role).span, Target::Location(id));
            }
        }
        for (tuple, span) in self.facts.placed() {
            if let (Some(&last), Some(span)) = (tuple.last(), span) {
                call(span, Target::Atom(last));
            }
        }
    }

    fn defined(&self, target: Target) -> Span {
        match target {
            Target::Location(id) => self.graph.location(id).origin.span,
            Target::Symbol(id) => self.graph.symbol(id).span,
            Target::Atom(id) => self.facts.get(id).span,
        }
    }

    /// What is defined at a place: the innermost, and what shares its text.
    fn defined_at(&self, covers: &impl Fn(Span) -> bool) -> Vec<Target> {
        let locations = self.graph.locations();
        let locations = locations.map(|(id, found)| (found.origin.span, Target::Location(id)));
        let symbols = self.graph.symbols();
        let symbols = symbols.map(|(id, found)| (found.span, Target::Symbol(id)));
        let atoms = self.facts.atoms();
        let atoms = atoms.map(|(id, found)| (found.span, Target::Atom(id)));
        let all = locations.chain(symbols).chain(atoms);
        let here: Vec<(Span, Target)> = all.filter(|(span, _)| covers(*span)).collect();
        let innermost = here.iter().map(|(span, _)| span.len()).min();
        let here = here.into_iter();
        here.filter(|(span, _)| Some(span.len()) == innermost)
            .map(|(_, target)| target)
            .collect()
    }

    fn things(&self, covers: &impl Fn(Span) -> bool) -> Vec<Thing> {
        let atoms = self.facts.atoms().filter(|(_, atom)| covers(atom.span));
        let mut things: Vec<Thing> = atoms
            .map(|(_, atom)| Thing {
                sig: self.facts.sig_name(atom.sig).to_owned(),
                name: atom.name.to_string(),
                span: atom.span,
            })
            .collect();
        things.sort_by_key(|thing| thing.span.len());
        things
    }

    /// The location whose text a place is in: the one that is defined there, or that is named on the way there.
    fn location_at(&self, covers: &impl Fn(Span) -> bool, path: &[Step]) -> Option<LocationHere> {
        let on_the_way = |span: Span| path.iter().any(|step| step.span == span);
        let locations = self.graph.locations();
        let mut found: Vec<LocationId> = locations
            .filter(|(_, location)| {
                let span = location.origin.span;
                covers(span) || on_the_way(span)
            })
            .map(|(id, _)| id)
            .collect();
        found.sort_by_key(|&id| std::cmp::Reverse(self.graph.location(id).origin.span.start));
        found.first().map(|&id| self.location_here(id))
    }

    fn location_here(&self, id: LocationId) -> LocationHere {
        let location = self.graph.location(id);
        LocationHere {
            id,
            name: location.name.to_string(),
            sort: location.sort.to_string(),
            span: location.origin.span,
        }
    }

    fn roles_at(&self, covers: &impl Fn(Span) -> bool) -> Vec<RoleHere> {
        let here = self.graph.roles().filter(|(_, role)| covers(role.span));
        here.map(|(id, role)| {
            let mut locations = self.graph.locations();
            let provider = locations.find(|(_, location)| location.provided.contains(&id));
            RoleHere {
                kind: role.kind,
                label: role.label.to_string(),
                provider: provider.map(|(id, _)| self.location_here(id)),
            }
        })
        .collect()
    }

    fn symbol_here(&self, id: SymbolId) -> SymbolHere {
        let symbol = self.graph.symbol(id);
        let choices = symbol.domain.choices();
        SymbolHere {
            id,
            name: symbol.name.to_string(),
            span: symbol.span,
            choices: choices.map(|all| all.iter().map(Value::to_string).collect()),
        }
    }

    /// The value that a text has with the inputs given, if it is known and can be said in a line.
    pub fn resolved(&self, span: Span) -> Option<String> {
        let mut found = None;
        let mut look = |item: &Item| {
            let is_plain = !matches!(
                item.value,
                Value::Location(_) | Value::Symbolic(_) | Value::List(_) | Value::Map(_)
            );
            if item.span == span && is_plain {
                found = Some(self.shown(&item.value));
            }
        };
        for (_, location) in self.graph.locations() {
            for field in &location.properties {
                values(&field.item, &mut look);
            }
        }
        found
    }

    /// The value of the innermost property at a place.
    fn value_at(&self, covers: &impl Fn(Span) -> bool) -> Option<String> {
        let mut best: Option<(usize, String)> = None;
        let mut look = |item: &Item| {
            let len = item.span.len();
            if covers(item.span) && best.as_ref().is_none_or(|(known, _)| len < *known) {
                best = Some((len, self.shown(&item.value)));
            }
        };
        for (_, location) in self.graph.locations() {
            for field in &location.properties {
                values(&field.item, &mut look);
            }
        }
        best.map(|(_, text)| text)
    }

    /// A value in the user's words: names in place of identities.
    fn shown(&self, value: &Value) -> String {
        match value {
            Value::Location(id) => self.graph.location(*id).name.to_string(),
            Value::Symbolic(id) => self.graph.symbol(*id).name.to_string(),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(|one| self.shown(&one.value)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Map(fields) => {
                let one =
                    |field: &Field| format!("{}: {}", field.name, self.shown(&field.item.value));
                let fields: Vec<String> = fields.iter().map(one).collect();
                format!("{{{}}}", fields.join(", "))
            }
            known => known.to_string(),
        }
    }
}

/// Calls a function for an item and everything in it.
fn values(item: &Item, call: &mut impl FnMut(&Item)) {
    call(item);
    match &item.value {
        Value::List(items) => items.iter().for_each(|item| values(item, call)),
        Value::Map(fields) => fields.iter().for_each(|field| values(&field.item, call)),
        _ => {}
    }
}

/// Goes down to the entry that a place is in.
fn descend(node: &Node, offset: u32, here: &mut Here) {
    let holds = |span: Span| span.start <= offset && offset <= span.end;
    match &node.kind {
        Kind::Mapping(mapping) => {
            let names = mapping.named().map(|(name, _)| name.to_string());
            here.siblings = names.collect();
            here.part = Part::Gap;
            // An entry reaches to where the next one starts: what is typed after a key belongs to it.
            let mut entries = mapping.entries.iter();
            let Some(entry) = entries.rfind(|entry| entry.key.span.start <= offset) else {
                return;
            };
            let name = entry.key.as_str().unwrap_or_default().to_owned();
            let (key, value) = (entry.key.span, entry.value.used_at());
            if holds(key) {
                here.path.push(Step { name, span: key });
                (here.part, here.span) = (Part::Key, key);
            } else if holds(value) {
                here.path.push(Step { name, span: key });
                (here.part, here.span) = (Part::Value, value);
                descend(&entry.value, offset, here);
            }
        }
        Kind::Sequence(items) => {
            here.siblings.clear();
            here.part = Part::Gap;
            let mut items = items.iter().enumerate();
            if let Some((at, item)) = items.find(|(_, item)| holds(item.used_at())) {
                let (name, span) = (at.to_string(), item.used_at());
                here.path.push(Step { name, span });
                (here.part, here.span) = (Part::Value, span);
                descend(item, offset, here);
            }
        }
        Kind::Scalar(_) => {
            (here.part, here.span) = (Part::Value, node.span);
        }
    }
}
