//! The page of a type.

use std::fmt::Write as _;
use std::rc::Rc;

use locus_core::facts::Facts;
use locus_core::vocabulary::{Members, Vocabulary, identifier};

use super::example::example;
use crate::tosca::build::signature;
use crate::tosca::grammar::TypeKind;
use crate::tosca::model::{Allowed, DataType, Flat, Model, Parent, Property, entries, ordered};
use crate::tosca::names::TypeId;
use crate::tosca::text::Count;
use crate::tosca::value::shown;
use crate::tosca::vocabulary;
use crate::yaml::Node;

/// The signature of a node type; none for other types, and where the name is one of the language's own.
pub(super) fn nameable(model: &Model<'_>, id: TypeId) -> Option<String> {
    let name = identifier(model.name(id));
    let first = name.chars().next();
    let legal =
        model.names.get(id).kind == TypeKind::Node && first.is_some_and(char::is_alphabetic);
    let known = Vocabulary::of(&vocabulary::FACTS).sig(&name).is_some();
    (legal && !known).then_some(name)
}

/// What rules see of a type, what else it has, and an example.
pub(super) fn page(model: &Model<'_>, id: TypeId) -> String {
    let ty = model.names.get(id);
    let flat = model.flat(id);
    let mut out = String::new();
    let own = ty.node.get("description").and_then(Node::as_str);
    let own = own.map_or_else(String::new, |text| format!(": {}", in_line(text)));
    let from = match model.file(ty.file).builtin {
        true => format!(" of TOSCA {}", model.version(ty.file).number()),
        false => String::new(),
    };
    let intro = format!("`{}`{from}{own}", ty.name);
    let section = Section {
        model,
        id,
        kind: ty.kind,
    };
    match nameable(model, id) {
        Some(_) => {
            let subset = Facts::new(&vocabulary::FACTS).declare(ty.name);
            let mut sig = signature(model, id, "Node".to_owned(), &[], Members::Marked(subset));
            sig.doc = format!("a node of type {intro}").into();
            for field in &mut sig.fields {
                let of = |property: &&Rc<Property<'_>>| {
                    format!("prop_{}", identifier(&property.name)) == *field.name
                };
                if let Some(property) = flat.properties.iter().find(of) {
                    field.doc = format!(
                        "`{}`: {}",
                        property.name,
                        section.property("properties", property)
                    )
                    .into();
                }
            }
            out += &sig.to_als();
        }
        None => {
            let _ = writeln!(out, "// the {} {intro}", ty.kind.word());
        }
    }
    section.derivation(&mut out);
    if nameable(model, id).is_none() {
        section.properties(&mut out, "properties", "properties", &flat.properties);
    }
    let hidden = "attributes, whose values are not known before the deployment";
    section.properties(&mut out, "attributes", hidden, &flat.attributes);
    section.members(&mut out, &flat);
    section.data(&mut out);
    match example(model, id) {
        Ok(rule) => {
            let _ = write!(
                out,
                "\n// a file of rules, named by `rules` in the section `tosca` of `locus.toml`\n{rule}"
            );
        }
        Err(why) => {
            let _ = writeln!(out, "\n// {why}");
        }
    }
    out
}

/// A type whose members are listed.
struct Section<'m, 'a> {
    model: &'m Model<'a>,
    id: TypeId,
    kind: TypeKind,
}

