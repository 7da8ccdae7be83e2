//! The static semantics of location graphs.

use rustc_hash::FxHashMap;

use super::{Location, LocationGraph, RoleId};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

impl LocationGraph {
    /// What makes this set of locations no location graph, one diagnostic each:
    ///
    /// | code | meaning |
    /// |---|---|
    /// | LG001 | two locations have one name |
    /// | LG002 | two locations provide one role |
    /// | LG003 | two locations require one role |
    /// | LG004 | one location both provides and requires a role |
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        let mut names: FxHashMap<&str, &Location> = FxHashMap::default();
        for (_, location) in self.locations() {
            match names.get(&*location.name) {
                None => {
                    names.insert(&location.name, location);
                }
                Some(first) => diagnostics.push(
                    Diagnostic::error(
                        "LG001",
                        format!("two locations are named `{}`", location.name),
                    )
                    .label(location.origin.span, "this one")
                    .related(first.origin.span, "and this one")
                    .help("rename one of them"),
                ),
            }
        }
        let provided = self.at_most_one(&mut diagnostics, "LG002", "provided by", |location| {
            &location.provided
        });
        self.at_most_one(&mut diagnostics, "LG003", "required by", |location| {
            &location.required
        });
        for (id, location) in self.locations() {
            for &role in &location.required {
                if provided
                    .get(&role)
                    .is_some_and(|&(owner, _)| owner == id.index())
                {
                    diagnostics.push(
                        Diagnostic::error(
                            "LG004",
                            format!(
                                "`{}` both provides and requires `{}`",
                                location.name,
                                self.role(role).label
                            ),
                        )
                        .at(self.role(role).span)
                        .related(location.origin.span, "the location")
                        .help("a location cannot be bound to itself"),
                    );
                }
            }
        }
        diagnostics
    }

    fn at_most_one(
        &self,
        diagnostics: &mut Vec<Diagnostic>,
        code: &str,
        verb: &str,
        side: impl Fn(&Location) -> &[RoleId],
    ) -> FxHashMap<RoleId, (usize, Span)> {
        let mut owners: FxHashMap<RoleId, (usize, Span)> = FxHashMap::default();
        for (id, location) in self.locations() {
            for &role in side(location) {
                let first = *owners
                    .entry(role)
                    .or_insert((id.index(), location.origin.span));
                if first.0 != id.index() {
                    diagnostics.push(
                        Diagnostic::error(
                            code,
                            format!(
                                "the role `{}` is {verb} more than one location",
                                self.role(role).label
                            ),
                        )
                        .label(location.origin.span, format!("{verb} `{}`", location.name))
                        .related(first.1, "and by this one")
                        .help("a role joins two locations; give each its own"),
                    );
                }
            }
        }
        owners
    }
}
