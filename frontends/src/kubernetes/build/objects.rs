//! What all objects have, and what kinds have that are no workloads.

use locus_core::facts::AtomId;

use super::Builder;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::object::Object;
use crate::kubernetes::vocabulary::{field, sig};
use crate::yaml::Node;

impl Builder<'_, '_> {
    /// States what all objects have.
    pub(super) fn describe(&mut self, object: &Object, atom: AtomId) {
        let span = object.span();
        self.text_fact(field!("Object", "name"), atom, object.called(), span);
        let (kind, version) = (&object.kind, &object.api_version);
        self.text_fact(field!("Object", "kind"), atom, &kind.text, kind.span);
        self.text_fact(
            field!("Object", "api_version"),
            atom,
            &version.text,
            version.span,
        );
        // What is generated has a name of its own each time.
        if object.name.is_some() {
            self.text_fact(field!("Object", "identity"), atom, &object.identity(), span);
        }
        let metadata = object.node.some("metadata");
        let written = metadata.and_then(|metadata| metadata.text_of("namespace"));
        let written = written.filter(|text| !text.text.is_empty());
        if let Some(namespace) = &object.namespace {
            let at = written.as_ref().map_or(span, |written| written.span);
            self.text_fact(field!("Object", "namespace"), atom, namespace, at);
        }
        self.maybe_text(
            field!("Object", "written_namespace"),
            atom,
            written.as_ref(),
        );
        self.label_facts(field!("Object", "labels"), atom, &object.labels);
        self.label_facts(field!("Object", "annotations"), atom, &object.annotations);
    }

    /// States what objects of a kind have.
    pub(super) fn kind_facts(&mut self, at: usize) {
        let Some((object, atom)) = self.model.object(at).zip(self.atom_of(at)) else {
            return;
        };
        let spec = object.spec();
        match (object.group(), &*object.kind.text) {
            ("", "ConfigMap") => self.data(atom, object, &["data", "binaryData"]),
            ("", "Secret") => self.data(atom, object, &["data", "stringData"]),
            ("", "PersistentVolumeClaim") => {
                for mode in spec.map_or_else(Vec::new, |spec| spec.texts("accessModes")) {
                    let field = field!("PersistentVolumeClaim", "access_modes");
                    self.text_fact(field, atom, &mode.text, mode.span);
                }
            }
            ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => self.role(atom, object),
            ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
                let role = object.node.some("roleRef");
                self.key_text(field!("Binding", "role_kind"), atom, role, "kind");
                self.key_text(field!("Binding", "role_name"), atom, role, "name");
            }
            ("autoscaling", "HorizontalPodAutoscaler") => {
                let least = spec.and_then(|spec| spec.int_of("minReplicas"));
                let span = spec.map_or(object.span(), |spec| {
                    least.map_or(object.span(), |_| spec.span_of("minReplicas"))
                });
                let field = field!("HorizontalPodAutoscaler", "least");
                self.number_fact(field, atom, least.unwrap_or(1), span);
                let field = field!("HorizontalPodAutoscaler", "most");
                self.key_number(field, atom, spec, "maxReplicas");
            }
            ("policy", "PodDisruptionBudget") => {
                let fields = [
                    (
                        field!("PodDisruptionBudget", "max_unavailable"),
                        "maxUnavailable",
                    ),
                    (
                        field!("PodDisruptionBudget", "min_available"),
                        "minAvailable",
                    ),
                ];
                for (field, key) in fields {
                    if let Some(node) = spec.and_then(|spec| spec.some(key))
                        && let Some((_, value)) = self.port(node)
                    {
                        self.fact(field, atom, value, node.used_at());
                    }
                }
                let field = field!("PodDisruptionBudget", "eviction_policy");
                self.key_text(field, atom, spec, "unhealthyPodEvictionPolicy");
            }
            ("security.openshift.io", "SecurityContextConstraints") => {
                let field = field!("SecurityContextConstraints", "allow_privileged");
                self.key_truth(field, atom, Some(&object.node), "allowPrivilegedContainer");
            }
            _ => {}
        }
    }

    fn data(&mut self, atom: AtomId, object: &Object, maps: &[&str]) {
        for map in maps {
            for entry in object.node.some(map).map_or(&[][..], Node::entries) {
                if let Some(key) = entry.name() {
                    let field = field!("DataObject", "keys");
                    self.text_fact(field, atom, key, entry.key.span);
                }
            }
        }
    }

    fn role(&mut self, atom: AtomId, object: &Object) {
        for rule in object.node.items("rules") {
            let fact = self.facts.atom(sig!("PolicyRule"), "rule", rule.span);
            self.fact(field!("Role", "rules"), atom, fact, rule.span);
            let fields = [
                (field!("PolicyRule", "verbs"), "verbs"),
                (field!("PolicyRule", "resources"), "resources"),
                (field!("PolicyRule", "groups"), "apiGroups"),
            ];
            for (field, key) in fields {
                for text in rule.texts(key) {
                    self.text_fact(field, fact, &text.text, text.span);
                }
            }
        }
    }
}
