//! Workloads: pods, their containers and volumes.

use std::sync::Arc;

use locus_core::facts::AtomId;
use locus_core::{Span, Value};
use rustc_hash::FxHashMap;

use super::{Builder, ListedPort};
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::{Container, Selector, Workload, WorkloadId};
use crate::kubernetes::object::Text;
use crate::kubernetes::vocabulary::{field, sig};
use crate::yaml::Node;

impl Builder<'_, '_> {
    /// States what workloads have.
    pub(super) fn workloads(&mut self) {
        let model = self.model;
        for (id, workload) in model.workloads.iter().enumerate() {
            let Some(atom) = self.atom_of(workload.object) else {
                continue;
            };
            self.controller(workload, atom);
            self.pod(workload, atom);
            self.pod_security(workload, atom);
            let volumes = self.volumes(workload, atom);
            for container in &workload.containers {
                self.container(id, workload, container, atom, &volumes);
            }
        }
    }

    /// What is about the controller and not the pods.
    fn controller(&mut self, workload: &Workload<'_>, atom: AtomId) {
        let Some(object) = self.model.object(workload.object) else {
            return;
        };
        let spec = object.spec();
        let kind = &*object.kind.text;
        let replicated = matches!(
            kind,
            "Deployment"
                | "StatefulSet"
                | "ReplicaSet"
                | "ReplicationController"
                | "DeploymentConfig"
        );
        if replicated {
            let written = spec.and_then(|spec| spec.int_of("replicas"));
            let span = match (written, spec) {
                (Some(_), Some(spec)) => spec.span_of("replicas"),
                _ => object.span(),
            };
            let field = field!("Workload", "replicas");
            match self.open_replicas(workload.object) {
                Some(symbol) => {
                    let open = self.open_number(symbol, span);
                    self.fact(field, atom, open, span);
                }
                None => {
                    let count = match self.scales.chosen(workload.object) {
                        Some(chosen) => i64::try_from(chosen).unwrap_or(i64::MAX),
                        None => written.unwrap_or(1),
                    };
                    self.number_fact(field, atom, count, span);
                }
            }
        }
        let strategy = match kind {
            "Deployment" | "DeploymentConfig" => spec.and_then(|spec| spec.some("strategy")),
            "StatefulSet" | "DaemonSet" => spec.and_then(|spec| spec.some("updateStrategy")),
            _ => None,
        };
        self.key_text(field!("Workload", "strategy"), atom, strategy, "type");
        let job = match kind {
            "Job" => spec,
            "CronJob" => object.node.at(&["spec", "jobTemplate", "spec"]),
            _ => None,
        };
        self.key_number(
            field!("Workload", "ttl"),
            atom,
            job,
            "ttlSecondsAfterFinished",
        );
    }

    fn pod(&mut self, workload: &Workload<'_>, atom: AtomId) {
        let spec = workload.spec;
        let metadata = workload.template.some("metadata");
        let labels = metadata.map_or_else(Vec::new, |metadata| metadata.labels("labels"));
        self.label_facts(field!("Workload", "pod_labels"), atom, &labels);
        let notes = metadata.map_or_else(Vec::new, |metadata| metadata.labels("annotations"));
        self.label_facts(field!("Workload", "pod_annotations"), atom, &notes);
        let texts = [
            (field!("Workload", "account"), "serviceAccountName"),
            (field!("Workload", "old_account"), "serviceAccount"),
            (field!("Workload", "restart_policy"), "restartPolicy"),
            (field!("Workload", "priority_class"), "priorityClassName"),
        ];
        for (field, key) in texts {
            self.key_text(field, atom, Some(spec), key);
        }
        let os = spec.some("os");
        self.key_text(field!("Workload", "os"), atom, os, "name");
        let field = field!("Workload", "mounts_token");
        self.key_truth(field, atom, Some(spec), "automountServiceAccountToken");
        let flags = [
            (field!("Workload", "host_network"), "hostNetwork", false),
            (field!("Workload", "host_pid"), "hostPID", false),
            (field!("Workload", "host_ipc"), "hostIPC", false),
            (field!("Workload", "host_users"), "hostUsers", true),
        ];
        for (field, key, default) in flags {
            let written = spec.bool_of(key);
            let span = written.map_or(workload.at, |_| spec.span_of(key));
            self.truth_fact(field, atom, written.unwrap_or(default), span);
        }
        let options = spec
            .at(&["dnsConfig"])
            .map_or(&[][..], |dns| dns.items("options"));
        for option in options {
            if let Some(key) = option.text_of("name") {
                let empty = Text {
                    text: "".into(),
                    span: key.span,
                };
                let value = option.text_of("value").unwrap_or(empty);
                self.label_fact(field!("Workload", "dns_options"), atom, &key, &value);
            }
        }
        let affinity = spec.some("affinity");
        let node = affinity.and_then(|affinity| affinity.some("nodeAffinity"));
        let has = node.is_some_and(|node| !node.entries().is_empty());
        self.truth_fact(field!("Workload", "node_affinity"), atom, has, workload.at);
        self.spread_keys(workload, atom);
        self.tokens(workload, atom);
    }

