//! A self-contained model in the language of the Alloy Analyzer.
//!
//! Everything is one atom (`one sig`), so the analyzer needs no scope; a symbolic value denotes one of
//! its choices, and is free where it has none.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use crate::graph::{LocationGraph, LocationId, Presence, RoleKind};
use crate::value::{Field, Value};

const PRELUDE: &str = "\
abstract sig Name, Sort, Process, Key {}
abstract sig Role {}

abstract sig Value {}
abstract sig Scalar, Symbol extends Value {}
abstract sig Collection extends Value { entries: Key -> Value }
abstract sig Reference extends Value { target: one Location }

abstract sig Location {
  name: one Name,
  sort: one Sort,
  process: one Process,
  provided: set Role,
  required: set Role,
  contains: set Location,
  properties: Key -> Value
}
sig External, Present in Location {}

// what each symbol stands for; free when nothing limits it
one sig Inputs { denotes: Symbol -> lone Value }

/** Those of its roles that are provided and required. */
fun bound: Location -> Role { provided :> Location.required + required :> Location.provided }

/** The locations that provide a role that it requires. */
fun depends: Location -> Location { required.~provided }
";

/// The graph as a model that the Alloy Analyzer accepts, with a command that shows it and one that
/// checks the static semantics of location graphs. Its text is that of a module: the predicates `WellFormedLocationSet` and
/// `DisjointRoles` over sets of locations.
pub fn to_als(graph: &LocationGraph, semantics: &str) -> String {
    let mut writer = Writer {
        graph,
        names: Names::default(),
        sigs: String::new(),
        facts: String::new(),
        scalars: FxHashMap::default(),
        collections: 0,
    };
    let ids: Vec<String> = graph
        .locations()
        .map(|(_, location)| writer.names.fresh("L", &location.name))
        .collect();
    let roles: Vec<String> = graph
        .roles()
        .map(|(id, role)| writer.names.fresh(&format!("R{}", id.index()), &role.label))
        .collect();
    for (role, (_, data)) in roles.iter().zip(graph.roles()) {
        let _ = writeln!(
            writer.sigs,
            "one sig {role} extends Role {{}} // {}",
            data.kind.as_str()
        );
    }
    let symbols: Vec<String> = graph
        .symbols()
        .map(|(_, symbol)| writer.names.fresh("S", &symbol.name))
        .collect();
    for symbol in &symbols {
        let _ = writeln!(writer.sigs, "one sig {symbol} extends Symbol {{}}");
    }
    let targets = Targets {
        locations: &ids,
        symbols: &symbols,
    };
    for (symbol, (_, data)) in symbols.iter().zip(graph.symbols()) {
        if let Some(choices) = data.domain.choices() {
            let atoms: Vec<String> = choices
                .iter()
                .map(|choice| writer.value(choice, &targets))
                .collect();
            let atoms = if atoms.is_empty() {
                "none".into()
            } else {
                atoms.join(" + ")
            };
            let _ = writeln!(
                writer.facts,
                "  one Inputs.denotes[{symbol}] and Inputs.denotes[{symbol}] in {atoms}"
            );
        }
    }
    let mut external = Vec::new();
    let mut present = Vec::new();
    let contained = contained(graph);
    for (id, (at, location)) in ids.iter().zip(graph.locations()) {
        let name = writer.constant("N", "Name", &location.name);
        let sort = writer.constant("T", "Sort", &location.sort);
        let process = writer.constant("P", "Process", &location.process);
        let set = |own: &[crate::graph::RoleId]| -> String {
            let own: Vec<&str> = own
                .iter()
                .filter_map(|role| roles.get(role.index()).map(String::as_str))
                .collect();
            if own.is_empty() {
                "none".into()
            } else {
                own.join(" + ")
            }
        };
        let inside = contained.get(&at).map(|inside| {
            let inside: Vec<&str> = inside
                .iter()
                .filter_map(|id| ids.get(id.index()).map(String::as_str))
                .collect();
            inside.join(" + ")
        });
        let inside = inside.unwrap_or_else(|| "none".into());
        let properties = writer.entries(&location.properties, &targets);
        let _ = writeln!(
            writer.sigs,
            "one sig {id} extends Location {{}} {{\n  name = {name}\n  sort = {sort}\n  process = \
             {process}\n  provided = {}\n  required = {}\n  contains = {inside}\n  properties = {properties}\n}}",
            set(&location.provided),
            set(&location.required),
        );
        if location.external {
            external.push(id.as_str());
        }
        match location.presence {
            Presence::Present => present.push(id.as_str()),
            Presence::Absent => {
                let _ = writeln!(writer.facts, "  {id} not in Present");
            }
            // Left open: the analyzer shows both.
            Presence::When(_) => {}
        }
    }
    let union = |ids: &[&str]| {
        if ids.is_empty() {
            "none".to_owned()
        } else {
            ids.join(" + ")
        }
    };
    let _ = writeln!(writer.facts, "  External = {}", union(&external));
    if !present.is_empty() {
        let _ = writeln!(writer.facts, "  {} in Present", union(&present));
    }
    let kinds = placeholders(&writer.sigs);
    let semantics: String = semantics
        .lines()
        .filter(|line| !line.starts_with("module ") && !line.starts_with("open "))
        .fold(String::new(), |text, line| text + line + "\n");
    format!(
        "module configuration\n\n{PRELUDE}\n{semantics}\npred well_formed {{ WellFormedLocationSet[Location] and \
         DisjointRoles[Location] }}\n{kinds}\n{}\nfact configuration {{\n{}}}\n\nrun show {{ well_formed }} expect \
         1\nassert is_location_graph {{ well_formed }}\ncheck is_location_graph expect 0\n",
        writer.sigs, writer.facts
    )
}

