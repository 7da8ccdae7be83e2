//! What follows from rights, by example and against a naive fixed point.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use locus_core::Sources;
use proptest::prelude::*;

use super::closure::{Closure, Held};
use super::question::{Question, who_can};
use super::{Grants, Subject};
use crate::kubernetes::model::Model;
use crate::kubernetes::{Options, load};
use crate::loader::MemoryLoader;

fn with<T>(text: &str, ask: impl FnOnce(&Grants) -> T) -> T {
    let mut loader = MemoryLoader::new();
    loader.insert("a.yaml", text);
    let options = Options {
        files: vec!["a.yaml".to_owned()],
        ..Options::default()
    };
    let manifests = load(&options, &loader, &mut Sources::new());
    ask(&Grants::of(&Model::of(&manifests.objects)))
}

fn account(text: &str) -> Subject {
    let (namespace, name) = text.split_once('/').expect("a namespace and a name");
    Subject::Account(namespace.into(), name.into())
}

/// A ClusterRole.
fn role(name: &str, rules: &str) -> String {
    format!(
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: {name}}}\nrules: [{rules}]\n"
    )
}

/// A binding of a ClusterRole, in a namespace or in the whole cluster.
fn bind(name: &str, to: &str, namespace: Option<&str>, subjects: &str) -> String {
    let (kind, within) = match namespace {
        Some(namespace) => ("RoleBinding", format!(", namespace: {namespace}")),
        None => ("ClusterRoleBinding", String::new()),
    };
    format!(
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}{within}}}\n\
         roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {to}}}\nsubjects: [{subjects}]\n"
    )
}

fn to(subject: &str) -> String {
    let (namespace, name) = subject.split_once('/').expect("a namespace and a name");
    format!("{{kind: ServiceAccount, name: {name}, namespace: {namespace}}}")
}

fn rule(verbs: &str, group: &str, resources: &str, names: &str) -> String {
    format!(
        "{{verbs: [{verbs}], apiGroups: ['{group}'], resources: [{resources}], resourceNames: [{names}]}}"
    )
}

#[test]
fn each_right_that_leads_to_everything_is_known() {
    let rbac = "rbac.authorization.k8s.io";
    let certificates = "certificates.k8s.io";
    let all = [
        (rule("'*'", "*", "'*'", ""), true),
        (rule("get", "*", "'*'", ""), false),
        (rule("create", "", "pods", ""), true),
        (rule("create", "apps", "daemonsets", ""), true),
        (rule("create", "", "pods", "a"), false),
        (rule("create", "", "serviceaccounts/token", ""), true),
        (rule("create", "", "serviceaccounts/token", "x"), false),
        (rule("impersonate", "", "serviceaccounts", ""), true),
        (rule("impersonate", "", "users", ""), true),
        (rule("impersonate", "", "users", "jane"), false),
        (rule("impersonate", "", "groups", ""), false),
        (
            rule("impersonate", "", "users, groups", "system:masters"),
            true,
        ),
        (rule("escalate, patch", rbac, "clusterroles", ""), true),
        (
            rule("escalate, patch", rbac, "clusterroles", "other"),
            false,
        ),
        (rule("escalate", rbac, "clusterroles", ""), false),
        (rule("patch", rbac, "clusterroles", ""), false),
        (
            rule("bind", rbac, "clusterroles", "")
                + ", "
                + &rule("create", rbac, "clusterrolebindings", ""),
            true,
        ),
        (
            rule("bind", rbac, "clusterroles", "view")
                + ", "
                + &rule("create", rbac, "clusterrolebindings", ""),
            false,
        ),
        (rule("create, get", "", "secrets", ""), true),
        (rule("get, list", "", "secrets", ""), false),
        (
            rule(
                "create",
                "admissionregistration.k8s.io",
                "mutatingwebhookconfigurations",
                "",
            ),
            true,
        ),
        (
            rule(
                "create",
                "admissionregistration.k8s.io",
                "validatingwebhookconfigurations",
                "",
            ),
            false,
        ),
        (
            rule("create", certificates, "certificatesigningrequests", "")
                + ", "
                + &rule(
                    "update",
                    certificates,
                    "certificatesigningrequests/approval",
                    "",
                )
                + ", "
                + &rule(
                    "approve",
                    certificates,
                    "signers",
                    "kubernetes.io/kube-apiserver-client",
                ),
            true,
        ),
        (
            rule("create", certificates, "certificatesigningrequests", "")
                + ", "
                + &rule(
                    "update",
                    certificates,
                    "certificatesigningrequests/approval",
                    "",
                )
                + ", "
                + &rule("approve", certificates, "signers", "example.com/other"),
            false,
        ),
    ];
    for (rules, expected) in all {
        let text = role("some", &rules) + &bind("some", "some", None, &to("a/one"));
        let way = with(&text, |grants| {
            Closure::way_to_admin(grants, &account("a/one"))
        });
        assert_eq!(way.is_some(), expected, "{rules}\n{way:?}");
    }
}

