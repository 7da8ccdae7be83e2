//! Controllers of pods: deployments, stateful and daemon sets, jobs.

use locus_core::values::cron;

use super::Here;
use crate::kubernetes::access::Access as _;
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
        "CronJobSpec" => cron_job(here),
        _ => {}
    }
}

fn controller(name: &str, here: &mut Here<'_, '_, '_>) {
    here.not_negative(&["replicas", "minReadySeconds", "revisionHistoryLimit"]);
    if name == "DeploymentSpec" {
        here.range("progressDeadlineSeconds", 1, i64::MAX);
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

/// The restart policies that the pods of a controller may have; without one it is `Always`.
fn restart_policy(here: &mut Here<'_, '_, '_>, allowed: &[&str]) {
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
    if let Some(zone) = here.node.text_of("timeZone") {
        let known = jiff::tz::TimeZone::get(&zone.text).is_ok();
        let bad = zone.text.is_empty() || zone.text.eq_ignore_ascii_case("local");
        if bad || (!known && zones_are_known()) {
            let message = format!("`{}` is not a time zone", zone.text);
            here.value(message, zone.span, "write it as in `Europe/Vienna`");
        }
    }
}

/// Whether the names of time zones can be looked up at all.
fn zones_are_known() -> bool {
    jiff::tz::TimeZone::get("Europe/Paris").is_ok()
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
