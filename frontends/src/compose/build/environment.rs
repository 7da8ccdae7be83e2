//! The variables of containers, and the services that their values name.

use std::sync::Arc;

use locus_core::Span;
use locus_core::facts::AtomId;
use rustc_hash::FxHashMap;

use super::{Builder, Current};
use crate::compose::environment::read_env_file;
use crate::compose::merge::split_key_value;
use crate::compose::tree::{Kind, Tree};
use crate::compose::vocabulary::{field, sig};
use crate::loader;

/// A variable whose value may name a service.
#[derive(Clone, Debug)]
pub(in crate::compose) struct Candidate {
    service: AtomId,
    entry: AtomId,
    key: Arc<str>,
    value: Arc<str>,
    span: Span,
}

impl Builder<'_> {
    pub(super) fn container_environment(&mut self, current: &Current, tree: &Tree) {
        // A variable of the service itself wins over one of a file.
        let mut own: FxHashMap<Arc<str>, ()> = FxHashMap::default();
        if let Some(environment) = tree.some("environment") {
            let pairs = environment.pairs().iter();
            let pairs = pairs.map(|pair| (pair.key.clone(), pair.key_span, pair.value.clone()));
            let items = environment.items().iter().filter_map(|item| {
                let (key, value) = split_key_value(item)?;
                Some((key, item.span, value))
            });
            for (key, key_span, value) in pairs.chain(items).collect::<Vec<_>>() {
                own.insert(key.clone(), ());
                let span = if value.is_null() {
                    key_span
                } else {
                    value.span
                };
                self.entry(current, &key, &value, span, None);
            }
        }
        for item in tree.some("env_file").map_or(&[][..], Tree::one_or_many) {
            self.env_file(current, item, &own);
        }
    }

    fn env_file(&mut self, current: &Current, item: &Tree, own: &FxHashMap<Arc<str>, ()>) {
        let path_tree = item.some("path").unwrap_or(item);
        let Some(written) = path_tree.text() else {
            return;
        };
        let span = path_tree.span;
        let atom = self.facts.atom(sig!("EnvFile"), written.clone(), span);
        self.fact(
            field!("Service", "env_files"),
            current.component.atom,
            atom,
            span,
        );
        self.truth_or(
            field!("EnvFile", "required"),
            atom,
            item.some("required"),
            true,
            span,
        );
        if let Some(open) = path_tree.open() {
            let path = self.open_atom(sig!("Text"), open, span);
            self.fact(field!("EnvFile", "path"), atom, path, span);
            let found = self.open_atom(sig!("Bool"), open, span);
            self.fact(field!("EnvFile", "found"), atom, found, span);
            return;
        }
        let path = self.path(&written, span);
        let text = self.text(&path, span);
        self.fact(field!("EnvFile", "path"), atom, text, span);
        let content = self.loader.load(&path).ok();
        let found = self.truth(content.is_some(), span);
        self.fact(field!("EnvFile", "found"), atom, found, span);
        let raw = item
            .some("format")
            .and_then(Tree::text)
            .is_some_and(|f| &*f == "raw");
        let Some(bytes) = content else {
            return;
        };
        let (file, refused) = self.sources.add_bytes(path.as_str(), &bytes);
        if refused.is_some() {
            self.diagnostics.extend(refused);
            return;
        }
        let content = self.sources.shared_text(file);
        let mut found = Vec::new();
        let lines = read_env_file(
            &content,
            &self.project.environment,
            |range| Span::new(file, range.start, range.end),
            &mut found,
        );
        if !raw {
            self.diagnostics.extend(found);
        }
        for (key, setting) in lines {
            if !own.contains_key(&key) {
                let at = setting.span.unwrap_or(span);
                let value = Tree::str(setting.text, at);
                self.entry(current, &key, &value, at, Some(atom));
            }
        }
    }

    /// The files that labels come from.
    pub(super) fn label_files(&mut self, current: &Current, tree: &Tree) {
        for item in tree.some("label_file").map_or(&[][..], Tree::one_or_many) {
            let Some(written) = item.text() else {
                continue;
            };
            let atom = self
                .facts
                .atom(sig!("LabelFile"), written.clone(), item.span);
            let service = current.component.atom;
            self.fact(field!("Service", "label_files"), service, atom, item.span);
            let found = match item.open() {
                Some(open) => self.open_atom(sig!("Bool"), open, item.span),
                None => {
                    let path = self.path(&written, item.span);
                    let found = self.loader.load(&path).is_ok();
                    self.truth(found, item.span)
                }
            };
            self.fact(field!("LabelFile", "found"), atom, found, item.span);
        }
    }

    /// A path that a file names, from the working directory.
    pub(super) fn path(&self, written: &str, span: Span) -> String {
        let directory = self
            .project
            .directories
            .get(&span.file)
            .map_or(".", String::as_str);
        loader::join(directory, written)
    }

    fn entry(
        &mut self,
        current: &Current,
        key: &Arc<str>,
        value: &Tree,
        span: Span,
        file: Option<AtomId>,
    ) {
        let service = current.component.atom;
        let entry = self.facts.atom(sig!("EnvironmentEntry"), key.clone(), span);
        self.fact(field!("Service", "environment"), service, entry, span);
        let word = self.text(key, span);
        self.fact(field!("EnvironmentEntry", "key"), entry, word, span);
        if let Some(file) = file {
            self.fact(field!("EnvironmentEntry", "file"), entry, file, span);
        }
        let written = self.sources.snippet(value.span);
        let open = value.open().is_some() || (file.is_none() && holds_variable(written));
        let open = self.truth(open, span);
        self.fact(field!("EnvironmentEntry", "templated"), entry, open, span);
        // A key alone takes its value from the environment of the project.
        if value.is_null() {
            if let Some(setting) = self.project.environment.get(key) {
                let text = self.text(&setting.text.clone(), span);
                self.fact(field!("EnvironmentEntry", "value"), entry, text, span);
            }
            return;
        }
        self.text_fact(field!("EnvironmentEntry", "value"), entry, value);
        if let Kind::Str(text) = &value.kind {
            self.entries.push(Candidate {
                service,
                entry,
                key: key.clone(),
                value: text.clone(),
                span,
            });
        }
    }

    /// States which services the values of variables name.
    pub(super) fn mentions(&mut self) {
        for candidate in std::mem::take(&mut self.entries) {
            for (host, port) in hosts(&candidate.key, &candidate.value) {
                if self.options.all_inputs {
                    self.mentioned.insert(host.into());
                }
                let Some(&target) = self.hosts.get(host) else {
                    continue;
                };
                if target == candidate.service {
                    continue;
                }
                let span = candidate.span;
                let mention = self.facts.atom(sig!("Mention"), host, span);
                self.fact(
                    field!("Service", "mentions"),
                    candidate.service,
                    mention,
                    span,
                );
                self.fact(field!("Mention", "entry"), mention, candidate.entry, span);
                let word = self.text(host, span);
                self.fact(field!("Mention", "host"), mention, word, span);
                self.fact(field!("Mention", "service"), mention, target, span);
                if let Some(port) = port {
                    let port = self.number(i128::from(port), span);
                    self.fact(field!("Mention", "port"), mention, port, span);
                }
            }
        }
    }
}

