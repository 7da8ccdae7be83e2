//! What all objects have, and what kinds have that are no workloads.

use locus_core::facts::AtomId;
use locus_core::graph::RoleKind;

use super::Builder;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::{Labels, Selector};
use crate::kubernetes::object::Object;
use crate::kubernetes::vocabulary::{field, sig};
use crate::yaml::Node;

/// The labels of an object, for matching.
fn labels_of(object: &Object) -> Labels {
    let labels = object.labels.iter();
    labels
        .map(|label| (label.key.text.clone(), label.value.text.clone()))
        .collect()
}

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
        let full = format!("{}/{}", version.text, kind.text);
        self.text_fact(field!("Object", "full_kind"), atom, &full, version.span);
        self.order(object, atom);
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
            ("", "Secret") => {
                self.data(atom, object, &["data", "stringData"]);
                let field = field!("DataObject", "secret_type");
                self.key_text(field, atom, Some(&object.node), "type");
            }
            ("", "PersistentVolumeClaim") => {
                for mode in spec.map_or_else(Vec::new, |spec| spec.texts("accessModes")) {
                    let field = field!("PersistentVolumeClaim", "access_modes");
                    self.text_fact(field, atom, &mode.text, mode.span);
                }
            }
            ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => {
                self.role(atom, object);
                self.aggregated(atom, object);
            }
            ("monitoring.coreos.com", "ServiceMonitor" | "PodMonitor") => {
                self.monitor(at, atom, object);
            }
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

    /// The roles that a ClusterRole is put together from.
    fn aggregated(&mut self, atom: AtomId, object: &Object) {
        let rule = object.node.some("aggregationRule");
        let selectors = rule.map_or(&[][..], |rule| rule.items("clusterRoleSelectors"));
        let model = self.model;
        for selector in selectors {
            let span = selector.used_at();
            let selector = Selector::of(selector);
            for (at, other) in model.objects.iter().enumerate() {
                if other.is("rbac.authorization.k8s.io", "ClusterRole")
                    && selector.matches(&labels_of(other))
                    && let Some(role) = self.atom_of(at)
                {
                    self.fact(field!("Role", "aggregated"), atom, role, span);
                }
            }
        }
    }

    /// What a monitor of Prometheus selects: in its own namespace, or in those that it names.
    fn monitor(&mut self, at: usize, atom: AtomId, object: &Object) {
        let Some(spec) = object.spec() else {
            return;
        };
        let Some(entry) = spec.some_entry("selector") else {
            return;
        };
        let span = entry.key.span;
        self.text_fact(
            field!("Monitor", "monitor_selector"),
            atom,
            "selector",
            span,
        );
        let selector = Selector::of(&entry.value);
        let model = self.model;
        let namespaces = spec.some("namespaceSelector");
        let any = namespaces.is_some_and(|given| given.bool_of("any") == Some(true));
        let names = namespaces.map_or_else(Vec::new, |given| given.texts("matchNames"));
        let is_meant = |namespace: &str| match names.as_slice() {
            _ if any => true,
            [] => namespace == model.namespace(at),
            names => names.iter().any(|name| *name.text == *namespace),
        };
        let services = &*object.kind.text == "ServiceMonitor";
        for (other, object) in model.objects.iter().enumerate() {
            let matches = match model.workload_of(other) {
                Some(id) if !services => {
                    let workload = model.workloads.get(id);
                    workload.is_some_and(|workload| selector.matches(&workload.labels))
                }
                None if services && object.is("", "Service") => {
                    selector.matches(&labels_of(object))
                }
                _ => false,
            };
            if matches
                && is_meant(model.namespace(other))
                && let Some(found) = self.atom_of(other)
            {
                self.fact(field!("Monitor", "monitored"), atom, found, span);
                self.bind(other, at, RoleKind::Connection, "selector", span);
            }
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
