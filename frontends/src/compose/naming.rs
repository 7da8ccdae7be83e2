//! Texts that name something of the project and depend on variables: which values of these name what.
//!
//! With another name, a service uses something else, and the project consists of something else. Whoever takes every
//! input looks at the project with each of these names, as no single set of facts says what all of them mean.

use std::sync::Arc;

use locus_core::Span;

use super::environment::HOLE;
use super::merge::split_key_value;
use super::tree::{Kind, Open, Tree};

/// A text that names something, and depends on variables.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Naming {
    /// What names it, with a hole for each variable.
    pub(crate) pattern: String,
    /// The variables.
    pub(crate) variables: Vec<Arc<str>>,
    /// Where it is written.
    pub(crate) span: Span,
    /// What it names.
    pub(crate) named: Named,
}

/// What a text names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Named {
    /// Something of a section.
    Of(&'static str),
    /// A service, after `service:`.
    Service,
    /// Hosts, in the value of a variable of a container that has this name.
    Hosts(Arc<str>),
    /// The service that has it, for others.
    Itself,
}

/// Names that are found in one pattern at most.
const READINGS: usize = 32;

impl Naming {
    /// The words that variables stand for when the text is this, each with its variable.
    pub(crate) fn words(&self, text: &str) -> Vec<(Arc<str>, String)> {
        let pieces: Vec<&str> = self.pattern.split(HOLE).collect();
        let mut readings: Vec<Vec<&str>> = Vec::new();
        if let Some((first, rest)) = pieces.split_first()
            && let Some(text) = text.strip_prefix(first)
        {
            read(text, rest, &mut Vec::new(), &mut readings);
        }
        let holes = pieces.len().saturating_sub(1);
        let mut found: Vec<(Arc<str>, String)> = Vec::new();
        for words in readings {
            for (hole, word) in words.into_iter().enumerate() {
                for (at, variable) in self.variables.iter().enumerate() {
                    // A variable may be written twice, and stand in the default of another one.
                    let own = holes != self.variables.len() || at == hole;
                    let new = (variable.clone(), word.to_owned());
                    if own && !word.is_empty() && !found.contains(&new) {
                        found.push(new);
                    }
                }
            }
        }
        found
    }
}

/// The texts that holes before these pieces stand for.
fn read<'t>(
    text: &'t str,
    pieces: &[&str],
    words: &mut Vec<&'t str>,
    readings: &mut Vec<Vec<&'t str>>,
) {
    let Some((piece, rest)) = pieces.split_first() else {
        if text.is_empty() {
            readings.push(words.clone());
        }
        return;
    };
    let ends = match rest.is_empty() {
        true => text.strip_suffix(piece).map(|word| vec![word.len()]),
        false => Some(
            text.char_indices()
                .map(|(at, _)| at)
                .chain([text.len()])
                .collect(),
        ),
    };
    for end in ends.into_iter().flatten() {
        let (Some(word), Some(after)) = (text.get(..end), text.get(end..)) else {
            continue;
        };
        if let Some(after) = after.strip_prefix(piece)
            && readings.len() < READINGS
        {
            words.push(word);
            read(after, rest, words, readings);
            words.pop();
        }
    }
}

/// Adds the texts of a file that name something.
pub(crate) fn collect(document: &Tree, found: &mut Vec<Naming>) {
    for section in ["services", "jobs"] {
        for service in document.get(section).map_or(&[][..], Tree::pairs) {
            of_service(&service.value, found);
        }
    }
}