fn holds_variable(text: &str) -> bool {
    text.replace("$$", "").contains('$')
}

/// The hosts that a value names: in URLs, in lists of `host:port`, or alone where the name of the
/// variable says that it is a host.
pub(super) fn hosts<'v>(key: &str, value: &'v str) -> Vec<(&'v str, Option<u16>)> {
    let mut out = Vec::new();
    for word in value.split([',', ';', ' ']) {
        let url = word.split_once("://");
        let authority = url.map_or(word, |(_, rest)| rest);
        let authority = authority.split(['/', '?', '#']).next().unwrap_or("");
        // A database driver may wrap the address, as in `tcp(db:3306)`.
        let authority = authority
            .split_once('(')
            .map_or(authority, |(_, inner)| inner.trim_end_matches(')'));
        let authority = authority.rsplit('@').next().unwrap_or("");
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, port.parse().ok()),
            None => (authority, None),
        };
        let upper = key.to_ascii_uppercase();
        let named = ["HOST", "ADDR", "SERVER", "URL", "URI", "ENDPOINT", "BROKER"]
            .iter()
            .any(|hint| upper.contains(hint));
        if !host.is_empty() && (url.is_some() || port.is_some() || named) {
            out.push((host, port));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_in_the_usual_forms() {
        type Hosts = &'static [(&'static str, Option<u16>)];
        let cases: [(&str, &str, Hosts); 8] = [
            ("X", "postgres://u:p@db:5432/app?x=1", &[("db", Some(5432))]),
            ("X", "http://api", &[("api", None)]),
            ("X", "redis:6379", &[("redis", Some(6379))]),
            ("DB_HOST", "db", &[("db", None)]),
            ("MODE", "db", &[]),
            (
                "BROKERS",
                "k1:9092,k2:9092",
                &[("k1", Some(9092)), ("k2", Some(9092))],
            ),
            ("DSN", "root:pw@tcp(db:3306)/x", &[("db", Some(3306))]),
            ("X", "", &[]),
        ];
        for (key, value, expected) in cases {
            assert_eq!(hosts(key, value), expected, "{value}");
        }
    }
}
