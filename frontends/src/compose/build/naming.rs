//! The values with which variables name something of the project.

use std::collections::BTreeSet;
use std::sync::Arc;

use locus_core::Value;

use super::Builder;
use super::environment::hosts;
use crate::compose::environment::HOLE;
use crate::compose::naming::{Named, Naming};

impl Builder<'_> {
    /// Notes which values of variables name what, for whoever takes every input.
    pub(super) fn naming(&mut self) {
        let project = self.project;
        for naming in &project.naming {
            let mut words: BTreeSet<(Arc<str>, String)> = BTreeSet::new();
            for text in self.named(naming) {
                words.extend(naming.words(&text));
            }
            for (variable, word) in words {
                let symbol = self.variable(&variable, naming.span);
                self.graph.may_name(symbol, Value::str(word));
            }
        }
    }

    /// The texts that name something, each once.
    fn named(&self, naming: &Naming) -> BTreeSet<String> {
        let of = |section: &str| {
            let components = self.components.get(section).into_iter();
            components.flat_map(|components| components.keys().map(ToString::to_string))
        };
        match &naming.named {
            Named::Of("networks") => of("networks").chain(["default".to_owned()]).collect(),
            Named::Of(section) => of(section).collect(),
            // That a service is named that is not there is said too.
            Named::Service => of("services")
                .chain([self.unknown()])
                .map(|name| format!("service:{name}"))
                .collect(),
            Named::Itself => self.mentioned.iter().map(ToString::to_string).collect(),
            Named::Hosts(key) => {
                let mut found = BTreeSet::new();
                for host in self.hosts.keys() {
                    for hole in 0..naming.pattern.matches(HOLE).count() {
                        let text = filled(&naming.pattern, hole, host);
                        if hosts(key, &text).iter().any(|(named, _)| *named == &**host) {
                            found.insert(text);
                        }
                    }
                }
                found
            }
        }
    }
}

impl Builder<'_> {
    /// A name that no service has.
    fn unknown(&self) -> String {
        let mut name = "x".to_owned();
        while self.find("services", &name).is_some() {
            name.push('x');
        }
        name
    }
}

/// A pattern with a word in one hole, and something else in all others.
fn filled(pattern: &str, hole: usize, word: &str) -> String {
    let mut text = String::new();
    for (at, piece) in pattern.split(HOLE).enumerate() {
        match at.checked_sub(1) {
            None => {}
            Some(before) if before == hole => text.push_str(word),
            Some(_) => text.push('1'),
        }
        text.push_str(piece);
    }
    text
}
