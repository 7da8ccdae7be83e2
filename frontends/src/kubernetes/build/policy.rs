//! The parameters of rules as facts.

use locus_core::Span;
use locus_core::vocabulary::FieldId;

use super::Builder;
use crate::kubernetes::object::Text;
use crate::kubernetes::policy::{PARAMETERS, Shape};
use crate::kubernetes::vocabulary::{field, sig};

/// The field of a parameter.
fn field_of(key: &str) -> Option<FieldId<2>> {
    Some(match key {
        "replicas" => field!("Policy", "least_replicas"),
        "autoscaler-replicas" => field!("Policy", "least_scaled"),
        "spread-replicas" => field!("Policy", "spread_from"),
        "spread-topology-keys" => field!("Policy", "spread_over"),
        "cpu-requirements" => field!("Policy", "cpu_requirements"),
        "cpu-least" => field!("Policy", "least_cpu"),
        "cpu-most" => field!("Policy", "most_cpu"),
        "memory-requirements" => field!("Policy", "memory_requirements"),
        "memory-least" => field!("Policy", "least_memory"),
        "memory-most" => field!("Policy", "most_memory"),
        "dropped-capabilities" => field!("Policy", "dropped_capabilities"),
        "capability-exceptions" => field!("Policy", "capability_exceptions"),
        "denied-images" => field!("Policy", "denied_images"),
        "allowed-images" => field!("Policy", "allowed_images"),
        "secret-variables" => field!("Policy", "secret_variables"),
        "service-types" => field!("Policy", "service_types"),
        "priority-classes" => field!("Policy", "priority_classes"),
        "dns-options" => field!("Policy", "needed_dns_options"),
        "needed-labels" => field!("Policy", "needed_labels"),
        "needed-annotations" => field!("Policy", "needed_annotations"),
        "forbidden-annotations" => field!("Policy", "forbidden_annotations"),
        "pull-policies" => field!("Policy", "denied_pull_policies"),
        "claim-annotations" => field!("Policy", "claim_annotations"),
        "host-paths" => field!("Policy", "denied_host_paths"),
        "runtime-sockets" => field!("Policy", "runtime_sockets"),
        "safe-sysctls" => field!("Policy", "safe_sysctls"),
        "remote-shell-ports" => field!("Policy", "shell_ports"),
        "default-accounts" => field!("Policy", "default_accounts"),
        "workload-resources" => field!("Policy", "workload_resources"),
        "workload-verbs" => field!("Policy", "workload_verbs"),
        "secret-resources" => field!("Policy", "secret_resources"),
        "secret-verbs" => field!("Policy", "secret_verbs"),
        "update-strategies" => field!("Policy", "update_strategies"),
        "restart-policies" => field!("Policy", "restart_policies"),
        "ignored-secrets" => field!("Policy", "ignored_secrets"),
        "ignored-config-maps" => field!("Policy", "ignored_config_maps"),
        "forbidden-kinds" => field!("Policy", "forbidden_kinds"),
        _ => return None,
    })
}

impl Builder<'_, '_> {
    /// States what the project asks of its objects; the settings are in no file of the project, so the place is that of the
    /// first object.
    pub(super) fn policy_facts(&mut self, span: Span) {
        let policy = self.facts.atom(sig!("Policy"), "policy", span);
        let options = self.options;
        for parameter in PARAMETERS {
            let Some(field) = field_of(parameter.key) else {
                continue;
            };
            for (name, value) in options.policy.of(parameter) {
                let text = |text: &str| Text {
                    text: text.into(),
                    span,
                };
                match parameter.shape {
                    Shape::Number | Shape::Numbers => {
                        if let Ok(number) = value.parse() {
                            self.number_fact(field, policy, number, span);
                        }
                    }
                    Shape::Quantity | Shape::Words | Shape::Patterns => {
                        self.text_fact(field, policy, value, span);
                    }
                    Shape::Table => {
                        self.label_fact(field, policy, &text(name), &text(value));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_a_fact() {
        for parameter in PARAMETERS {
            assert!(field_of(parameter.key).is_some(), "{}", parameter.key);
        }
    }
}