    /// The tokens of service accounts that pods are given.
    fn tokens(&mut self, workload: &Workload<'_>, atom: AtomId) {
        let spec = workload.spec;
        let model = self.model;
        let named = ["serviceAccountName", "serviceAccount"].iter();
        let name = named
            .filter_map(|key| spec.str_of(key))
            .find(|name| !name.is_empty());
        let namespace = Some(model.namespace(workload.object));
        let account = model.find("ServiceAccount", namespace, name.unwrap_or("default"));
        let account = account.and_then(|at| model.object(at));
        let key = "automountServiceAccountToken";
        let said = spec
            .bool_of(key)
            .or_else(|| account.and_then(|account| account.node.bool_of(key)));
        let field = field!("Workload", "gets_token");
        self.truth_fact(field, atom, said.unwrap_or(true), workload.at);
        let volumes = spec.items("volumes").iter();
        let sources = volumes.filter_map(|volume| volume.some("projected"));
        for source in sources.flat_map(|projected| projected.items("sources")) {
            let Some(entry) = source.some_entry("serviceAccountToken") else {
                continue;
            };
            let span = entry.key.span;
            let token = self
                .facts
                .atom(sig!("ProjectedToken"), "serviceAccountToken", span);
            self.fact(field!("Workload", "tokens"), atom, token, span);
            self.fact(field!("ProjectedToken", "token_for"), token, atom, span);
            let value = Some(&entry.value);
            self.key_text(
                field!("ProjectedToken", "audience"),
                token,
                value,
                "audience",
            );
            let written = entry.value.int_of("expirationSeconds");
            let at = written.map_or(span, |_| entry.value.span_of("expirationSeconds"));
            let field = field!("ProjectedToken", "lifetime");
            self.number_fact(field, token, written.unwrap_or(3600), at);
        }
    }

    /// What keeps the pods of a workload apart: an anti-affinity or a spread that selects them.
    fn spread_keys(&mut self, workload: &Workload<'_>, atom: AtomId) {
        let spec = workload.spec;
        let namespace = self.model.namespace(workload.object);
        let selects = |term: &&Node| {
            let selector = term.some("labelSelector").map(Selector::of);
            let namespaces = term.texts("namespaces");
            let here =
                namespaces.is_empty() || namespaces.iter().any(|name| *name.text == *namespace);
            here && selector.is_some_and(|selector| selector.matches(&workload.labels))
        };
        let anti = spec.at(&["affinity", "podAntiAffinity"]);
        let hard = anti.map_or(&[][..], |anti| {
            anti.items("requiredDuringSchedulingIgnoredDuringExecution")
        });
        let soft = anti.map_or(&[][..], |anti| {
            anti.items("preferredDuringSchedulingIgnoredDuringExecution")
        });
        let soft = soft.iter().filter_map(|term| term.some("podAffinityTerm"));
        let spread = spec.items("topologySpreadConstraints").iter();
        for term in hard.iter().chain(soft).chain(spread).filter(selects) {
            let field = field!("Workload", "spread_keys");
            self.key_text(field, atom, Some(term), "topologyKey");
        }
    }

