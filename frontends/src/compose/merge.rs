//! Merging files: a later file overrides an earlier one, key by key, as Compose does it.

use std::sync::Arc;

use locus_core::Diagnostic;
use rustc_hash::FxHashMap;

use super::ports;
use super::tree::{Kind, Mark, Pair, Tree};

/// How the values of one key are merged, where it is not by their shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Special {
    /// Maps join, lists are appended, anything else is replaced.
    None,
    /// The later value replaces the earlier.
    Replace,
    /// `KEY=value` items and maps are one thing.
    KeyValue,
    /// One text and a list of texts are one thing.
    List,
    /// A list of names is a map of names to nothing.
    Names,
    /// A list of names is a map of names to conditions.
    DependsOn,
    /// A text is the `context`.
    Build,
    /// Another driver replaces the options of the first.
    Logging,
    /// Entries with one `subnet` join.
    Subnets,
}

fn special(path: &[Arc<str>]) -> Special {
    let keys: Vec<&str> = path.iter().map(|key| &**key).collect();
    match keys.as_slice() {
        ["services", _, rest @ ..] => match rest {
            ["command" | "entrypoint" | "extends"] | ["healthcheck", "test"] | ["ulimits", _] => {
                Special::Replace
            }
            ["environment" | "labels" | "annotations" | "sysctls"]
            | ["build", "args" | "labels" | "additional_contexts" | "ssh"]
            | ["deploy", "labels"] => Special::KeyValue,
            [
                "dns" | "dns_opt" | "dns_search" | "env_file" | "label_file" | "tmpfs"
                | "extra_hosts",
            ]
            | ["build", "extra_hosts" | "no_cache_filter"] => Special::List,
            ["networks" | "models"] => Special::Names,
            ["depends_on"] => Special::DependsOn,
            ["build"] => Special::Build,
            ["logging"] => Special::Logging,
            _ => Special::None,
        },
        [_, _, "labels"] => Special::KeyValue,
        [_, _, "external"] => Special::Replace,
        ["networks", _, "ipam", "config"] => Special::Subnets,
        _ => Special::None,
    }
}

/// Merges a later file into an earlier one.
pub(crate) fn merge(earlier: Tree, later: Tree, diagnostics: &mut Vec<Diagnostic>) -> Tree {
    Merger {
        path: Vec::new(),
        diagnostics,
    }
    .merge(earlier, later)
}

/// Merges a service into the one it extends.
pub(crate) fn merge_service(base: Tree, own: Tree, diagnostics: &mut Vec<Diagnostic>) -> Tree {
    Merger {
        path: vec!["services".into(), "".into()],
        diagnostics,
    }
    .merge(base, own)
}

/// Carries out the marks of a file that overrides nothing.
pub(crate) fn strip_marks(tree: &mut Tree) {
    tree.mark = Mark::None;
    match &mut tree.kind {
        Kind::Map(pairs) => {
            pairs.retain(|pair| pair.value.mark != Mark::Reset);
            for pair in pairs {
                strip_marks(&mut pair.value);
            }
        }
        Kind::List(items) => {
            items.retain(|item| item.mark != Mark::Reset);
            items.iter_mut().for_each(strip_marks);
        }
        _ => {}
    }
}

