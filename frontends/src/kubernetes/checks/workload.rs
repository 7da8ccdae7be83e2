//! Controllers of pods: deployments, stateful and daemon sets, jobs.

use locus_core::values::{cron, zone};
use locus_core::{Diagnostic, suggest};

use super::Here;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::metadata;
use crate::kubernetes::text;
use crate::yaml::Node;

pub(super) fn check(name: &str, here: &mut Here<'_, '_, '_>) {
    match name {
        "StatefulSetPersistentVolumeClaimRetentionPolicy" => {
            here.word("whenDeleted", &["Retain", "Delete"]);
            here.word("whenScaled", &["Retain", "Delete"]);
        }
        "RollingUpdateStatefulSetStrategy" => here.not_negative(&["partition"]),
        "DeploymentSpec" | "StatefulSetSpec" | "DaemonSetSpec" | "ReplicaSetSpec" => {
            controller(name, here);
        }
        "RollingUpdateDeployment" | "RollingUpdateDaemonSet" => rolling(here),
        "DeploymentStrategy" => {
            let recreate = here.node.str_of("type") == Some("Recreate");
            if recreate && here.node.some("rollingUpdate").is_some() {
                let message = "`rollingUpdate` is not allowed with `type: Recreate`".to_owned();
                let span = here.key_span("rollingUpdate");
                here.fields(message, span, "remove it, or use `type: RollingUpdate`");
            }
        }
        "JobSpec" => job(here),
        "PodFailurePolicyRule" => {
            let given = ["onExitCodes", "onPodConditions"];
            let conditions = here.node.items("onPodConditions").is_empty();
            if here.node.some("onExitCodes").is_none() && conditions {
                let message = format!(
                    "{} needs one of {}",
                    here.steps.subject(),
                    super::list(&given)
                );
                let at = here.at;
                here.push(Diagnostic::error("k8s-missing-field", message).at(at));
            } else if !conditions {
                here.at_most_one(&given);
            }
        }
        "PodFailurePolicyOnExitCodesRequirement" => exit_codes(here),
        "SuccessPolicy" => {
            here.not_empty("rules");
        }
        "SuccessPolicyRule" => {
            let ways = ["succeededCount", "succeededIndexes"];
            if here.given(&ways).is_empty() {
                here.exactly_one(&ways);
            }
            here.not_negative(&["succeededCount"]);
        }
        "CronJobSpec" => cron_job(here),
        _ => {}
    }
}

fn controller(name: &str, here: &mut Here<'_, '_, '_>) {
    here.not_negative(&["replicas", "minReadySeconds", "revisionHistoryLimit"]);
    if name == "DeploymentSpec" {
        here.range("progressDeadlineSeconds", 1, i64::MAX);
        let ready = here.node.int_of("minReadySeconds").unwrap_or(0);
        let deadline = here.node.int_of("progressDeadlineSeconds").unwrap_or(600);
        if deadline <= ready && deadline > 0 {
            let message = format!(
                "`minReadySeconds` is {ready}, and a rollout is given up after {deadline} seconds"
            );
            let span = here.key_span("minReadySeconds");
            here.fields(message, span, "raise `progressDeadlineSeconds`");
        }
    }
    if name == "StatefulSetSpec" {
        for claim in here.node.items("volumeClaimTemplates") {
            let metadata = claim.some("metadata");
            let Some(name) = metadata.and_then(|metadata| metadata.text_of("name")) else {
                continue;
            };
            if !text::is_dns_label(&name.text) {
                let message = format!("`{}` is not the name of a volume", name.text);
                here.value(message, name.span, super::DNS_LABEL);
            }
        }
    }
    // Before, such a set was taken, and could start no pod.
    if name == "StatefulSetSpec" && here.release >= 33 {
        here.dns_label("serviceName");
    }
    if let Some(selector) = here.node.some("selector") {
        let labels = selector
            .some("matchLabels")
            .map_or(0, |l| l.entries().len());
        if labels == 0
            && selector.items("matchExpressions").is_empty()
            && selector.as_mapping().is_some()
        {
            let message = "the selector is empty: it would match every pod".to_owned();
            let span = here.key_span("selector");
            here.value(
                message,
                span,
                "add `matchLabels` with labels of the template",
            );
        }
    }
    restart_policy(here, &["Always"]);
}