fn of_service(service: &Tree, found: &mut Vec<Naming>) {
    let mut each = |tree: &Tree, named: Named| found.extend(whole(tree, named));
    for (key, section) in [
        ("networks", "networks"),
        ("depends_on", "services"),
        ("models", "models"),
    ] {
        for item in service.some(key).map_or(&[][..], Tree::items) {
            each(item, Named::Of(section));
        }
    }
    for section in ["secrets", "configs"] {
        for item in service.some(section).map_or(&[][..], Tree::items) {
            each(item.some("source").unwrap_or(item), Named::Of(section));
        }
    }
    let build = service.some("build");
    let secrets = build.and_then(|build| build.some("secrets"));
    for item in secrets.map_or(&[][..], Tree::items) {
        each(item.some("source").unwrap_or(item), Named::Of("secrets"));
    }
    for key in ["network_mode", "ipc", "pid"] {
        if let Some(mode) = service.some(key) {
            each(mode, Named::Service);
        }
    }
    if let Some(extends) = service.some("extends") {
        each(
            extends.some("service").unwrap_or(extends),
            Named::Of("services"),
        );
    }
    for key in ["container_name", "hostname"] {
        if let Some(name) = service.some(key) {
            each(name, Named::Itself);
        }
    }
    let networks = service.some("networks").map_or(&[][..], Tree::pairs);
    for network in networks {
        for alias in network.value.some("aliases").map_or(&[][..], Tree::items) {
            each(alias, Named::Itself);
        }
    }
    let contexts = build.and_then(|build| build.some("additional_contexts"));
    for pair in contexts.map_or(&[][..], Tree::pairs) {
        each(&pair.value, Named::Service);
    }
    for item in contexts.map_or(&[][..], Tree::items) {
        if let Some((_, value)) = split_key_value(item) {
            each(&value, Named::Service);
        }
    }
    for (key, section) in [
        ("links", "services"),
        ("volumes_from", "services"),
        ("volumes", "volumes"),
    ] {
        for item in service.some(key).map_or(&[][..], Tree::items) {
            found.extend(match &item.kind {
                Kind::Map(_) => item
                    .some("source")
                    .and_then(|source| whole(source, Named::Of(section))),
                _ => first(item, section),
            });
        }
    }
    let Some(environment) = service.some("environment") else {
        return;
    };
    for pair in environment.pairs() {
        found.extend(whole(&pair.value, Named::Hosts(pair.key.clone())));
    }
    for (key, value) in environment.items().iter().filter_map(split_key_value) {
        found.extend(whole(&value, Named::Hosts(key)));
    }
}

fn naming(open: &Open, pattern: &str, span: Span, named: Named) -> Option<Naming> {
    pattern.contains(HOLE).then(|| Naming {
        pattern: pattern.to_owned(),
        variables: open.variables.clone(),
        span,
        named,
    })
}

/// A text that is a name as a whole.
fn whole(tree: &Tree, named: Named) -> Option<Naming> {
    let open = tree.open()?;
    naming(open, &open.pattern, tree.span, named)
}

/// A text of which what is before the first colon is a name.
fn first(tree: &Tree, section: &'static str) -> Option<Naming> {
    let open = tree.open()?;
    let name = open.pattern.split(':').next().unwrap_or_default();
    naming(open, name, tree.span, Named::Of(section))
}

#[cfg(test)]
mod tests {
    use locus_core::Sources;

    use super::*;

    #[test]
    fn words_are_what_variables_must_be() {
        let file = Sources::new().add("f", "");
        let words = |pattern: &str, variables: &[&str], text: &str| {
            let naming = Naming {
                pattern: pattern.replace('_', "\u{1}"),
                variables: variables.iter().map(|&name| name.into()).collect(),
                span: Span::start_of(file),
                named: Named::Service,
            };
            let words = naming.words(text).into_iter();
            let words = words.map(|(variable, word)| format!("{variable}={word}"));
            words.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words("_", &["A"], "front"), "A=front");
        assert_eq!(words("app-_-net", &["A"], "app-x-net"), "A=x");
        assert_eq!(words("app-_-net", &["A"], "app-net"), "");
        assert_eq!(words("_-_", &["A", "B"], "a-b-c"), "A=a B=b-c A=a-b B=c");
        assert_eq!(words("_", &["A", "B"], "x"), "A=x B=x");
        assert_eq!(words("_/_", &["A"], "x/y"), "A=x A=y");
    }
}