#[test]
fn a_binding_in_a_namespace_reaches_no_further() {
    let rules = rule("create", "", "pods", "");
    let strong =
        role("all", &rule("'*'", "*", "'*'", "")) + &bind("all", "all", None, &to("ops/admin"));
    for (namespace, expected) in [("ops", true), ("kube-system", true), ("shop", false)] {
        let text = strong.clone()
            + &role("run", &rules)
            + &bind(
                "run",
                "run",
                Some(namespace),
                "{kind: Group, name: 'system:serviceaccounts:shop'}",
            );
        let way = with(&text, |grants| {
            Closure::way_to_admin(grants, &account("shop/front"))
        });
        assert_eq!(way.is_some(), expected, "{namespace}: {way:?}");
    }
}

#[test]
fn who_can_names_those_who_are_granted_and_those_who_come_to_it() {
    let text = role("reader", &rule("get", "", "secrets", ""))
        + &bind("reader", "reader", Some("shop"), &to("shop/reader"))
        + &role("run", &rule("create", "batch", "jobs", ""))
        + &bind(
            "run",
            "run",
            Some("shop"),
            &(to("ci/builder") + ", {kind: User, name: jane}"),
        )
        + &role("named", &rule("get", "", "secrets", "one"))
        + &bind("named", "named", Some("other"), "{kind: Group, name: devs}");
    let ask = |verb: &str, what: &str, namespace: Option<&str>, name: Option<&str>| {
        with(&text, |grants| {
            let able = who_can(grants, &Question::new(verb, what, namespace, name));
            let shown = able.iter().map(|able| {
                let come = if able.steps.is_empty() {
                    ""
                } else {
                    " comes to it"
                };
                format!("{}{come}", able.subject)
            });
            shown.collect::<Vec<_>>()
        })
    };
    assert_eq!(
        ask("get", "secrets", None, None),
        [
            "ServiceAccount `shop/reader`",
            "Group `devs`",
            "ServiceAccount `ci/builder` comes to it",
            "User `jane` comes to it"
        ]
    );
    assert_eq!(ask("get", "secret", Some("other"), None), ["Group `devs`"]);
    assert_eq!(
        ask("get", "secrets", Some("other"), Some("two")),
        Vec::<String>::new()
    );
    assert_eq!(ask("list", "secrets", None, None), Vec::<String>::new());
    assert_eq!(
        ask("create", "jobs.batch", Some("shop"), None),
        ["ServiceAccount `ci/builder`", "User `jane`"]
    );
}

/// Whoever comes to hold everything, all of a namespace or a role can do it, also where nobody is granted it.
#[test]
fn who_can_names_those_who_come_to_hold_more() {
    let rbac = "rbac.authorization.k8s.io";
    let text = role("act", &rule("impersonate", "", "users", ""))
        + &bind("act", "act", None, &to("ci/actor"))
        + &role("own", &rule("get", "", "secrets", ""))
        + &bind("own", "own", Some("shop"), &to("ci/actor"))
        + &role(
            "grant",
            &format!(
                "{}, {}",
                rule("create", rbac, "rolebindings", ""),
                rule("bind", rbac, "clusterroles", "scale")
            ),
        )
        + &bind("grant", "grant", Some("shop"), &to("ci/granter"))
        + &role("scale", &rule("update", "apps", "deployments/scale", ""));
    let ask = |verb: &str, what: &str| {
        with(&text, |grants| {
            let able = who_can(grants, &Question::new(verb, what, None, None));
            let shown = able.iter().map(|able| {
                let come = if able.steps.is_empty() {
                    ""
                } else {
                    " comes to it"
                };
                let place = able.namespace.as_deref().unwrap_or("everywhere");
                format!("{}{come}: {place}", able.subject)
            });
            shown.collect::<Vec<_>>()
        })
    };
    assert_eq!(
        ask("get", "secrets"),
        [
            "ServiceAccount `ci/actor`: shop",
            "ServiceAccount `ci/actor` comes to it: everywhere"
        ]
    );
    assert_eq!(
        ask("update", "deployments.apps/scale"),
        [
            "ServiceAccount `ci/actor` comes to it: everywhere",
            "ServiceAccount `ci/granter` comes to it: shop"
        ]
    );
    assert_eq!(
        ask("get", "/metrics"),
        ["ServiceAccount `ci/actor` comes to it: everywhere"]
    );
}

