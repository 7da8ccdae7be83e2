//! What the gate is asked about: the one table from which the webhooks' rules are made, and which says what admission answers.

use serde_json::{Value, json};

use super::admission::Verb;
use super::object::WORKLOADS;

/// A resource that the API server asks about before it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// Its group; empty for the core.
    pub group: &'static str,
    /// The resource.
    pub resource: &'static str,
    /// The subresource; empty for none.
    pub subresource: &'static str,
    /// What is done with it.
    pub verbs: &'static [Verb],
    /// Whether the gate adds something: this is asked first.
    pub mutated: bool,
    /// Whether the gate decides: this is asked about what came of all that was added.
    pub validated: bool,
}

const CREATE: &[Verb] = &[Verb::Create];
const UPDATE: &[Verb] = &[Verb::Update];
const BOTH: &[Verb] = &[Verb::Create, Verb::Update];

const fn row(resource: &'static str, subresource: &'static str, verbs: &'static [Verb]) -> Covered {
    Covered {
        group: "",
        resource,
        subresource,
        verbs,
        mutated: false,
        validated: true,
    }
}

const fn added(resource: &'static str) -> Covered {
    Covered {
        mutated: true,
        validated: false,
        ..row(resource, "", CREATE)
    }
}

/// What is not a workload, and what is changed of one.
const OTHERS: &[Covered] = &[
    added("pods"),
    added("nodes"),
    row("pods", "ephemeralcontainers", UPDATE),
    row("pods", "resize", UPDATE),
    row("pods", "status", UPDATE),
    row("pods", "binding", CREATE),
    row("bindings", "", CREATE),
    row("nodes", "", UPDATE),
    // What a StatefulSet or DaemonSet was, of which its controller makes pods.
    Covered {
        group: "apps",
        ..row("controllerrevisions", "", BOTH)
    },
];

/// Everything that the gate is asked about.
pub fn covered() -> Vec<Covered> {
    let mut all = OTHERS.to_vec();
    for workload in WORKLOADS {
        let group = workload.group;
        let whole = row(workload.resource, "", BOTH);
        all.push(Covered { group, ..whole });
        if workload.scales {
            let scale = row(workload.resource, "scale", UPDATE);
            all.push(Covered { group, ..scale });
        }
        if workload.has_status {
            let status = row(workload.resource, "status", UPDATE);
            all.push(Covered { group, ..status });
        }
    }
    all
}

impl Covered {
    /// The resource as rules name it: `pods/status`.
    pub fn path(&self) -> String {
        match self.subresource {
            "" => self.resource.to_owned(),
            sub => format!("{}/{sub}", self.resource),
        }
    }

    /// A rule of a webhook or policy about it.
    pub fn rule(&self) -> Value {
        let verbs = self.verbs.iter().filter_map(|verb| match verb {
            Verb::Create => Some("CREATE"),
            Verb::Update => Some("UPDATE"),
            Verb::Other => None,
        });
        json!({
            "apiGroups": [self.group],
            "apiVersions": ["*"],
            "operations": verbs.collect::<Vec<_>>(),
            "resources": [self.path()],
            "scope": if self.resource == "nodes" { "Cluster" } else { "Namespaced" },
        })
    }
}

/// The rules of a webhook: of what is asked before, or after everything was added.
pub fn rules(mutating: bool) -> Vec<Value> {
    rules_about(mutating, |_| true)
}

/// The same about some of it, for one of several webhooks.
pub fn rules_about(mutating: bool, wanted: impl Fn(&Covered) -> bool) -> Vec<Value> {
    let asked = covered().into_iter();
    asked
        .filter(|one| if mutating { one.mutated } else { one.validated })
        .filter(wanted)
        .map(|one| one.rule())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::Timestamp;
    use crate::cluster::admission::{Ask, Gatekeeper};
    use crate::cluster::known::{Known, WATCHED};

    fn known() -> Known {
        let mut known = Known::new("the-gate");
        for kind in WATCHED {
            known.replace(kind.kind, []);
        }
        known
    }

    fn ask(covered: &Covered, verb: Verb) -> Ask {
        let object = json!({"metadata": {"name": "x", "namespace": "shop"}, "spec": {}});
        Ask {
            uid: "1".to_owned(),
            verb,
            group: covered.group.to_owned(),
            resource: covered.resource.to_owned(),
            subresource: covered.subresource.to_owned(),
            namespace: "shop".to_owned(),
            name: "x".to_owned(),
            user: "somebody".to_owned(),
            dry_run: false,
            object: object.clone(),
            old: object,
        }
    }

    #[test]
    fn whatever_is_asked_is_understood() {
        let keeper = Gatekeeper::new(Timestamp::from_secs(1_800_000_000));
        let now = Timestamp::from_secs(1_800_000_000);
        for covered in covered() {
            for verb in covered.verbs {
                let mut ask = ask(&covered, *verb);
                let kind =
                    super::super::object::Workload::of_resource(covered.group, covered.resource);
                if let Some(workload) = kind {
                    ask.object["kind"] = json!(workload.kind);
                }
                let decision = match covered.mutated {
                    true => keeper.mutate(&ask, &known()),
                    false => keeper.validate(&ask, &known(), now),
                };
                let foreign = "the gate does not know how to check";
                let refused = decision.refused.iter();
                let understood = refused
                    .map(|one| &one.message)
                    .all(|said| !said.contains(foreign));
                assert!(understood, "{covered:?} {verb:?}: {decision:?}");
            }
        }
    }

    #[test]
    fn nothing_is_asked_twice() {
        let all = covered();
        for (index, one) in all.iter().enumerate() {
            let same = |other: &&Covered| {
                other.group == one.group
                    && other.path() == one.path()
                    && other.mutated == one.mutated
            };
            assert_eq!(all.iter().filter(same).count(), 1, "{index}: {one:?}");
        }
        assert_eq!(rules(true).len(), 2);
        assert_eq!(rules(false).len(), 7 + 9 + 4 + 7);
    }
}