/// The locations inside of each that has some.
fn contained(graph: &LocationGraph) -> FxHashMap<LocationId, BTreeSet<LocationId>> {
    let mut contained: FxHashMap<LocationId, BTreeSet<LocationId>> = FxHashMap::default();
    let parents = graph.locations();
    let parents = parents.filter_map(|(id, location)| Some((location.parent?, id)));
    let bindings = graph.bindings().into_iter();
    let bindings = bindings
        .filter(|binding| graph.role(binding.role).kind == RoleKind::Containment)
        .map(|binding| (binding.provider, binding.requirer));
    for (outer, inner) in parents.chain(bindings) {
        contained.entry(outer).or_default().insert(inner);
    }
    contained
}

/// An abstract signature without any atom is no error, but the analyzer warns where it is used; a
/// graph without roles, say, still has to be shown.
fn placeholders(sigs: &str) -> String {
    let mut out = String::new();
    for kind in [
        "Role",
        "Key",
        "Scalar",
        "Symbol",
        "Collection",
        "Reference",
        "Location",
    ] {
        if !sigs.contains(&format!("extends {kind} {{}}")) {
            let _ = writeln!(out, "fact {{ no {kind} }}");
        }
    }
    out
}

/// Identifiers that Alloy accepts, each given once.
#[derive(Default)]
struct Names {
    used: FxHashMap<String, usize>,
}

impl Names {
    fn fresh(&mut self, prefix: &str, text: &str) -> String {
        let mut name = String::from(prefix);
        name.push('_');
        name.extend(
            text.chars()
                .take(40)
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }),
        );
        let mut count = self.used.get(&name).copied().unwrap_or(0);
        let mut unique = name.clone();
        while count > 0 && self.used.contains_key(&unique) {
            count += 1;
            unique = format!("{name}__{count}");
        }
        self.used.insert(name, count.max(1));
        self.used.entry(unique.clone()).or_insert(1);
        unique
    }
}

struct Targets<'a> {
    locations: &'a [String],
    symbols: &'a [String],
}

struct Writer<'a> {
    graph: &'a LocationGraph,
    names: Names,
    sigs: String,
    facts: String,
    scalars: FxHashMap<(String, String), String>,
    collections: usize,
}

impl Writer<'_> {
    /// The atom of a constant, made when it is first met.
    fn constant(&mut self, prefix: &str, sig: &str, text: &str) -> String {
        let key = (sig.to_owned(), text.to_owned());
        if let Some(name) = self.scalars.get(&key) {
            return name.clone();
        }
        let name = self.names.fresh(prefix, text);
        let comment: String = text
            .chars()
            .take(100)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let _ = writeln!(self.sigs, "one sig {name} extends {sig} {{}} // {comment}");
        self.scalars.insert(key, name.clone());
        name
    }

    fn value(&mut self, value: &Value, targets: &Targets<'_>) -> String {
        match value {
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {
                self.constant("V", "Scalar", &value.to_string())
            }
            Value::Str(text) => self.constant("V", "Scalar", &format!("\"{text}\"")),
            Value::Symbolic(id) => targets.symbols.get(id.index()).cloned().unwrap_or_default(),
            Value::Location(id) => {
                let target = targets
                    .locations
                    .get(id.index())
                    .cloned()
                    .unwrap_or_default();
                let key = ("Reference".to_owned(), target.clone());
                if let Some(name) = self.scalars.get(&key) {
                    return name.clone();
                }
                let name = self.names.fresh("To", &self.graph.location(*id).name);
                let _ = writeln!(
                    self.sigs,
                    "one sig {name} extends Reference {{}} {{ target = {target} }}"
                );
                self.scalars.insert(key, name.clone());
                name
            }
            Value::List(items) => {
                let fields: Vec<(String, &Value)> = items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| (index.to_string(), &item.value))
                    .collect();
                self.collection(&fields, targets)
            }
            Value::Map(fields) => {
                let fields: Vec<(String, &Value)> = fields
                    .iter()
                    .map(|field| (field.name.to_string(), &field.item.value))
                    .collect();
                self.collection(&fields, targets)
            }
        }
    }

    fn collection(&mut self, fields: &[(String, &Value)], targets: &Targets<'_>) -> String {
        let entries = self.tuples(fields, targets);
        self.collections += 1;
        let name = format!("C{}", self.collections);
        let _ = writeln!(
            self.sigs,
            "one sig {name} extends Collection {{}} {{ entries = {entries} }}"
        );
        name
    }

    fn entries(&mut self, fields: &[Field], targets: &Targets<'_>) -> String {
        let fields: Vec<(String, &Value)> = fields
            .iter()
            .map(|field| (field.name.to_string(), &field.item.value))
            .collect();
        self.tuples(&fields, targets)
    }

    fn tuples(&mut self, fields: &[(String, &Value)], targets: &Targets<'_>) -> String {
        // Of a repeated name the last counts.
        let mut last: Vec<(&str, &Value)> = Vec::new();
        for (name, value) in fields {
            match last.iter_mut().find(|(other, _)| other == name) {
                Some(slot) => slot.1 = value,
                None => last.push((name, value)),
            }
        }
        if last.is_empty() {
            return "none -> none".into();
        }
        let tuples: Vec<String> = last
            .into_iter()
            .map(|(name, value)| {
                let key = self.constant("K", "Key", name);
                format!("{key} -> {}", self.value(value, targets))
            })
            .collect();
        tuples.join("\n    + ")
    }
}
