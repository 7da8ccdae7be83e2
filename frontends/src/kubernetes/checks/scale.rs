//! Disruption budgets and autoscalers.

use locus_core::values::Quantity;

use super::Here;
use super::workload::count_or_percent;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::text;

/// The kinds of metrics and the fields that describe them.
const METRICS: &[(&str, &str)] = &[
    ("Resource", "resource"),
    ("Pods", "pods"),
    ("Object", "object"),
    ("External", "external"),
    ("ContainerResource", "containerResource"),
];

pub(super) fn check(name: &str, here: &mut Here<'_, '_, '_>) {
    match name {
        "PodDisruptionBudgetSpec" => {
            here.at_most_one(&["minAvailable", "maxUnavailable"]);
            count_or_percent(here, "minAvailable");
            count_or_percent(here, "maxUnavailable");
        }
        "HorizontalPodAutoscalerSpec" => {
            target(here);
            here.range("maxReplicas", 1, i64::MAX);
            here.range("minReplicas", 1, i64::MAX);
            let least = here.node.int_of("minReplicas").unwrap_or(1);
            if let Some(most) = here
                .node
                .int_of("maxReplicas")
                .filter(|most| *most < least && *most > 0)
            {
                let message =
                    format!("`maxReplicas` is {most}, below `minReplicas`, which is {least}");
                let span = here.node.span_of("maxReplicas");
                here.value(message, span, "raise `maxReplicas`, or lower `minReplicas`");
            }
            here.range("targetCPUUtilizationPercentage", 1, i64::MAX);
        }
        "MetricSpec" => metric(here),
        "MetricTarget" => {
            let field = match here.node.str_of("type") {
                Some("Utilization") => "averageUtilization",
                Some("Value") => "value",
                Some("AverageValue") => "averageValue",
                Some(other) => {
                    let message = format!("`{other}` is not a type of target");
                    let span = here.node.span_of("type");
                    here.value(
                        message,
                        span,
                        "use `Utilization`, `Value` or `AverageValue`",
                    );
                    return;
                }
                None => return,
            };
            if here
                .given(&["averageUtilization", "value", "averageValue"])
                .is_empty()
            {
                here.missing(field);
            }
            here.range("averageUtilization", 1, i64::MAX);
            for key in ["averageValue", "value"] {
                let amount = here.node.some(key).and_then(|node| node.as_str());
                let amount = amount.and_then(|text| Quantity::parse(text.trim()));
                if amount.is_some() && amount <= Quantity::parse("0") {
                    let message = format!("`{}` must be more than 0", here.path(key));
                    let span = here.node.span_of(key);
                    here.value(message, span, "use a larger number");
                }
            }
        }
        "CrossVersionObjectReference" => {
            let help = "a name has no `/` and no `%`";
            for key in ["name", "kind"] {
                here.syntax(key, text::is_path_segment, "a name", help);
            }
        }
        "MetricIdentifier" => {
            let help = "a name has no `/` and no `%`";
            here.syntax("name", text::is_path_segment, "the name of a metric", help);
        }
        "HPAScalingRules" => {
            here.word("selectPolicy", &["Max", "Min", "Disabled"]);
            here.range("stabilizationWindowSeconds", 0, 3600);
        }
        "HPAScalingPolicy" => {
            here.word("type", &["Pods", "Percent"]);
            here.range("value", 1, i64::MAX);
            here.range("periodSeconds", 1, 1800);
        }
        _ => {}
    }
}

/// What is scaled is named with the group of its interface; only the oldest kind is in none. Before 1.34, what names no
/// group was taken, and found nothing.
fn target(here: &mut Here<'_, '_, '_>) {
    let Some(target) = here.node.some("scaleTargetRef") else {
        return;
    };
    let version = target.text_of("apiVersion");
    let text = version.as_ref().map_or("", |version| &version.text);
    let parts: Vec<&str> = text.split('/').collect();
    let oldest = target.str_of("kind") == Some("ReplicationController");
    let known = match parts.as_slice() {
        [_] => oldest,
        [group, name] => !group.is_empty() && !name.is_empty(),
        _ => false,
    };
    if known || here.release < 34 {
        return;
    }
    let span = version
        .as_ref()
        .map_or_else(|| here.key_span("scaleTargetRef"), |version| version.span);
    let message = match text {
        "" => "`spec.scaleTargetRef` lacks `apiVersion`".to_owned(),
        text => format!("`{text}` is not the version of an interface"),
    };
    here.value(message, span, "write it as in `apiVersion: apps/v1`");
}

fn metric(here: &mut Here<'_, '_, '_>) {
    let Some(kind) = here.node.text_of("type") else {
        return;
    };
    let names: Vec<&str> = METRICS.iter().map(|(name, _)| *name).collect();
    let Some((_, field)) = METRICS.iter().find(|(name, _)| **name == *kind.text) else {
        let message = format!("`{}` is not a type of metric", kind.text);
        let near = locus_core::suggest::did_you_mean(&kind.text, names.iter().copied());
        let help = near.unwrap_or_else(|| format!("use {}", super::list(&names)));
        here.value(message, kind.span, help);
        return;
    };
    let fields: Vec<&str> = METRICS.iter().map(|(_, field)| *field).collect();
    for given in here.given(&fields) {
        if given != *field {
            let message = format!(
                "a metric of type `{}` is described by `{field}`, not `{given}`",
                kind.text
            );
            let span = here.key_span(given);
            here.fields(message, span, format!("rename `{given}`, or change `type`"));
        }
    }
    if here.node.some(field).is_none() {
        here.missing(field);
    }
}
