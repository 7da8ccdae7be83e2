//! Environments: values for parameters and the registry of types, several files merged as Heat does.

use std::sync::Arc;

use locus_core::suggest::did_you_mean;
use locus_core::value::{Item, Value};
use locus_core::{Diagnostic, FileId, Sources, Span};

use super::data::language;
use super::literal::literal;
use super::parameter::deep_merge;
use super::template::{SCHEMA, Text};
use crate::yaml::{self, Kind, Limits, Mapping, Node};

/// A parameter that an environment or the command line sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The parameter's name.
    pub name: Arc<str>,
    /// Where the name is.
    pub span: Span,
    /// The value.
    pub item: Item,
}

/// What the registry maps a type to.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapped {
    /// The type, or a prefix that ends in `*`.
    pub from: Arc<str>,
    /// A type or a file.
    pub to: Text,
    /// The file that says so, to which file names are relative.
    pub file: FileId,
    /// The resource it is limited to; any without.
    pub resource: Option<Arc<str>>,
}

/// Several environment files as one.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Values for the parameters of the template that is deployed.
    pub parameters: Vec<Given>,
    /// Values for parameters of any template, unless given otherwise.
    pub defaults: Vec<Given>,
    /// Mappings of types, later ones first.
    pub registry: Vec<Mapped>,
    /// Keys that an environment does not have.
    pub foreign: Vec<Text>,
}

/// How a parameter that several files give is merged.
#[derive(Clone, Copy, PartialEq)]
enum Strategy {
    Overwrite,
    Merge,
    DeepMerge,
}

impl Environment {
    /// Reads one more file, which overrides those before it.
    pub fn read(
        &mut self,
        sources: &Sources,
        file: FileId,
        limits: &Limits,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let mut parsed = yaml::parse(sources, file, limits);
        diagnostics.append(&mut parsed.diagnostics);
        diagnostics.extend(parsed.duplicates.iter().map(yaml::DuplicateKey::diagnostic));
        // An empty environment is legal.
        let Some(document) = parsed.documents.into_iter().next() else {
            return;
        };
        let root = document.root;
        let Kind::Mapping(sections) = &root.kind else {
            if !root.is_null(SCHEMA) {
                diagnostics.push(
                    Diagnostic::error(
                        "shape",
                        format!(
                            "an environment is a map of sections, but this is {}",
                            root.describe(SCHEMA)
                        ),
                    )
                    .at(root.span),
                );
            }
            return;
        };
        let strategies = sections
            .get("parameter_merge_strategies")
            .and_then(Node::as_mapping);
        for (name, entry) in sections.named() {
            match &**name {
                "parameters" => {
                    let given = givens(&entry.value, "parameters", diagnostics);
                    merge(&mut self.parameters, given, strategies);
                }
                "parameter_defaults" => {
                    let given = givens(&entry.value, "parameter_defaults", diagnostics);
                    merge(&mut self.defaults, given, strategies);
                }
                "resource_registry" => self.read_registry(&entry.value, file, diagnostics),
                known if language().environment_sections.iter().any(|s| s == known) => {}
                _ => self.foreign.push(Text {
                    text: name.clone(),
                    span: entry.key.span,
                }),
            }
        }
    }

    fn read_registry(&mut self, node: &Node, file: FileId, diagnostics: &mut Vec<Diagnostic>) {
        let Some(mapping) = node.as_mapping() else {
            if !node.is_null(SCHEMA) {
                diagnostics.push(
                    Diagnostic::error("shape", "`resource_registry` is a map from types")
                        .at(node.used_at()),
                );
            }
            return;
        };
        for (name, entry) in mapping.named() {
            match (&**name, entry.value.text()) {
                ("base_url", _) => {}
                ("resources", None) => {
                    let Some(resources) = entry.value.as_mapping() else {
                        continue;
                    };
                    for (resource, specific) in resources.named() {
                        let Some(types) = specific.value.as_mapping() else {
                            continue;
                        };
                        for (from, to) in types.named() {
                            if let Some(text) = to.value.text() {
                                let resource = Some(resource.clone());
                                self.map(from, text, to.value.span, file, resource);
                            }
                        }
                    }
                }
                (_, Some(text)) => self.map(name, text, entry.value.span, file, None),
                (_, None) => diagnostics.push(
                    Diagnostic::error(
                        "shape",
                        format!("`{name}` must be mapped to a type or a template"),
                    )
                    .at(entry.value.used_at())
                    .maybe_help(did_you_mean(name, ["resources", "base_url"])),
                ),
            }
        }
    }

    fn map(
        &mut self,
        from: &Arc<str>,
        to: &Arc<str>,
        span: Span,
        file: FileId,
        resource: Option<Arc<str>>,
    ) {
        let to = Text {
            text: to.clone(),
            span,
        };
        let mapped = Mapped {
            from: from.clone(),
            to,
            file,
            resource,
        };
        self.registry.insert(0, mapped);
    }