/// Rights that the naive evaluation below knows, each with its rule.
const KINDS: [(&str, &str, &str, &str); 7] = [
    ("run", "create", "", "pods"),
    ("read", "get", "", "secrets"),
    ("make", "create", "", "secrets"),
    ("bind", "bind", "rbac.authorization.k8s.io", "clusterroles"),
    (
        "grant",
        "create",
        "rbac.authorization.k8s.io",
        "rolebindings",
    ),
    ("nothing", "get", "", "pods"),
    ("all", "'*'", "*", "'*'"),
];

/// A right: its kind, who has it, and where (0 is the whole cluster, others are namespaces).
type Right = (usize, usize, usize);

/// What follows, by trying all rights until nothing changes: accounts by their number (two in each of three namespaces),
/// 100 and on for everything in a namespace, 1000 for everything.
fn naive(rights: &[Right], start: usize) -> BTreeSet<usize> {
    let namespace_of = |account: usize| account / 2 + 1;
    let mut held = BTreeSet::from([start]);
    loop {
        let before = held.clone();
        let holds = |kind: &str, place: usize, held: &BTreeSet<usize>| {
            rights.iter().any(|&(k, who, scope)| {
                KINDS[k].0 == kind && held.contains(&who) && (scope == 0 || scope == place)
            })
        };
        // The last one is `kube-system`, whose accounts can do everything.
        for place in 1..=4 {
            let everything =
                held.contains(&1000) || held.contains(&(100 + place)) || holds("all", place, &held);
            let accounts = everything
                || holds("run", place, &held)
                || (holds("read", place, &held) && holds("make", place, &held));
            if accounts && place == 4 {
                held.insert(1000);
            } else if accounts {
                let bound = |account: &usize| rights.iter().any(|&(_, who, _)| who == *account);
                held.extend((0..6).filter(|a| namespace_of(*a) == place).filter(bound));
            }
            if everything || (holds("bind", place, &held) && holds("grant", place, &held)) {
                held.insert(100 + place);
            }
        }
        if rights
            .iter()
            .any(|&(k, who, scope)| KINDS[k].0 == "all" && scope == 0 && held.contains(&who))
        {
            held.insert(1000);
        }
        if held == before {
            return held;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn what_follows_is_the_naive_fixed_point(
        rights in prop::collection::vec((0..KINDS.len(), 0..6usize, 0..4usize), 1..9),
        start in 0..6usize,
    ) {
        let name = |account: usize| format!("n{}/a{account}", account / 2 + 1);
        let mut text = String::new();
        for (kind, verbs, group, resource) in KINDS {
            text += &role(kind, &rule(verbs, group, resource, ""));
        }
        for (at, &(kind, who, scope)) in rights.iter().enumerate() {
            let within = format!("n{scope}");
            let within = (scope > 0).then_some(within.as_str());
            text += &bind(&format!("b{at}"), KINDS[kind].0, within, &to(&name(who)));
        }
        let found = with(&text, |grants| {
            let closure = Closure::of(grants, &account(&name(start)));
            let number = |held: &Held| match held {
                Held::Subject(Subject::Account(_, name)) => name.strip_prefix('a')?.parse().ok(),
                Held::Namespace(namespace) => {
                    let number: usize = namespace.strip_prefix('n')?.parse().ok()?;
                    Some(100 + number)
                }
                Held::ClusterAdmin => Some(1000),
                _ => None,
            };
            closure.held().filter_map(number).collect::<BTreeSet<usize>>()
        });
        let mut expected = naive(&rights, start);
        // Everything in the cluster is more than everything in each namespace.
        if expected.contains(&1000) {
            let found: BTreeSet<usize> = found.into_iter().filter(|n| *n < 100 || *n == 1000).collect();
            expected.retain(|n| *n < 100 || *n == 1000);
            prop_assert_eq!(found, expected);
        } else {
            prop_assert_eq!(found, expected);
        }
    }
}
