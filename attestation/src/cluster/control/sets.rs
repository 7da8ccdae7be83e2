//! What is said of InvariantSets: whether they can be used, for how many namespaces they are, and when they last were.

use super::{Action, Facts, Target, written};
use crate::clock::Timestamp;
use crate::cluster::known::{Set, covers};
use crate::cluster::object::{at, field, name};
use crate::cluster::resources::{Condition, InvariantSetStatus};

/// By how much the time of the last use may be off, in milliseconds: it is no reason to write again and again.
const ROUGHLY: i64 = 300_000;

/// What is known of a set beside what is in the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetFacts {
    /// What is wrong with its rules.
    pub wrong: Option<String>,
    /// When it was last in force for something.
    pub used: Option<Timestamp>,
}

pub(super) fn due(facts: &Facts<'_>, due: &mut Vec<Action>) {
    for (object, set) in facts.known.all_sets() {
        let said = field(object, "status").clone();
        let said: Option<InvariantSetStatus> = serde_json::from_value(said).ok();
        let said = said.unwrap_or_default();
        let about = facts.sets.get(name(object)).cloned().unwrap_or_default();
        let generation = at(object, &["metadata", "generation"])
            .as_i64()
            .unwrap_or(0);
        let (reason, problem) = match (&set.problem, about.wrong) {
            (Some(problem), _) => ("RulesMissing", Some(problem.clone())),
            (None, Some(wrong)) => ("RulesBroken", Some(wrong)),
            (None, None) => ("RulesCompiled", None),
        };
        let status = InvariantSetStatus {
            observed_generation: generation,
            namespace_count: count(facts, &set),
            last_used: last_used(said.last_used.as_deref(), about.used),
            conditions: vec![condition(
                facts.now,
                (generation, reason, problem.as_deref()),
                said.conditions.first(),
            )],
            problem,
        };
        if status != said {
            due.push(Action::Describe(Target::of(object), Box::new(status)));
        }
    }
}

fn count(facts: &Facts<'_>, set: &Set) -> i64 {
    let namespaces = facts.known.all("Namespace");
    let named = namespaces.filter(|one| {
        let mut patterns = set.spec.namespaces.iter();
        patterns.any(|pattern| covers(pattern, name(one)))
    });
    i64::try_from(named.count()).unwrap_or(i64::MAX)
}

/// The time that is said, unless it is far from the time of the last use.
fn last_used(said: Option<&str>, used: Option<Timestamp>) -> Option<String> {
    let before = said.and_then(|said| said.parse::<k8s_openapi::jiff::Timestamp>().ok());
    match (before, used) {
        (_, None) => said.map(str::to_owned),
        (Some(before), Some(used)) if used.millis() - before.as_millisecond() < ROUGHLY => {
            said.map(str::to_owned)
        }
        (_, Some(used)) => written(used),
    }
}

fn condition(
    now: Timestamp,
    (generation, reason, problem): (i64, &str, Option<&str>),
    before: Option<&Condition>,
) -> Condition {
    let status = if problem.is_none() { "True" } else { "False" };
    let same = before.filter(|before| before.status == status);
    let since = same.map(|before| before.last_transition_time.clone());
    Condition {
        kind: "Usable".to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: super::workers::cut(problem.unwrap_or("its rules are in force"), 1000),
        observed_generation: generation,
        last_transition_time: since.or_else(|| written(now)).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;
    use crate::cluster::control::Settings;
    use crate::cluster::known::{Known, WATCHED};

    const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);

    fn set(status: &Value) -> Value {
        json!({
            "apiVersion": "locus.dev/v1alpha1", "kind": "InvariantSet",
            "metadata": {"name": "shop", "generation": 3},
            "spec": {"namespaces": ["shop", "test-*"]}, "status": status,
        })
    }

    fn described(set: Value, about: SetFacts) -> Option<InvariantSetStatus> {
        let mut known = Known::new("gate");
        for kind in WATCHED {
            known.replace(kind.kind, []);
        }
        let space = |name: &str| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let spaces = ["shop", "test-a", "test-b", "other"].map(space);
        known.replace("Namespace", spaces);
        known.replace("InvariantSet", [set]);
        let mut due = Vec::new();
        super::due(
            &Facts {
                known: &known,
                workers: BTreeMap::new(),
                pods: BTreeMap::new(),
                knows_image: &|_| true,
                failures: &BTreeMap::new(),
                orphans: &BTreeMap::new(),
                sets: &BTreeMap::from([("shop".to_owned(), about)]),
                now: NOW,
                settings: Settings::default(),
            },
            &mut due,
        );
        assert!(due.len() <= 1);
        due.pop().map(|action| match action {
            Action::Describe(target, status) => {
                assert_eq!(target.name, "shop");
                *status
            }
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_set_says_whether_it_can_be_used_and_for_how_many_namespaces() {
        let status = described(set(&Value::Null), SetFacts::default()).unwrap();
        assert_eq!((status.observed_generation, status.namespace_count), (3, 3));
        assert_eq!(
            (status.problem.as_deref(), status.last_used.as_deref()),
            (None, None)
        );
        let usable = &status.conditions[0];
        assert_eq!(
            (usable.kind.as_str(), usable.status.as_str()),
            ("Usable", "True")
        );
        assert_eq!(usable.reason, "RulesCompiled");
        // What was said is not said again.
        let said = serde_json::to_value(&status).unwrap();
        assert_eq!(described(set(&said), SetFacts::default()), None);
        let broken = SetFacts {
            wrong: Some("line 3: no such relation".to_owned()),
            used: None,
        };
        let status = described(set(&said), broken).unwrap();
        assert_eq!(status.problem.as_deref(), Some("line 3: no such relation"));
        assert_eq!(status.conditions[0].status, "False");
        assert_eq!(status.conditions[0].reason, "RulesBroken");
        let mut missing = set(&said);
        missing["spec"]["ownRules"] =
            json!([{"name": "own", "configMap": {"namespace": "a", "name": "b", "key": "c"}}]);
        let status = described(missing, SetFacts::default()).unwrap();
        assert_eq!(status.conditions[0].reason, "RulesMissing");
        assert!(status.problem.unwrap().contains("`own` are not there"));
    }

    #[test]
    fn the_last_use_is_said_roughly() {
        let used = |at: Timestamp| SetFacts {
            wrong: None,
            used: Some(at),
        };
        let first = described(set(&Value::Null), used(NOW)).unwrap();
        assert!(first.last_used.is_some());
        let said = serde_json::to_value(&first).unwrap();
        assert_eq!(described(set(&said), used(NOW.plus_secs(299))), None);
        let later = described(set(&said), used(NOW.plus_secs(300))).unwrap();
        assert!(later.last_used > first.last_used);
        // Another gate, which has not used it, leaves what was said.
        assert_eq!(described(set(&said), SetFacts::default()), None);
    }
}
