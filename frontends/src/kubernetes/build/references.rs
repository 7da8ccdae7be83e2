//! Uses of objects by name.

use locus_core::facts::AtomId;
use locus_core::graph::RoleKind;
use locus_core::vocabulary::SigId;
use rustc_hash::FxHashSet;

use super::Builder;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::Workload;
use crate::kubernetes::object::{Object, Text};
use crate::kubernetes::vocabulary::{field, sig};
use crate::yaml::Node;

/// A use that is about to be stated.
struct Use<'u> {
    kind: SigId,
    /// The object that uses it.
    by: usize,
    /// The kinds of object that it may be.
    targets: &'u [&'u str],
    /// The namespace it is in; none for what is of the whole cluster.
    namespace: Option<&'u str>,
    word: &'u Text,
    optional: bool,
    /// Whether every cluster may have it without anybody writing it.
    given: bool,
    label: &'u str,
}

impl Builder<'_, '_> {
    /// States all uses of objects by name.
    pub(super) fn references(&mut self) {
        let model = self.model;
        let mut scaled = FxHashSet::default();
        for workload in &model.workloads {
            self.pod_references(workload);
        }
        for (at, object) in model.objects.iter().enumerate() {
            match (object.group(), &*object.kind.text) {
                ("networking.k8s.io", "Ingress") => self.ingress_references(at, object),
                ("autoscaling", "HorizontalPodAutoscaler") => {
                    scaled.extend(self.autoscaler_reference(at, object));
                }
                ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
                    self.binding_references(at, object);
                }
                ("", "PersistentVolumeClaim" | "PersistentVolume") => {
                    self.storage_class(at, object.spec());
                }
                ("apps", "StatefulSet") => self.stateful_references(at, object),
                (
                    "gateway.networking.k8s.io",
                    "HTTPRoute" | "GRPCRoute" | "TCPRoute" | "TLSRoute" | "UDPRoute",
                ) => self.route_references(at, object),
                ("gateway.networking.k8s.io", "Gateway") => {
                    self.gateway_references(at, object);
                }
                _ => {}
            }
            self.owners(at, object);
        }
        for workload in &model.workloads {
            if let Some(atom) = self.atom_of(workload.object) {
                let scales = scaled.contains(&workload.object);
                self.truth_fact(field!("Workload", "scales"), atom, scales, workload.at);
            }
        }
    }

    /// States a use; gives its atom and what it refers to.
    fn refer(&mut self, usage: &Use<'_>) -> Option<(AtomId, Option<usize>)> {
        let by = self.atom_of(usage.by)?;
        let word = usage.word;
        let fact = self.facts.atom(usage.kind, word.text.clone(), word.span);
        self.fact(field!("Reference", "by"), fact, by, word.span);
        self.text_fact(field!("Reference", "word"), fact, &word.text, word.span);
        let field = field!("Reference", "optional");
        self.truth_fact(field, fact, usage.optional, word.span);
        let mut kinds = usage.targets.iter();
        let target = kinds.find_map(|kind| self.model.find(kind, usage.namespace, &word.text));
        let known = target.is_some() || (self.complete && !usage.given);
        self.truth_fact(field!("Reference", "known"), fact, known, word.span);
        if let Some(target) = target
            && let Some(atom) = self.atom_of(target)
        {
            self.fact(field!("Reference", "target"), fact, atom, word.span);
            self.bind(
                target,
                usage.by,
                RoleKind::Reference,
                usage.label,
                word.span,
            );
        }
        Some((fact, target))
    }

    fn pod_references(&mut self, workload: &Workload<'_>) {
        let by = workload.object;
        let model = self.model;
        let namespace = Some(model.namespace(by));
        let spec = workload.spec;
        let simple: [(SigId, &str, &[&str], bool); 3] = [
            (
                sig!("AccountUse"),
                "serviceAccountName",
                &["ServiceAccount"],
                true,
            ),
            (
                sig!("PriorityClassUse"),
                "priorityClassName",
                &["PriorityClass"],
                false,
            ),
            (
                sig!("RuntimeClassUse"),
                "runtimeClassName",
                &["RuntimeClass"],
                false,
            ),
        ];
        for (kind, key, targets, namespaced) in simple {
            let written = |key: &str| spec.text_of(key).filter(|word| !word.text.is_empty());
            let word = match key {
                // The old name of the field counts where the new one is not written.
                "serviceAccountName" => written(key).or_else(|| written("serviceAccount")),
                key => written(key),
            };
            let Some(word) = word else {
                continue;
            };
            let given = match key {
                "serviceAccountName" => &*word.text == "default",
                "priorityClassName" => word.text.starts_with("system-"),
                _ => false,
            };
            self.refer(&Use {
                kind,
                by,
                targets,
                namespace: namespace.filter(|_| namespaced),
                word: &word,
                optional: false,
                given,
                label: key,
            });
        }
        for secret in spec.items("imagePullSecrets") {
            if let Some(word) = secret.text_of("name").filter(|word| !word.text.is_empty()) {
                self.refer(&Use {
                    kind: sig!("PullSecretUse"),
                    by,
                    targets: &["Secret"],
                    namespace,
                    word: &word,
                    optional: true,
                    given: false,
                    label: "imagePullSecrets",
                });
            }
        }
        for volume in spec.items("volumes") {
            self.volume_references(by, volume);
        }
        for container in &workload.containers {
            for variable in container.node.items("env") {
                let Some(from) = variable.some("valueFrom") else {
                    continue;
                };
                for (key, config) in [("configMapKeyRef", true), ("secretKeyRef", false)] {
                    if let Some(source) = from.some(key) {
                        let used = source.text_of("key");
                        self.data_use(by, config, source, "name", used.as_ref(), "env");
                    }
                }
            }
            for source in container.node.items("envFrom") {
                for (key, config) in [("configMapRef", true), ("secretRef", false)] {
                    if let Some(source) = source.some(key) {
                        self.data_use(by, config, source, "name", None, "envFrom");
                    }
                }
            }
        }
    }

    /// States the use of a ConfigMap or Secret, or of a key of it.
    fn data_use(
        &mut self,
        by: usize,
        config: bool,
        source: &Node,
        name: &str,
        key: Option<&Text>,
        label: &str,
    ) {
        let Some(word) = source.text_of(name).filter(|word| !word.text.is_empty()) else {
            return;
        };
        let (kind, targets): (SigId, &[&str]) = match config {
            true => (sig!("ConfigMapUse"), &["ConfigMap"]),
            false => (sig!("SecretUse"), &["Secret"]),
        };
        let namespace = self.model.namespace(by);
        let stated = self.refer(&Use {
            kind,
            by,
            targets,
            namespace: Some(namespace),
            word: &word,
            optional: source.bool_of("optional").unwrap_or(false),
            // Every namespace has it.
            given: config && &*word.text == "kube-root-ca.crt",
            label,
        });
        if let (Some((fact, _)), Some(key)) = (stated, key) {
            self.text_fact(field!("DataUse", "used_key"), fact, &key.text, key.span);
        }
    }

    fn volume_references(&mut self, by: usize, volume: &Node) {
        let namespace = Some(self.model.namespace(by));
        let claim = volume.some("persistentVolumeClaim");
        if let Some(word) = claim.and_then(|claim| claim.text_of("claimName")) {
            self.refer(&Use {
                kind: sig!("ClaimUse"),
                by,
                targets: &["PersistentVolumeClaim"],
                namespace,
                word: &word,
                optional: false,
                given: false,
                label: "volumes",
            });
        }
        if let Some(source) = volume.some("configMap") {
            self.mounted(by, true, source, "name");
        }
        if let Some(source) = volume.some("secret") {
            self.mounted(by, false, source, "secretName");
        }
        let projected = volume.some("projected");
        for source in projected.map_or(&[][..], |projected| projected.items("sources")) {
            if let Some(source) = source.some("configMap") {
                self.mounted(by, true, source, "name");
            }
            if let Some(source) = source.some("secret") {
                self.mounted(by, false, source, "name");
            }
        }
    }

    /// States the use of a ConfigMap or Secret as a volume, with the keys that are taken from it.
    fn mounted(&mut self, by: usize, config: bool, source: &Node, name: &str) {
        let items = source.items("items");
        if items.is_empty() {
            self.data_use(by, config, source, name, None, "volumes");
        }
        for item in items {
            let key = item.text_of("key");
            self.data_use(by, config, source, name, key.as_ref(), "volumes");
        }
    }

    fn storage_class(&mut self, by: usize, spec: Option<&Node>) {
        let word = spec.and_then(|spec| spec.text_of("storageClassName"));
        if let Some(word) = word.filter(|word| !word.text.is_empty()) {
            self.refer(&Use {
                kind: sig!("StorageClassUse"),
                by,
                targets: &["StorageClass"],
                namespace: None,
                word: &word,
                optional: false,
                // Most clusters come with some; a project that defines its own is taken at its word.
                given: !self.model.has_kind("StorageClass"),
                label: "storageClassName",
            });
        }
    }

    fn stateful_references(&mut self, by: usize, object: &Object) {
        let spec = object.spec();
        for template in spec.map_or(&[][..], |spec| spec.items("volumeClaimTemplates")) {
            self.storage_class(by, template.some("spec"));
        }
        let word = spec.and_then(|spec| spec.text_of("serviceName"));
        if let Some(word) = word.filter(|word| !word.text.is_empty()) {
            let namespace = self.model.namespace(by);
            self.refer(&Use {
                kind: sig!("GoverningUse"),
                by,
                targets: &["Service"],
                namespace: Some(namespace),
                word: &word,
                optional: false,
                given: false,
                label: "serviceName",
            });
        }
    }

    fn ingress_references(&mut self, by: usize, object: &Object) {
        let Some(spec) = object.spec() else {
            return;
        };
        if let Some(word) = spec
            .text_of("ingressClassName")
            .filter(|word| !word.text.is_empty())
        {
            self.refer(&Use {
                kind: sig!("IngressClassUse"),
                by,
                targets: &["IngressClass"],
                namespace: None,
                word: &word,
                optional: false,
                given: !self.model.has_kind("IngressClass"),
                label: "ingressClassName",
            });
        }
        for tls in spec.items("tls") {
            if let Some(word) = tls
                .text_of("secretName")
                .filter(|word| !word.text.is_empty())
            {
                let namespace = self.model.namespace(by);
                self.refer(&Use {
                    kind: sig!("CertificateUse"),
                    by,
                    targets: &["Secret"],
                    namespace: Some(namespace),
                    word: &word,
                    optional: true,
                    given: false,
                    label: "tls",
                });
            }
        }
        let rules = spec.items("rules").iter();
        let paths = rules.filter_map(|rule| rule.some("http"));
        let paths = paths.flat_map(|http| http.items("paths"));
        let backends = paths.filter_map(|path| path.some("backend"));
        for backend in backends.chain(spec.some("defaultBackend")) {
            if let Some(service) = backend.some("service") {
                self.backend(by, service);
            }
        }
    }

    /// What a route of a Gateway refers to: the Gateways it belongs to, and the Services that it sends requests to.
    fn route_references(&mut self, by: usize, object: &Object) {
        let Some(spec) = object.spec() else {
            return;
        };
        let own = self.model.namespace(by);
        for parent in spec.items("parentRefs") {
            let kind = parent.str_of("kind").unwrap_or("Gateway");
            if let Some(word) = parent.text_of("name").filter(|_| kind == "Gateway") {
                self.refer(&Use {
                    kind: sig!("GatewayUse"),
                    by,
                    targets: &["Gateway"],
                    namespace: Some(parent.str_of("namespace").unwrap_or(own)),
                    word: &word,
                    optional: false,
                    given: false,
                    label: "parentRefs",
                });
            }
        }
        let rules = spec.items("rules").iter();
        for rule in rules {
            let mirrors = rule.items("filters").iter();
            let mirrors = mirrors.filter_map(|filter| filter.at(&["requestMirror", "backendRef"]));
            for backend in rule.items("backendRefs").iter().chain(mirrors) {
                let kind = backend.str_of("kind").unwrap_or("Service");
                let group = backend.str_of("group").unwrap_or("");
                let Some(word) = backend.text_of("name") else {
                    continue;
                };
                if (group, kind) != ("", "Service") {
                    continue;
                }
                let stated = self.refer(&Use {
                    kind: sig!("RouteUse"),
                    by,
                    targets: &["Service"],
                    namespace: Some(backend.str_of("namespace").unwrap_or(own)),
                    word: &word,
                    optional: false,
                    given: false,
                    label: "backendRefs",
                });
                if let Some((fact, _)) = stated {
                    self.used_port(fact, backend.some("port"));
                }
            }
        }
    }

    fn gateway_references(&mut self, by: usize, object: &Object) {
        let spec = object.spec();
        if let Some(word) = spec.and_then(|spec| spec.text_of("gatewayClassName")) {
            self.refer(&Use {
                kind: sig!("GatewayClassUse"),
                by,
                targets: &["GatewayClass"],
                namespace: None,
                word: &word,
                optional: false,
                // Most are brought by the controller.
                given: !self.model.has_kind("GatewayClass"),
                label: "gatewayClassName",
            });
        }
    }

    /// States the port of a Service that something uses.
    fn used_port(&mut self, fact: AtomId, port: Option<&Node>) {
        if let Some((node, (_, value))) = port.and_then(|node| Some((node, self.port(node)?))) {
            let field = field!("ServiceUse", "used_port");
            self.fact(field, fact, value, node.used_at());
        }
    }

    fn backend(&mut self, by: usize, service: &Node) {
        let Some(word) = service.text_of("name") else {
            return;
        };
        let namespace = self.model.namespace(by);
        let stated = self.refer(&Use {
            kind: sig!("ServiceUse"),
            by,
            targets: &["Service"],
            namespace: Some(namespace),
            word: &word,
            optional: false,
            given: false,
            label: "backend",
        });
        let Some((fact, _)) = stated else {
            return;
        };
        let port = service.some("port");
        let port = port.and_then(|port| port.some("number").or_else(|| port.some("name")));
        self.used_port(fact, port);
    }

    /// States what an autoscaler scales, and gives it.
    fn autoscaler_reference(&mut self, by: usize, object: &Object) -> Option<usize> {
        let target = object.node.at(&["spec", "scaleTargetRef"])?;
        let word = target.text_of("name")?;
        let kind = target.str_of("kind")?;
        let known = [
            "Deployment",
            "StatefulSet",
            "ReplicaSet",
            "ReplicationController",
        ];
        let namespace = self.model.namespace(by);
        let stated = self.refer(&Use {
            kind: sig!("TargetUse"),
            by,
            targets: &[kind],
            namespace: Some(namespace),
            word: &word,
            optional: false,
            given: !known.contains(&kind),
            label: "scaleTargetRef",
        });
        stated?.1
    }

    fn binding_references(&mut self, by: usize, object: &Object) {
        let namespace = object.namespace.as_deref();
        if let Some(role) = object.node.some("roleRef")
            && let (Some(word), Some(kind)) = (role.text_of("name"), role.str_of("kind"))
        {
            let builtin = ["cluster-admin", "admin", "edit", "view"];
            let given = kind == "ClusterRole"
                && (builtin.contains(&&*word.text) || word.text.starts_with("system:"));
            self.refer(&Use {
                kind: sig!("RoleUse"),
                by,
                targets: &[kind],
                namespace: namespace.filter(|_| kind == "Role"),
                word: &word,
                optional: false,
                given,
                label: "roleRef",
            });
        }
        for subject in object.node.items("subjects") {
            if subject.str_of("kind") != Some("ServiceAccount") {
                continue;
            }
            let Some(word) = subject.text_of("name") else {
                continue;
            };
            let of = subject.str_of("namespace").or(namespace);
            self.refer(&Use {
                kind: sig!("SubjectUse"),
                by,
                targets: &["ServiceAccount"],
                namespace: of,
                word: &word,
                optional: false,
                // Those of the system are not written by users.
                given: &*word.text == "default" || of == Some("kube-system"),
                label: "subjects",
            });
        }
    }

    /// The objects that own this one contain it.
    fn owners(&mut self, at: usize, object: &Object) {
        let metadata = object.node.some("metadata");
        for owner in metadata.map_or(&[][..], |metadata| metadata.items("ownerReferences")) {
            let (Some(kind), Some(name)) = (owner.str_of("kind"), owner.text_of("name")) else {
                continue;
            };
            let namespace = object.namespace.as_deref();
            let found = self.model.find(kind, namespace, &name.text);
            let found = found.or_else(|| self.model.find(kind, None, &name.text));
            if let Some(found) = found {
                self.bind(
                    found,
                    at,
                    RoleKind::Containment,
                    "ownerReferences",
                    name.span,
                );
            }
        }
    }
}