/// The labels of pods, which the server looks at only where they are made from a template.
pub(super) fn template(here: &mut Here<'_, '_, '_>) {
    if let Some(metadata) = here.node.some("metadata") {
        metadata::labels(&metadata.labels("labels"), here.diagnostics);
        metadata::annotations(&metadata.labels("annotations"), here.diagnostics);
    }
}

/// The restart policies that the pods of a controller may have; without one it is `Always`.
pub(super) fn restart_policy(here: &mut Here<'_, '_, '_>, allowed: &[&str]) {
    let spec = here.node.at(&["template", "spec"]);
    let Some(spec) = spec else {
        return;
    };
    let policy = spec
        .text_of("restartPolicy")
        .filter(|policy| !policy.text.is_empty());
    let text = policy.as_ref().map_or("Always", |policy| &policy.text);
    if !allowed.contains(&text) && matches!(text, "Always" | "Never" | "OnFailure") {
        let message = match &policy {
            Some(_) => format!("`restartPolicy: {text}` is not allowed here"),
            None => {
                "the pods have no `restartPolicy`, and the default `Always` is not allowed here"
                    .to_owned()
            }
        };
        let key = here
            .node
            .some_entry("template")
            .map_or(here.at, |entry| entry.key.span);
        let span = policy.as_ref().map_or(key, |policy| policy.span);
        here.value(message, span, format!("use {}", super::list(allowed)));
    }
}

fn rolling(here: &mut Here<'_, '_, '_>) {
    let mut zero = 0;
    for key in ["maxUnavailable", "maxSurge"] {
        let Some(node) = here.node.some(key) else {
            continue;
        };
        if let Some(number) = node.int() {
            zero += usize::from(number == 0);
            here.not_negative(&[key]);
        } else if let Some(text) = node.text_at() {
            match percent(&text.text) {
                Some(share) => {
                    zero += usize::from(share == 0);
                    if key == "maxUnavailable" && share > 100 {
                        let message = format!("`{}` is more than all of them", text.text);
                        here.value(message, text.span, "use at most `100%`");
                    }
                }
                None => {
                    let message = format!("`{}` is neither a number nor a percentage", text.text);
                    here.value(message, text.span, "write it as in `1` or `25%`");
                }
            }
        }
    }
    if zero == 2 {
        let message =
            "`maxUnavailable` and `maxSurge` are both zero: nothing could be replaced".to_owned();
        let span = here.key_span("maxUnavailable");
        here.fields(message, span, "raise one of them");
    }
}

/// A percentage such as `25%`.
pub(super) fn percent(text: &str) -> Option<u32> {
    text.strip_suffix('%')?.parse().ok()
}

fn job(here: &mut Here<'_, '_, '_>) {
    here.not_negative(&[
        "parallelism",
        "completions",
        "backoffLimit",
        "activeDeadlineSeconds",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ]);
    restart_policy(here, &["OnFailure", "Never"]);
    indexes(here);
    let manual = here.node.bool_of("manualSelector") == Some(true);
    if here
        .node
        .some("selector")
        .is_some_and(|selector| !selector.entries().is_empty())
        && !manual
    {
        let message = "a Job chooses its selector itself".to_owned();
        let span = here.key_span("selector");
        here.fields(
            message,
            span,
            "remove `selector`, or add `manualSelector: true`",
        );
    }
    if here.node.str_of("completionMode") == Some("Indexed")
        && here.node.some("completions").is_none()
    {
        let message = "`completionMode: Indexed` needs `completions`".to_owned();
        let span = here.node.span_of("completionMode");
        here.fields(message, span, "say how many completions there are");
    }
}