struct Merger<'d> {
    path: Vec<Arc<str>>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Merger<'_> {
    fn merge(&mut self, earlier: Tree, mut later: Tree) -> Tree {
        if later.mark == Mark::Override || earlier.is_null() {
            strip_marks(&mut later);
            return later;
        }
        if later.is_null() {
            return earlier;
        }
        let (earlier, later) = match special(&self.path) {
            Special::None => (earlier, later),
            Special::Replace => {
                strip_marks(&mut later);
                return later;
            }
            Special::KeyValue => (key_values(earlier), key_values(later)),
            Special::List => (as_list(earlier), as_list(later)),
            Special::Names => (names(earlier, false), names(later, false)),
            Special::DependsOn => (names(earlier, true), names(later, true)),
            Special::Build => (build(earlier), build(later)),
            Special::Logging => {
                let driver = |tree: &Tree| tree.some("driver").and_then(Tree::text);
                match (driver(&earlier), driver(&later)) {
                    (Some(a), Some(b)) if a != b => {
                        strip_marks(&mut later);
                        return later;
                    }
                    _ => (earlier, later),
                }
            }
            Special::Subnets => return self.subnets(earlier, later),
        };
        let span = later.span;
        match (earlier.kind, later.kind) {
            (Kind::Map(a), Kind::Map(b)) => Tree::new(Kind::Map(self.maps(a, b)), span),
            (Kind::List(a), Kind::List(b)) => Tree::new(Kind::List(self.lists(a, b)), span),
            (a @ (Kind::Map(_) | Kind::List(_)), b) => {
                self.mismatch(Tree::new(a, earlier.span), Tree::new(b, span))
            }
            (a, b @ (Kind::Map(_) | Kind::List(_))) => {
                self.mismatch(Tree::new(a, earlier.span), Tree::new(b, span))
            }
            (_, b) => Tree::new(b, span),
        }
    }

    fn mismatch(&mut self, earlier: Tree, mut later: Tree) -> Tree {
        let path = self.path.join(".");
        self.diagnostics.push(
            Diagnostic::error(
                "compose-merge",
                format!(
                    "`{path}` is {} here, but {} in the file it overrides",
                    later.describe(),
                    earlier.describe()
                ),
            )
            .at(later.span)
            .related(earlier.span, "what it overrides")
            .help("write both in one form, or tag this one `!override`"),
        );
        strip_marks(&mut later);
        later
    }

    fn maps(&mut self, mut earlier: Vec<Pair>, later: Vec<Pair>) -> Vec<Pair> {
        let mut at: FxHashMap<Arc<str>, usize> = earlier
            .iter()
            .enumerate()
            .map(|(index, pair)| (pair.key.clone(), index))
            .collect();
        let mut removed = false;
        for mut pair in later {
            let existing = at.get(&pair.key).and_then(|&index| earlier.get_mut(index));
            if pair.value.mark == Mark::Reset {
                if let Some(existing) = existing {
                    existing.value.mark = Mark::Reset;
                    removed = true;
                }
                continue;
            }
            match existing {
                Some(existing) => {
                    let old = std::mem::replace(
                        &mut existing.value,
                        Tree::new(Kind::Null, pair.value.span),
                    );
                    self.path.push(pair.key.clone());
                    existing.value = self.merge(old, pair.value);
                    self.path.pop();
                    // A value that now comes from the later file has its key there too.
                    if existing.value.span.file == pair.key_span.file {
                        existing.key_span = pair.key_span;
                    }
                }
                None => {
                    strip_marks(&mut pair.value);
                    at.insert(pair.key.clone(), earlier.len());
                    earlier.push(pair);
                }
            }
        }
        if removed {
            earlier.retain(|pair| pair.value.mark != Mark::Reset);
        }
        earlier
    }

    fn lists(&mut self, mut earlier: Vec<Tree>, later: Vec<Tree>) -> Vec<Tree> {
        let mut at: FxHashMap<String, usize> = FxHashMap::default();
        for (index, item) in earlier.iter().enumerate() {
            if let Some(key) = self.item_key(item) {
                at.insert(key, index);
            }
        }
        for mut item in later {
            if item.mark == Mark::Reset {
                continue;
            }
            strip_marks(&mut item);
            let existing = self
                .item_key(&item)
                .and_then(|key| at.get(&key).copied())
                .and_then(|index| earlier.get_mut(index));
            match existing {
                Some(existing) => *existing = item,
                None => earlier.push(item),
            }
        }
        earlier
    }

    /// What makes an item of a list the same as one of the file it overrides.
    fn item_key(&self, item: &Tree) -> Option<String> {
        let keys: Vec<&str> = self.path.iter().map(|key| &**key).collect();
        let ["services", _, rest @ ..] = keys.as_slice() else {
            return None;
        };
        match rest {
            [
                "cap_add" | "cap_drop" | "dns" | "dns_opt" | "dns_search" | "expose" | "links"
                | "profiles" | "tmpfs" | "security_opt" | "group_add" | "volumes_from",
            ]
            | ["build", "tags" | "platforms"]
            | ["networks", _, "aliases" | "link_local_ips"] => item.text().map(|t| t.to_string()),
            ["env_file"] => item
                .some("path")
                .unwrap_or(item)
                .text()
                .map(|t| t.to_string()),
            ["ports"] => ports::identity(item),
            ["volumes" | "devices"] => mount_target(item),
            ["secrets" | "configs"] => item
                .some("target")
                .or_else(|| item.some("source"))
                .unwrap_or(item)
                .text()
                .map(|text| text.trim_start_matches("/run/secrets/").to_owned()),
            _ => None,
        }
    }

    fn subnets(&mut self, earlier: Tree, later: Tree) -> Tree {
        let span = later.span;
        let (Kind::List(mut a), Kind::List(b)) = (earlier.kind, later.kind) else {
            return Tree::new(Kind::List(Vec::new()), span);
        };
        for item in b {
            let subnet = item.get("subnet").and_then(Tree::text);
            let index = subnet.and_then(|subnet| {
                a.iter().position(|other| {
                    other.get("subnet").and_then(Tree::text).as_ref() == Some(&subnet)
                })
            });
            match index.and_then(|index| a.get_mut(index)) {
                Some(existing) => {
                    let old = std::mem::replace(existing, Tree::new(Kind::Null, span));
                    self.path.push("[]".into());
                    *existing = self.merge(old, item);
                    self.path.pop();
                }
                None => a.push(item),
            }
        }
        Tree::new(Kind::List(a), span)
    }
}