    fn volumes(&mut self, workload: &Workload<'_>, atom: AtomId) -> FxHashMap<Arc<str>, AtomId> {
        let mut known = FxHashMap::default();
        for node in workload.spec.items("volumes") {
            let Some(name) = node.text_of("name") else {
                continue;
            };
            let volume = self.volume(atom, &name);
            let mut entries = node.entries().iter();
            let source = entries.find(|entry| {
                let own = entry.name().is_some_and(|key| &**key != "name");
                own && node.some(entry.name().map_or("", |key| key)).is_some()
            });
            // Without a source, it is an empty directory.
            let (source, span) = source.map_or(("emptyDir", name.span), |entry| {
                (entry.name().map_or("", |key| key), entry.key.span)
            });
            self.text_fact(field!("Volume", "source"), volume, source, span);
            let host = node.some("hostPath");
            self.key_text(field!("Volume", "host_path"), volume, host, "path");
            known.entry(name.text).or_insert(volume);
        }
        let Some(object) = self.model.object(workload.object) else {
            return known;
        };
        // The claims of a stateful set are volumes of its pods.
        let templates = object
            .spec()
            .map_or(&[][..], |spec| spec.items("volumeClaimTemplates"));
        for template in templates {
            let metadata = template.some("metadata");
            self.claim_template(atom, metadata);
            if let Some(name) = metadata.and_then(|metadata| metadata.text_of("name"))
                && !known.contains_key(&name.text)
            {
                let volume = self.volume(atom, &name);
                self.text_fact(
                    field!("Volume", "source"),
                    volume,
                    "claimTemplate",
                    name.span,
                );
                known.insert(name.text, volume);
            }
        }
        known
    }

    fn claim_template(&mut self, atom: AtomId, metadata: Option<&Node>) {
        let name = metadata.and_then(|metadata| metadata.text_of("name"));
        let Some((metadata, name)) = metadata.zip(name) else {
            return;
        };
        let span = name.span;
        let template = self.facts.atom(sig!("ClaimTemplate"), name.text, span);
        self.fact(field!("Workload", "claim_templates"), atom, template, span);
        self.fact(field!("ClaimTemplate", "template_of"), template, atom, span);
        let field = field!("ClaimTemplate", "template_annotations");
        self.label_facts(field, template, &metadata.labels("annotations"));
    }

    fn volume(&mut self, atom: AtomId, name: &Text) -> AtomId {
        let volume = self
            .facts
            .atom(sig!("Volume"), name.text.clone(), name.span);
        self.fact(field!("Workload", "volumes"), atom, volume, name.span);
        self.fact(field!("Volume", "volume_of"), volume, atom, name.span);
        self.text_fact(
            field!("Volume", "declared_name"),
            volume,
            &name.text,
            name.span,
        );
        volume
    }

    fn container(
        &mut self,
        id: WorkloadId,
        workload: &Workload<'_>,
        container: &Container<'_>,
        owner: AtomId,
        volumes: &FxHashMap<Arc<str>, AtomId>,
    ) {
        let node = container.node;
        let span = container.span();
        let name: Arc<str> = match &container.name {
            Some(name) => name.text.clone(),
            None => "(unnamed)".into(),
        };
        let atom = self.facts.atom(sig!("Container"), name.clone(), span);
        self.fact(field!("Workload", "containers"), owner, atom, span);
        self.fact(field!("Container", "workload"), atom, owner, span);
        if container.name.is_some() {
            self.text_fact(field!("Container", "container_name"), atom, &name, span);
        }
        let role = container.role.as_str();
        self.text_fact(field!("Container", "role"), atom, role, span);
        self.key_text(field!("Container", "image"), atom, Some(node), "image");
        let field = field!("Container", "pull_policy");
        self.key_text(field, atom, Some(node), "imagePullPolicy");
        let ports = self.ports(node, atom);
        self.variables(node, atom);
        self.mounts(node, atom, volumes);
        self.probes(node, atom);
        self.amounts(node, atom);
        self.container_security(workload, container, atom);
        self.containers.entry(id).or_default().extend(ports);
    }

    fn ports(&mut self, node: &Node, atom: AtomId) -> Vec<ListedPort> {
        let mut ports = Vec::new();
        for port in node.items("ports") {
            let Some(number) = port.int_of("containerPort") else {
                continue;
            };
            let span = port.span_of("containerPort");
            let fact = self
                .facts
                .atom(sig!("ContainerPort"), number.to_string(), span);
            self.facts.set_value(fact, Value::Int(number.into()));
            self.fact(field!("Container", "ports"), atom, fact, span);
            self.fact(field!("ContainerPort", "listed_by"), fact, atom, span);
            let field = field!("ContainerPort", "container_port");
            self.number_fact(field, fact, number, span);
            let protocol = port
                .text_of("protocol")
                .filter(|text| !text.text.is_empty());
            let at = protocol.as_ref().map_or(span, |text| text.span);
            let protocol: Arc<str> = protocol.map_or_else(|| "TCP".into(), |text| text.text);
            let field = field!("ContainerPort", "port_protocol");
            self.text_fact(field, fact, &protocol, at);
            self.key_text(
                field!("ContainerPort", "listed_name"),
                fact,
                Some(port),
                "name",
            );
            if port.int_of("hostPort").is_some_and(|host| host != 0) {
                let field = field!("ContainerPort", "host_port");
                self.key_number(field, fact, Some(port), "hostPort");
            }
            ports.push(ListedPort {
                atom: fact,
                number,
                name: port.text_of("name").map(|name| name.text),
                protocol,
            });
        }
        ports
    }