impl<'a> Section<'_, 'a> {
    /// What it derives from, and what derives from it.
    fn derivation(&self, out: &mut String) {
        let model = self.model;
        let mut above: Vec<String> = model
            .ancestors(self.id)
            .skip(1)
            .map(|at| model.name(at).to_string())
            .collect();
        let last = model.ancestors(self.id).last();
        if let Some(Parent::Primitive(primitive)) = last.map(|last| model.parent(last)) {
            above.push(primitive.describe().to_owned());
        }
        if !above.is_empty() {
            let _ = writeln!(
                out,
                "\n// derives from {}",
                above.join(", which derives from ")
            );
        }
        let derived = model
            .names
            .ids()
            .filter(|&id| model.parent(id) == Parent::Type(self.id));
        let derived: Vec<&str> = derived.map(|id| &**model.name(id)).collect();
        if !derived.is_empty() {
            let _ = writeln!(
                out,
                "\n// types that derive from it: {}",
                derived.join(", ")
            );
        }
    }

    /// The type that something is inherited from; none when this one writes it.
    fn origin(&self, section: &str, name: &str) -> Option<&'a str> {
        let model = self.model;
        let writes = |at: &TypeId| {
            let node = model.names.get(*at).node.get(section);
            entries(node).any(|(own, _)| &**own == name)
                || (section == "requirements"
                    && ordered(node).iter().any(|(own, _)| &***own == name))
        };
        let at = model.ancestors(self.id).find(writes)?;
        (at != self.id).then(|| &**model.name(at))
    }

    fn inherited(&self, section: &str, name: &str) -> String {
        let origin = self.origin(section, name);
        origin.map_or_else(String::new, |origin| format!(" (from `{origin}`)"))
    }

    /// What a property may be, whether it must be given, and which type has it.
    fn property(&self, section: &str, property: &Property<'a>) -> String {
        let mut text = self.model.describe(&property.schema);
        if let Some(entry) = self.model.entry(&property.schema) {
            let _ = write!(text, ", each entry {}", self.model.describe(&entry));
        }
        if let Some(value) = property.value {
            let _ = write!(text, ", always `{}`", in_line(&shown(value)));
        }
        match property.default {
            Some(default) => {
                let _ = write!(text, ", `{}` by default", in_line(&shown(default)));
            }
            None if property.required && property.value.is_none() && section == "properties" => {
                text += ", required";
            }
            None => {}
        }
        for clause in &property.schema.clauses {
            let _ = write!(text, ", `{}`", in_line(&shown(clause.node)));
        }
        text + &self.inherited(section, &property.name)
    }

    fn properties(&self, out: &mut String, section: &str, title: &str, all: &[Rc<Property<'a>>]) {
        let lines = all
            .iter()
            .map(|property| format!("{}: {}", property.name, self.property(section, property)));
        list(out, title, lines.collect());
    }

    /// What types of nodes, relationships, capabilities, interfaces, groups and policies have.
    fn members(&self, out: &mut String, flat: &Flat<'a>) {
        let name =
            |id: Option<TypeId>| id.map_or("a type that is not known", |id| &**self.model.name(id));
        let capabilities = flat.capabilities.iter().map(|one| {
            let own = self.inherited("capabilities", &one.name);
            let count = match one.occurrences.most {
                Some(most) => format!(", used at most {most} times"),
                None => String::new(),
            };
            let sources = self
                .allowed(&one.sources)
                .map_or_else(String::new, |of| format!(", used by {of}"));
            format!("{}: {}{count}{sources}{own}", one.name, name(one.ty))
        });
        list(
            out,
            "capabilities: `x.capabilities`, each with `name`, `type` and `owner`",
            capabilities.collect(),
        );
        let requirements = flat.requirements.iter().map(|one| {
            let mut text = format!("{}: {}", one.name, times(one.count));
            let parts = [
                (" to a capability ", one.capability),
                (" of a node ", one.node),
                (" by ", one.relationship),
            ];
            for (word, part) in parts {
                if part.is_some() {
                    let _ = write!(text, "{word}{}", name(part));
                }
            }
            text + &self.inherited("requirements", &one.name)
        });
        list(
            out,
            "requirements: `x.slots`, and `x.assignments` where they are assigned",
            requirements.collect(),
        );
        let interfaces = flat.interfaces.iter().map(|one| {
            let operations: Vec<&str> = one.operations.iter().map(|one| &*one.name).collect();
            let operations = match operations.is_empty() {
                true => String::new(),
                false => format!(" with {}", operations.join(", ")),
            };
            format!(
                "{}: {}{operations}{}",
                one.name,
                name(one.ty),
                self.inherited("interfaces", &one.name)
            )
        });
        list(
            out,
            "interfaces, which rules do not see",
            interfaces.collect(),
        );
        let artifacts = flat.artifacts.iter().map(ToString::to_string);
        list(
            out,
            "artifacts, which rules do not see",
            artifacts.collect(),
        );
        let operations = flat.operations.iter().map(|one| {
            let inputs: Vec<&str> = one.inputs.iter().map(|one| &*one.name).collect();
            match inputs.is_empty() {
                true => one.name.to_string(),
                false => format!("{}: {}", one.name, inputs.join(", ")),
            }
        });
        list(
            out,
            "operations, each with its inputs",
            operations.collect(),
        );
        list(
            out,
            "notifications",
            flat.notifications.iter().map(ToString::to_string).collect(),
        );
        self.properties(out, "inputs", "inputs", &flat.inputs);
        let limits = [
            ("leads to capabilities of", &flat.valid_capabilities),
            ("leads to nodes of", &flat.valid_targets),
            ("comes from nodes of", &flat.valid_sources),
            ("is used by relationships of", &flat.valid_relationships),
            (
                if self.kind == TypeKind::Policy {
                    "has targets of"
                } else {
                    "has members of"
                },
                &flat.members,
            ),
        ];
        for (what, allowed) in limits {
            if let Some(types) = self.allowed(allowed) {
                let _ = writeln!(out, "\n// {what} {types}");
            }
        }
    }

    /// The conditions of a data type, and what a list or map of it holds.
    fn data(&self, out: &mut String) {
        let ty = self.model.names.get(self.id);
        if ty.kind != TypeKind::Data {
            return;
        }
        if let Some(map) = ty.node.as_mapping() {
            let mut clauses = Vec::new();
            self.model.clauses(map, ty.file, &mut clauses);
            let clauses = clauses.iter().map(|clause| in_line(&shown(clause.node)));
            list(out, "values must fulfil", clauses.collect());
        }
        let schema = crate::tosca::model::Schema::of(DataType::Type(self.id), ty.file);
        if let Some(entry) = self.model.entry(&schema) {
            let _ = writeln!(out, "\n// each entry is {}", self.model.describe(&entry));
        }
    }

    /// The types that are allowed; none when all are.
    fn allowed(&self, allowed: &Allowed) -> Option<String> {
        let types = allowed.types.as_ref().filter(|types| !types.is_empty())?;
        let names: Vec<&str> = types.iter().map(|&ty| &**self.model.name(ty)).collect();
        Some(names.join(", "))
    }
}

fn times(count: Count) -> String {
    match (count.least, count.most) {
        (least, Some(most)) if least == most => format!("{least}"),
        (least, Some(most)) => format!("{least} to {most}"),
        (least, None) => format!("{least} or more"),
    }
}

fn list(out: &mut String, title: &str, lines: Vec<String>) {
    if !lines.is_empty() {
        let _ = writeln!(out, "\n// {title}:");
        for line in lines {
            let _ = writeln!(out, "//   {line}");
        }
    }
}

/// A text on one line, which ends no comment.
fn in_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace("*/", "* /")
}
