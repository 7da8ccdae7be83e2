//! How the API server shares itself: FlowSchemas and priority levels.

use super::Here;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::text;
use crate::yaml::Node;

/// The verbs of requests.
const VERBS: [&str; 9] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
];

pub(super) fn check(name: &str, here: &mut Here<'_, '_, '_>) {
    match name {
        "FlowSchema" => {
            let exempt =
                here.node.at(&["metadata", "name"]).and_then(Node::as_str) == Some("exempt");
            let precedence = here.node.some("spec");
            let precedence =
                precedence.and_then(|spec| Some((spec.int_of("matchingPrecedence")?, spec)));
            if let Some((1, spec)) = precedence
                && !exempt
            {
                let message = "only the FlowSchema `exempt` may have the precedence 1".to_owned();
                let span = spec.span_of("matchingPrecedence");
                here.value(message, span, "use a number from 2 to 10000");
            }
        }
        "FlowSchemaSpec" => {
            // Without a number, or with 0, the server fills one in.
            here.range("matchingPrecedence", 0, 10_000);
            if here.node.some("priorityLevelConfiguration").is_none() {
                here.missing("priorityLevelConfiguration");
            }
        }
        "FlowDistinguisherMethod" => here.word("type", &["ByNamespace", "ByUser"]),
        "PriorityLevelConfigurationReference" => {
            here.not_empty("name");
            here.dns_subdomain("name");
        }
        "PolicyRulesWithSubjects" => {
            here.not_empty("subjects");
            let rules = ["resourceRules", "nonResourceRules"];
            if rules.iter().all(|key| here.node.items(key).is_empty()) {
                here.missing("resourceRules");
            }
        }
        "Subject" => subject(here),
        "ServiceAccountSubject" => {
            here.not_empty("name");
            here.not_empty("namespace");
            here.dns_label("namespace");
            if here.node.str_of("name") != Some("*") {
                here.dns_subdomain("name");
            }
        }
        "UserSubject" | "GroupSubject" => {
            here.not_empty("name");
        }
        "ResourcePolicyRule" => {
            verbs(here);
            for key in ["apiGroups", "resources"] {
                if here.not_empty(key) {
                    alone(here, key);
                }
            }
            if here.node.bool_of("clusterScope") != Some(true) {
                here.not_empty("namespaces");
            }
            alone(here, "namespaces");
            for namespace in here.node.texts("namespaces") {
                if *namespace.text != *"*" && !text::is_dns_label(&namespace.text) {
                    let message = format!("`{}` is not a namespace", namespace.text);
                    here.value(message, namespace.span, super::DNS_LABEL);
                }
            }
        }
        "NonResourcePolicyRule" => {
            verbs(here);
            if here.not_empty("nonResourceURLs") {
                alone(here, "nonResourceURLs");
            }
            for path in here.node.texts("nonResourceURLs") {
                if *path.text != *"*" && !is_path(&path.text) {
                    let message = format!("`{}` is not a path of the server", path.text);
                    here.value(
                        message,
                        path.span,
                        "write it as in `/healthz` or `/metrics/*`",
                    );
                }
            }
        }
        "PriorityLevelConfiguration" => {
            let exempt =
                here.node.at(&["metadata", "name"]).and_then(Node::as_str) == Some("exempt");
            let kind = here.node.some("spec").and_then(|spec| spec.text_of("type"));
            if let Some(kind) = kind
                && exempt != (*kind.text == *"Exempt")
            {
                let message =
                    "the type is `Exempt` for the priority level `exempt`, and for no other"
                        .to_owned();
                here.value(message, kind.span, "use `Limited`");
            }
        }
        "PriorityLevelConfigurationSpec" => {
            here.not_empty("type");
            here.word("type", &["Exempt", "Limited"]);
            match here.node.str_of("type") {
                Some("Limited") => {
                    without(here, "exempt", "type: Limited");
                    if here.node.some("limited").is_none() {
                        here.missing("limited");
                    }
                }
                Some("Exempt") => without(here, "limited", "type: Exempt"),
                _ => {}
            }
        }
        "LimitedPriorityLevelConfiguration" => {
            here.not_negative(&["nominalConcurrencyShares", "borrowingLimitPercent"]);
            here.range("lendablePercent", 0, 100);
            if here.node.some("limitResponse").is_none() {
                here.missing("limitResponse");
            }
        }
        "ExemptPriorityLevelConfiguration" => {
            here.not_negative(&["nominalConcurrencyShares"]);
            here.range("lendablePercent", 0, 100);
        }
        "LimitResponse" => {
            here.not_empty("type");
            here.word("type", &["Queue", "Reject"]);
            match here.node.str_of("type") {
                Some("Reject") => without(here, "queuing", "type: Reject"),
                Some("Queue") if here.node.some("queuing").is_none() => here.missing("queuing"),
                _ => {}
            }
        }
        "QueuingConfiguration" => queues(here),
        _ => {}
    }
}