    /// What the registry says about the type of a resource: the most specific entry.
    pub fn lookup(&self, ty: &str, resource: &str) -> Option<(&Mapped, Arc<str>)> {
        let glob = |pattern: &str| match pattern.strip_suffix('*') {
            Some(prefix) => resource.starts_with(prefix),
            None => pattern == resource,
        };
        let for_this = |mapped: &&Mapped| mapped.resource.as_deref().is_none_or(glob);
        let rank = |mapped: &Mapped| (mapped.resource.is_some(), !mapped.from.ends_with('*'));
        self.registry
            .iter()
            .filter(for_this)
            .filter_map(|mapped| match mapped.from.strip_suffix('*') {
                Some(prefix) => {
                    let rest = ty.strip_prefix(prefix)?;
                    let to = match mapped.to.text.strip_suffix('*') {
                        Some(start) => format!("{start}{rest}").into(),
                        None => mapped.to.text.clone(),
                    };
                    Some((mapped, to))
                }
                None => (*mapped.from == *ty).then(|| (mapped, mapped.to.text.clone())),
            })
            .rev()
            .max_by_key(|(mapped, _)| rank(mapped))
    }
}

fn givens(node: &Node, what: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Given> {
    if node.is_null(SCHEMA) {
        return Vec::new();
    }
    let Some(mapping) = node.as_mapping() else {
        diagnostics.push(
            Diagnostic::error(
                "shape",
                format!(
                    "`{what}` is a map from names, but this is {}",
                    node.describe(SCHEMA)
                ),
            )
            .at(node.used_at()),
        );
        return Vec::new();
    };
    mapping
        .named()
        .map(|(name, entry)| Given {
            name: name.clone(),
            span: entry.key.span,
            item: literal(&entry.value),
        })
        .collect()
}

fn merge(base: &mut Vec<Given>, over: Vec<Given>, strategies: Option<&Mapping>) {
    let strategy = |name: &str| {
        let named = strategies.and_then(|map| map.get(name).or_else(|| map.get("default")));
        match named.and_then(Node::as_str) {
            Some("merge") => Strategy::Merge,
            Some("deep_merge") => Strategy::DeepMerge,
            _ => Strategy::Overwrite,
        }
    };
    for given in over {
        let Some(old) = base.iter_mut().find(|old| old.name == given.name) else {
            base.push(given);
            continue;
        };
        let strategy = strategy(&given.name);
        match (&mut old.item.value, &given.item.value) {
            (Value::Map(old), Value::Map(new)) if strategy == Strategy::DeepMerge => {
                deep_merge(old, new);
            }
            (Value::Map(old), Value::Map(new)) if strategy == Strategy::Merge => {
                for field in new {
                    old.retain(|known| known.name != field.name);
                    old.push(field.clone());
                }
            }
            (Value::List(old), Value::List(new)) if strategy != Strategy::Overwrite => {
                old.extend(new.iter().cloned());
            }
            _ => *old = given,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[&str]) -> (Environment, Vec<Diagnostic>) {
        let mut sources = Sources::new();
        let mut environment = Environment::default();
        let mut diagnostics = Vec::new();
        for (index, text) in files.iter().enumerate() {
            let file = sources.add(format!("env{index}.yaml"), *text);
            environment.read(&sources, file, &Limits::default(), &mut diagnostics);
        }
        (environment, diagnostics)
    }

    #[test]
    fn later_files_override_and_strategies_merge() {
        let (environment, diagnostics) = read(&[
            "parameters: {a: 1, m: {x: 1, y: {p: 1}}, n: {x: 1}}\n",
            "parameters: {a: 2, m: {y: {q: 2}}, n: {y: 2}}\nparameter_merge_strategies: {m: deep_merge}\n",
        ]);
        assert_eq!(diagnostics, []);
        let shown: Vec<String> = environment
            .parameters
            .iter()
            .map(|given| format!("{}={}", given.name, given.item.value))
            .collect();
        assert_eq!(shown, ["a=2", "m={x: 1, y: {p: 1, q: 2}}", "n={y: 2}"]);
    }

    #[test]
    fn the_most_specific_mapping_counts() {
        let (environment, _) = read(&[
            "resource_registry:\n  OS::Networking::*: OS::Neutron::*\n  My::Type: a.yaml\n  resources:\n    \
             special:\n      My::Type: b.yaml\n",
            "resource_registry:\n  Other::Type: c.yaml\n",
        ]);
        let to = |ty, resource| {
            environment
                .lookup(ty, resource)
                .map(|(_, to)| to.to_string())
        };
        assert_eq!(
            to("OS::Networking::Net", "x").as_deref(),
            Some("OS::Neutron::Net")
        );
        assert_eq!(to("My::Type", "x").as_deref(), Some("a.yaml"));
        assert_eq!(to("My::Type", "special").as_deref(), Some("b.yaml"));
        assert_eq!(to("Other::Type", "special").as_deref(), Some("c.yaml"));
        assert_eq!(to("OS::Nova::Server", "x"), None);
    }

    #[test]
    fn what_is_no_environment_is_said() {
        let (environment, diagnostics) =
            read(&["parametrs: {}\n", "- a\n", "parameters: [a]\n", ""]);
        assert_eq!(environment.foreign.len(), 1);
        assert_eq!(diagnostics.len(), 2);
    }
}