/// The path in the container of a volume or device, in either syntax.
fn mount_target(item: &Tree) -> Option<String> {
    if let Some(target) = item.some("target") {
        return target.text().map(|text| text.to_string());
    }
    let text = item.as_str()?;
    let mut parts = text.split(':');
    let first = parts.next()?;
    Some(parts.next().unwrap_or(first).to_owned())
}

/// The two sides of a `KEY=value` item; a key alone has a null value.
pub(crate) fn split_key_value(item: &Tree) -> Option<(Arc<str>, Tree)> {
    let text = item.text()?;
    let Some((key, value)) = text.split_once('=') else {
        return Some((text, Tree::new(Kind::Null, item.span)));
    };
    let kind = match &item.kind {
        // A variable in the key itself leaves nothing to be known about the value.
        Kind::Open(open) => {
            let pattern = open
                .pattern
                .split_once('=')
                .map_or("\u{1}", |(_, value)| value);
            if pattern.contains(super::environment::HOLE) {
                let mut open = open.clone();
                open.whole = pattern.chars().eq([super::environment::HOLE]);
                open.pattern = pattern.into();
                open.given = value.into();
                Kind::Open(open)
            } else {
                Kind::Str(value.into())
            }
        }
        _ => Kind::Str(value.into()),
    };
    Some((key.into(), Tree::new(kind, item.span)))
}

/// `KEY=value` items as a map.
fn key_values(tree: Tree) -> Tree {
    let Kind::List(items) = tree.kind else {
        return tree;
    };
    let pairs = items
        .into_iter()
        .filter_map(|item| {
            let (key, value) = split_key_value(&item)?;
            Some(Pair {
                key,
                key_span: item.span,
                value,
            })
        })
        .collect();
    Tree::new(Kind::Map(pairs), tree.span)
}

/// One text as a list; a map of hosts as a list of `host=address`.
fn as_list(tree: Tree) -> Tree {
    let span = tree.span;
    match tree.kind {
        Kind::List(_) => tree,
        Kind::Map(pairs) => {
            let items = pairs
                .iter()
                .flat_map(|pair| {
                    pair.value.one_or_many().iter().filter_map(|value| {
                        let text = format!("{}={}", pair.key, value.text()?);
                        Some(Tree::str(text, value.span))
                    })
                })
                .collect();
            Tree::new(Kind::List(items), span)
        }
        kind => Tree::new(Kind::List(vec![Tree::new(kind, span)]), span),
    }
}

/// A list of names as a map.
fn names(tree: Tree, conditions: bool) -> Tree {
    let Kind::List(items) = tree.kind else {
        return tree;
    };
    let pairs = items
        .into_iter()
        .filter_map(|item| {
            let key = item.text()?;
            let kind = if conditions {
                Kind::Map(vec![Pair {
                    key: "condition".into(),
                    key_span: item.span,
                    value: Tree::str("service_started", item.span),
                }])
            } else {
                Kind::Null
            };
            Some(Pair {
                key,
                key_span: item.span,
                value: Tree::new(kind, item.span),
            })
        })
        .collect();
    Tree::new(Kind::Map(pairs), tree.span)
}

fn build(tree: Tree) -> Tree {
    match tree.kind {
        Kind::Str(_) | Kind::Open(_) => {
            let span = tree.span;
            let context = Pair {
                key: "context".into(),
                key_span: span,
                value: tree,
            };
            Tree::new(Kind::Map(vec![context]), span)
        }
        _ => tree,
    }
}