/// A subject says what it is, and only that.
fn subject(here: &mut Here<'_, '_, '_>) {
    here.word("kind", &["Group", "ServiceAccount", "User"]);
    let own = match here.node.str_of("kind") {
        Some("Group") => "group",
        Some("ServiceAccount") => "serviceAccount",
        Some("User") => "user",
        _ => return,
    };
    if here.node.some(own).is_none() {
        here.missing(own);
    }
    for other in ["group", "serviceAccount", "user"] {
        if other != own {
            without(here, other, "that kind");
        }
    }
}

fn without(here: &mut Here<'_, '_, '_>, key: &str, with: &str) {
    if here.node.some(key).is_some() {
        let message =
            format!("`{key}` does not go with `{with}`").replace("`that kind`", "that `kind`");
        let span = here.key_span(key);
        here.fields(message, span, format!("remove `{key}`"));
    }
}

fn verbs(here: &mut Here<'_, '_, '_>) {
    if !here.not_empty("verbs") {
        return;
    }
    alone(here, "verbs");
    let verbs = here.node.texts("verbs");
    if verbs.iter().any(|verb| *verb.text == *"*") {
        return;
    }
    for verb in verbs {
        if !VERBS.contains(&&*verb.text) {
            let near = locus_core::suggest::did_you_mean(&verb.text, VERBS);
            let help =
                near.unwrap_or_else(|| format!("use `*`, or some of {}", super::list(&VERBS)));
            here.value(
                format!("`{}` is not a verb of requests", verb.text),
                verb.span,
                help,
            );
        }
    }
}

/// `*` stands for all, and by itself.
fn alone(here: &mut Here<'_, '_, '_>, key: &str) {
    let all = here.node.texts(key);
    if all.len() > 1
        && let Some(star) = all.iter().find(|one| *one.text == *"*")
    {
        let message = format!("`*` stands for all `{key}`, and by itself");
        here.fields(message, star.span, "remove the others, or `*`");
    }
}

fn is_path(path: &str) -> bool {
    let stars = path.matches('*').count();
    path == "/"
        || (path.starts_with('/')
            && !path.contains(' ')
            && !path.contains("//")
            && (stars == 0 || (stars == 1 && path.ends_with("/*"))))
}

/// Queues, and how many of them a flow is dealt.
fn queues(here: &mut Here<'_, '_, '_>) {
    // What is not given, or 0, has a value that the server fills in.
    let given = |key: &str, otherwise: i64| {
        let given = here.node.int_of(key).filter(|n| *n != 0);
        given.unwrap_or(otherwise)
    };
    let (queues, hand) = (given("queues", 64), given("handSize", 8));
    here.range("queueLengthLimit", 0, i64::MAX);
    here.range("queues", 0, 10_000_000);
    here.range("handSize", 0, i64::MAX);
    let key = if here.node.some("handSize").is_some() {
        "handSize"
    } else {
        "queues"
    };
    if queues > 0 && hand > 0 && hand > queues {
        let message = format!("`handSize` is {hand}, more than the {queues} queues");
        let span = here.node.span_of(key);
        here.value(message, span, "use a number of at most `queues`");
    } else if queues > 0 && hand > 0 && bits(queues, hand) > 60.0 {
        let message = format!("a hand of {hand} out of {queues} queues takes more than 60 bits");
        let span = here.node.span_of(key);
        here.value(message, span, "use fewer queues, or a smaller hand");
    }
}

/// The bits that choose a hand, as the server reckons them.
#[expect(
    clippy::cast_precision_loss,
    reason = "the server reckons with such numbers too"
)]
fn bits(queues: i64, hand: i64) -> f64 {
    ((queues as f64).log2() * hand as f64).ceil()
}