/// What a Job says of its indexes goes together.
fn indexes(here: &mut Here<'_, '_, '_>) {
    let each = here.node.some("backoffLimitPerIndex").is_some();
    let failed = here.node.int_of("maxFailedIndexes");
    if failed.is_some() && !each {
        here.missing("backoffLimitPerIndex");
    }
    if let (Some(failed), Some(all)) = (failed, here.node.int_of("completions"))
        && failed > all
    {
        let message = format!("`maxFailedIndexes` is {failed}, and there are {all} completions");
        let span = here.node.span_of("maxFailedIndexes");
        here.value(message, span, "use a number of at most `completions`");
    }
    let containers = |node: &Node| -> Vec<String> {
        let kinds = ["containers", "initContainers"].iter();
        let all = kinds.flat_map(|kind| node.items(kind));
        all.filter_map(|container| container.str_of("name").map(str::to_owned))
            .collect()
    };
    let known = here
        .node
        .at(&["template", "spec"])
        .map_or_else(Vec::new, containers);
    let rules = here.node.some("podFailurePolicy");
    for rule in rules.map_or(&[][..], |policy| policy.items("rules")) {
        let codes = rule.some("onExitCodes");
        if let Some(name) = codes.and_then(|codes| codes.text_of("containerName"))
            && !known.iter().any(|known| **known == *name.text)
        {
            let message = format!("the pods have no container `{}`", name.text);
            let near = suggest::did_you_mean(&name.text, known.iter().map(String::as_str));
            let help = near.unwrap_or_else(|| "name a container of the template".to_owned());
            here.value(message, name.span, help);
        }
    }
    for rule in rules.map_or(&[][..], |policy| policy.items("rules")) {
        if rule.str_of("action") == Some("FailIndex") && !each {
            let message = "`action: FailIndex` needs `backoffLimitPerIndex`".to_owned();
            let span = rule.span_of("action");
            here.fields(message, span, "add it, or use `FailJob`");
        }
    }
}

fn exit_codes(here: &mut Here<'_, '_, '_>) {
    here.not_empty("values");
    let within = here.node.str_of("operator") == Some("In");
    let mut before = Vec::new();
    for value in here.node.items("values") {
        let Some(code) = Node::int(value) else {
            continue;
        };
        if code == 0 && within {
            let message = "the exit code 0 is no failure".to_owned();
            here.value(message, value.used_at(), "name other codes");
        } else if before.contains(&code) {
            let message = format!("the exit code {code} is named twice");
            here.value(message, value.used_at(), "remove one of them");
        }
        before.push(code);
    }
}

fn cron_job(here: &mut Here<'_, '_, '_>) {
    here.not_negative(&[
        "startingDeadlineSeconds",
        "successfulJobsHistoryLimit",
        "failedJobsHistoryLimit",
    ]);
    let Some(schedule) = here.node.text_of("schedule") else {
        return;
    };
    let text = &*schedule.text;
    if text.contains("TZ=") {
        let message = "the schedule names a time zone".to_owned();
        here.value(message, schedule.span, "name it with `timeZone`");
        return;
    }
    let every = text.strip_prefix("@every ");
    let known = match every {
        Some(duration) => locus_core::values::Duration::parse(duration).is_ok(),
        // Kubernetes knows no seconds.
        None => text.split_whitespace().count() != 6 && cron::is_expression(text),
    };
    if !known {
        let message = format!("`{text}` is not a schedule");
        let help = "write five fields, minute to day of the week, as in `*/5 * * * *`, or `@daily`";
        here.value(message, schedule.span, help);
    }
    if let Some(given) = here.node.text_of("timeZone")
        && !zone::names().any(|name| *name == *given.text)
    {
        let message = format!("`{}` is not a time zone", given.text);
        here.value(message, given.span, "write it as in `Europe/Vienna`");
    }
}

/// The pods that a field of a budget speaks of: a number or a percentage.
pub(super) fn count_or_percent(here: &mut Here<'_, '_, '_>, key: &str) {
    let Some(node) = here.node.some(key) else {
        return;
    };
    match node.text_at() {
        Some(text) if percent(&text.text).is_none_or(|share| share > 100) => {
            let message = format!("`{}` is not a percentage", text.text);
            here.value(message, text.span, "write it as in `1` or `25%`");
        }
        Some(_) => {}
        None if Node::int(node).is_some() => here.not_negative(&[key]),
        None => {}
    }
}
