//! Selectors of labels.

use super::Here;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::metadata;
use crate::kubernetes::text;

pub(super) fn check(name: &str, here: &mut Here<'_, '_, '_>) {
    match name {
        "LabelSelector" => metadata::labels(&here.node.labels("matchLabels"), here.diagnostics),
        "LabelSelectorRequirement" => {
            requirement(here, &["In", "NotIn", "Exists", "DoesNotExist"]);
            values(here);
        }
        _ => {}
    }
}

/// A requirement on the labels or fields of nodes.
pub(super) fn node_requirement(here: &mut Here<'_, '_, '_>) {
    let operators = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
    requirement(here, &operators);
}

/// The values of a selector of labels are values of labels.
fn values(here: &mut Here<'_, '_, '_>) {
    for value in here.node.texts("values") {
        if !text::is_label_value(&value.text) {
            let shown: String = value.text.chars().take(80).collect();
            let message = format!("`{shown}` is not a valid value of a label");
            let help = "use letters, digits, `-`, `_` and `.`, starting and ending with a letter or digit, at most 63 characters";
            here.value(message, value.span, help);
        }
    }
}

fn requirement(here: &mut Here<'_, '_, '_>, operators: &[&str]) {
    let help = "use a name of at most 63 letters, digits, `-`, `_` and `.`, with a domain and `/` before it if you like";
    here.syntax("key", text::is_qualified_name, "the key of a label", help);
    let Some(operator) = here.node.text_of("operator") else {
        return;
    };
    let values = here.node.items("values").len();
    match &*operator.text {
        "In" | "NotIn" if values == 0 => {
            let message = format!("`operator: {}` needs `values`", operator.text);
            here.fields(message, operator.span, "list the values, or use `Exists`");
        }
        "Exists" | "DoesNotExist" if values > 0 => {
            let message = format!("`operator: {}` has no `values`", operator.text);
            let span = here.key_span("values");
            here.fields(message, span, "remove them, or use `In`");
        }
        "Gt" | "Lt" if operators.contains(&"Gt") => {
            let values = here.node.texts("values");
            let number = values
                .first()
                .is_some_and(|value| value.text.parse::<i64>().is_ok());
            if values.len() != 1 || !number {
                let message = format!(
                    "`operator: {}` needs one whole number as value",
                    operator.text
                );
                here.fields(
                    message,
                    operator.span,
                    "write it in quotes: `values: [\"3\"]`",
                );
            }
        }
        other if !operators.contains(&other) => {
            let message = format!("`{other}` is not an operator of a selector");
            let near = locus_core::suggest::did_you_mean(other, operators.iter().copied());
            let help = near.unwrap_or_else(|| format!("use {}", super::list(operators)));
            here.value(message, operator.span, help);
        }
        _ => {}
    }
}