    fn variables(&mut self, node: &Node, atom: AtomId) {
        for variable in node.items("env") {
            let Some(name) = variable.text_of("name") else {
                continue;
            };
            let fact = self
                .facts
                .atom(sig!("Variable"), name.text.clone(), name.span);
            self.fact(field!("Container", "variables"), atom, fact, name.span);
            self.fact(field!("Variable", "variable_of"), fact, atom, name.span);
            let field = field!("Variable", "variable_name");
            self.text_fact(field, fact, &name.text, name.span);
            self.key_text(field!("Variable", "literal"), fact, Some(variable), "value");
            let from = variable.some("valueFrom").map_or(&[][..], Node::entries);
            if let Some((source, entry)) =
                from.first().and_then(|entry| Some((entry.name()?, entry)))
            {
                self.text_fact(field!("Variable", "from"), fact, source, entry.key.span);
            }
        }
    }

    fn mounts(&mut self, node: &Node, atom: AtomId, volumes: &FxHashMap<Arc<str>, AtomId>) {
        for mount in node.items("volumeMounts") {
            let Some(name) = mount.text_of("name") else {
                continue;
            };
            let fact = self.facts.atom(sig!("Mount"), name.text.clone(), name.span);
            self.fact(field!("Container", "mounts"), atom, fact, name.span);
            self.fact(field!("Mount", "mounted_in"), fact, atom, name.span);
            self.text_fact(field!("Mount", "volume_name"), fact, &name.text, name.span);
            self.key_text(field!("Mount", "path"), fact, Some(mount), "mountPath");
            let read_only = mount.bool_of("readOnly").unwrap_or(false);
            let span = mount.span_of("readOnly");
            self.truth_fact(field!("Mount", "read_only"), fact, read_only, span);
            if let Some(&volume) = volumes.get(&name.text) {
                self.fact(field!("Mount", "mounted"), fact, volume, name.span);
            }
        }
    }

    fn probes(&mut self, node: &Node, atom: AtomId) {
        for kind in ["liveness", "readiness", "startup"] {
            let key = format!("{kind}Probe");
            let Some(entry) = node.some_entry(&key) else {
                continue;
            };
            let probe = &entry.value;
            let handler = ["httpGet", "tcpSocket", "grpc"].iter();
            let port = handler
                .filter_map(|key| probe.some(key)?.some("port"))
                .next();
            let span = port.map_or(entry.key.span, Node::used_at);
            let fact = self.facts.atom(sig!("Probe"), kind, span);
            self.fact(field!("Container", "probes"), atom, fact, entry.key.span);
            self.fact(field!("Probe", "probe_of"), fact, atom, span);
            let field = field!("Probe", "probe_kind");
            self.text_fact(field, fact, kind, entry.key.span);
            if let Some((_, value)) = port.and_then(|port| self.port(port)) {
                self.fact(field!("Probe", "probe_port"), fact, value, span);
            }
        }
    }

    fn amounts(&mut self, node: &Node, atom: AtomId) {
        let Some(resources) = node.some("resources") else {
            return;
        };
        let mut known: Vec<(Arc<str>, AtomId)> = Vec::new();
        for (key, field) in [
            ("requests", field!("Amount", "request")),
            ("limits", field!("Amount", "limit")),
        ] {
            for entry in resources.some(key).map_or(&[][..], Node::entries) {
                let (Some(name), Some(text)) = (entry.name(), entry.value.text()) else {
                    continue;
                };
                let span = entry.value.used_at();
                let found = known.iter().find(|(other, _)| other == name);
                let amount = match found {
                    Some((_, amount)) => *amount,
                    None => self.amount(name, atom, entry.key.span, &mut known),
                };
                self.text_fact(field, amount, text, span);
            }
        }
    }

    fn amount(
        &mut self,
        name: &Arc<str>,
        atom: AtomId,
        span: Span,
        known: &mut Vec<(Arc<str>, AtomId)>,
    ) -> AtomId {
        let amount = self.facts.atom(sig!("Amount"), name.clone(), span);
        self.fact(field!("Container", "amounts"), atom, amount, span);
        self.fact(field!("Amount", "amount_of"), amount, atom, span);
        self.text_fact(field!("Amount", "resource"), amount, name, span);
        known.push((name.clone(), amount));
        amount
    }
}
