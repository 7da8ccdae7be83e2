//! The ends of connections: pods as policies see them, addresses outside, nodes.

use std::sync::Arc;

use locus_core::Span;
use locus_core::values::{Address, Family};
use rustc_hash::{FxHashMap, FxHashSet};

use super::addresses::{self, Range};
use super::connections::{Connections, Protocol};
use super::policy::{self, Direction, Namespaces, Peer, Pods, Policy};
use super::{admin, ingress};
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::{ContainerRole, Labels, Model, Selector, Workload};
use crate::kubernetes::object::Object;

/// The label that every namespace has: its name.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// The name of what forwards connections of Ingresses and routes, and of the namespace it is taken to be in.
pub const CONTROLLER: &str = "ingress-controller";
const CONTROLLER_NAMESPACE: &str = "ingress-controller-ns";

/// A port that a container lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Listed {
    /// Its name.
    pub name: Option<Arc<str>>,
    /// Its protocol.
    pub protocol: Protocol,
    /// Its number.
    pub number: u16,
}

/// Pods that are alike to policies: those of a workload, or a bare pod.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The position of its object; none for what forwards connections.
    pub object: Option<usize>,
    /// The namespace.
    pub namespace: Arc<str>,
    /// The labels of the pods.
    pub labels: Labels,
    /// The ports that their containers list.
    pub ports: Vec<Listed>,
    /// Whether they use the network of their node, so that policies do not hold for them everywhere.
    pub on_host: bool,
    /// What they belong to: the name and kind that are shown.
    pub owner: (Arc<str>, Arc<str>),
    /// Names that they can be asked for by, beside that of the owner.
    pub pod: Option<Arc<str>>,
    /// Where they are written.
    pub span: Option<Span>,
}

impl Instance {
    fn of(model: &Model<'_>, workload: &Workload<'_>) -> Option<Instance> {
        let object = model.object(workload.object)?;
        let kind = &object.kind.text;
        if &**kind == "PodTemplate" {
            return None;
        }
        let name: Arc<str> = object.called().into();
        let owner = (&**kind == "Pod").then(|| controller(object)).flatten();
        let pod = owner.is_some().then(|| name.clone());
        Some(Instance {
            object: Some(workload.object),
            namespace: model.namespace(workload.object).into(),
            labels: workload.labels.clone(),
            ports: listed(workload),
            on_host: workload.spec.bool_of("hostNetwork") == Some(true),
            owner: owner.unwrap_or_else(|| (name, kind.clone())),
            pod,
            span: Some(object.span()),
        })
    }

    fn controller() -> Instance {
        Instance {
            object: None,
            namespace: CONTROLLER_NAMESPACE.into(),
            labels: Labels::default(),
            ports: Vec::new(),
            on_host: false,
            owner: (CONTROLLER.into(), "".into()),
            pod: None,
            span: None,
        }
    }

    /// The connections that a named port stands for here.
    pub fn named(&self, name: &str, protocol: Option<Protocol>) -> Connections {
        let mut all = Connections::default();
        for port in &self.ports {
            let same = port.name.as_deref() == Some(name);
            if same && protocol.is_none_or(|protocol| protocol == port.protocol) {
                let number = i64::from(port.number);
                all = all.union(&policy::numbers(port.protocol, number, number));
            }
        }
        all
    }
}

/// What controls a bare pod, when its metadata say so; a pod of a node's own is its own.
fn controller(object: &Object) -> Option<(Arc<str>, Arc<str>)> {
    let metadata = object.node.some("metadata")?;
    let mut owners = metadata.items("ownerReferences").iter();
    let owner = owners.find(|owner| owner.bool_of("controller") == Some(true))?;
    let name = owner.text_of("name")?.text;
    let kind = owner
        .text_of("kind")
        .map_or_else(|| "Pod".into(), |kind| kind.text);
    (&*kind != "Node").then_some((name, kind))
}

/// The ports that containers list, of those that run with the pod.
fn listed(workload: &Workload<'_>) -> Vec<Listed> {
    let running = |role| matches!(role, ContainerRole::Main | ContainerRole::Sidecar);
    let containers = workload.containers.iter();
    let ports = containers
        .filter(|container| running(container.role))
        .flat_map(|container| container.node.items("ports"));
    let read = ports.filter_map(|port| {
        let protocol = match port.str_of("protocol") {
            None | Some("") => Protocol::Tcp,
            Some(text) => Protocol::parse(text)?,
        };
        Some(Listed {
            name: port.text_of("name").map(|name| name.text),
            protocol,
            number: u16::try_from(port.int_of("containerPort")?).ok()?,
        })
    });
    read.collect()
}

/// A node that is among the objects.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its name.
    pub name: Arc<str>,
    /// Its labels.
    pub labels: Labels,
    /// Its addresses.
    pub addresses: Vec<Address>,
    /// Where its name is written.
    pub span: Span,
}

impl Host {
    fn of(object: &Object) -> Host {
        let mut labels = Labels::default();
        for label in &object.labels {
            labels.insert(label.key.text.clone(), label.value.text.clone());
        }
        let written = object.node.at(&["status"]);
        let written = written.map_or(&[][..], |status| status.items("addresses"));
        Host {
            name: object.called().into(),
            labels,
            addresses: written
                .iter()
                .filter_map(|address| Address::parse(address.str_of("address")?))
                .collect(),
            span: object.span(),
        }
    }
}

/// All that decides who can talk to whom.
#[derive(Debug)]
pub struct Cluster {
    /// The pods.
    pub instances: Vec<Instance>,
    /// What forwards connections of Ingresses and routes, when there is something to forward.
    pub controller: Option<usize>,
    /// What is forwarded to which instance.
    pub forwarded: FxHashMap<usize, Vec<ingress::Forwarded>>,
    /// The policies: first those of the admin tier in their order, then those of namespaces, then the baseline.
    pub policies: Vec<Policy>,
    /// The labels of namespaces.
    pub namespaces: FxHashMap<Arc<str>, Labels>,
    /// The namespaces that are used but not among the objects.
    pub assumed: Vec<Arc<str>>,
    /// The nodes, when a policy speaks of nodes.
    pub hosts: Vec<Host>,
    /// Addresses outside that connections come from, split where policies split them.
    pub sources: Vec<Range>,
    /// Addresses outside that connections go to.
    pub targets: Vec<Range>,
    /// The pods of each Service, by namespace and name, for those who ask by it.
    pub services: FxHashMap<(Arc<str>, Arc<str>), Vec<usize>>,
    by_namespace: FxHashMap<Arc<str>, Vec<usize>>,
    policies_in: FxHashMap<Arc<str>, Vec<usize>>,
}

impl Cluster {
    /// Reads what decides who can talk to whom.
    pub fn of(model: &Model<'_>) -> Cluster {
        let workloads = model.workloads.iter();
        let mut instances: Vec<Instance> = workloads
            .filter_map(|workload| Instance::of(model, workload))
            .collect();
        let mut policies = Vec::new();
        for (at, object) in model.objects.iter().enumerate() {
            if policy::is_network_policy(object) {
                policies.extend(policy::network_policy(at, object));
            } else {
                // What is wrong with it was said when it was checked.
                policies.extend(admin::read(at, object, &mut Vec::new()));
            }
        }
        policies.sort_by(|a, b| (a.tier, &a.title).cmp(&(b.tier, &b.title)));
        let forwards = ingress::forwards(model);
        let controller = (!forwards.is_empty()).then(|| {
            instances.push(Instance::controller());
            instances.len() - 1
        });
        let (namespaces, assumed) = namespaces(model, &instances);
        let mut by_namespace: FxHashMap<Arc<str>, Vec<usize>> = FxHashMap::default();
        for (at, instance) in instances.iter().enumerate() {
            let known = by_namespace.entry(instance.namespace.clone());
            known.or_default().push(at);
        }
        let mut policies_in: FxHashMap<Arc<str>, Vec<usize>> = FxHashMap::default();
        for (at, policy) in policies.iter().enumerate() {
            if let (policy::Tier::Network, Namespaces::Named(name)) =
                (policy.tier, &policy.subject.namespaces)
            {
                policies_in.entry(name.clone()).or_default().push(at);
            }
        }
        let families = families(model, &policies);
        let hosts = match policies.iter().any(speaks_of_nodes) {
            true => {
                let nodes = model.objects.iter().filter(|object| object.is("", "Node"));
                nodes.map(Host::of).collect()
            }
            false => Vec::new(),
        };
        let ranges = |direction| {
            policies
                .iter()
                .flat_map(move |policy| policy.rules(direction).unwrap_or_default())
                .flat_map(|rule| rule.peers.iter().flatten())
                .flat_map(|peer| match peer {
                    Peer::Addresses { ranges, .. } => ranges.as_slice(),
                    _ => &[],
                })
                .copied()
        };
        let mut cluster = Cluster {
            sources: addresses::split(&families, ranges(Direction::Ingress)),
            targets: addresses::split(&families, ranges(Direction::Egress)),
            instances,
            controller,
            forwarded: FxHashMap::default(),
            policies,
            namespaces,
            assumed,
            hosts,
            services: FxHashMap::default(),
            by_namespace,
            policies_in,
        };
        cluster.services = ingress::services(model, &cluster);
        cluster.forwarded = ingress::targets(model, &cluster, &forwards);
        cluster
    }

    /// The instances that are meant by labels, in order.
    pub fn select(&self, pods: &Pods) -> Vec<usize> {
        let mut found = Vec::new();
        let mut add = |namespace: &Arc<str>| {
            let inside = self.by_namespace.get(namespace);
            let inside = inside.into_iter().flatten().copied();
            match pods
                .selector
                .as_ref()
                .filter(|selector| !selector.is_empty())
            {
                None => found.extend(inside),
                Some(selector) => found.extend(inside.filter(|at| {
                    let instance = self.instances.get(*at);
                    instance.is_some_and(|instance| selector.matches(&instance.labels))
                })),
            }
        };
        match &pods.namespaces {
            Namespaces::Named(name) => add(name),
            Namespaces::Matching(selector) => {
                for (name, labels) in &self.namespaces {
                    if selector.matches(labels) {
                        add(name);
                    }
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// The network policies of a namespace, with their positions.
    pub fn network_policies<'c>(
        &'c self,
        namespaces: &'c Namespaces,
    ) -> impl Iterator<Item = (usize, &'c Policy)> {
        let name = match namespaces {
            Namespaces::Named(name) => self.policies_in.get(name),
            Namespaces::Matching(_) => None,
        };
        let listed = name.into_iter().flatten();
        listed.filter_map(|at| Some((*at, self.policies.get(*at)?)))
    }

    /// The instances of a namespace that labels match.
    pub fn in_namespace(&self, namespace: &str, selector: &Selector) -> Vec<usize> {
        let inside = self.by_namespace.get(namespace).into_iter().flatten();
        let matching = inside.copied().filter(|at| {
            let instance = self.instances.get(*at);
            instance.is_some_and(|instance| selector.matches(&instance.labels))
        });
        matching.collect()
    }

    /// All instances of a namespace.
    pub fn all_in(&self, namespace: &str) -> &[usize] {
        self.by_namespace.get(namespace).map_or(&[], Vec::as_slice)
    }
}

fn speaks_of_nodes(policy: &Policy) -> bool {
    policy
        .all_rules()
        .flat_map(|(_, rule)| rule.peers.iter().flatten())
        .any(|peer| matches!(peer, Peer::Nodes { .. }))
}

/// The labels of namespaces, and those that are used and not among the objects: they have the label of their name.
fn namespaces(
    model: &Model<'_>,
    instances: &[Instance],
) -> (FxHashMap<Arc<str>, Labels>, Vec<Arc<str>>) {
    let mut known: FxHashMap<Arc<str>, Labels> = FxHashMap::default();
    for object in model
        .objects
        .iter()
        .filter(|object| object.is("", "Namespace"))
    {
        let labels = known.entry(object.called().into()).or_default();
        for label in &object.labels {
            labels.insert(label.key.text.clone(), label.value.text.clone());
        }
    }
    let mut assumed = Vec::new();
    for instance in instances {
        known.entry(instance.namespace.clone()).or_insert_with(|| {
            if instance.object.is_some() {
                assumed.push(instance.namespace.clone());
            }
            Labels::default()
        });
    }
    for (name, labels) in &mut known {
        labels.insert(NAME_LABEL.into(), name.clone());
    }
    assumed.sort();
    (known, assumed)
}

/// The families of addresses that there are: IPv6 when a policy or Service speaks of it.
fn families(model: &Model<'_>, policies: &[Policy]) -> Vec<Family> {
    let mut families: FxHashSet<Family> = policy::families(policies.iter()).into_iter().collect();
    for object in model
        .objects
        .iter()
        .filter(|object| object.is("", "Service"))
    {
        let Some(spec) = object.spec() else { continue };
        let listed = spec.texts("ipFamilies");
        let dual = matches!(
            spec.str_of("ipFamilyPolicy"),
            Some("PreferDualStack" | "RequireDualStack")
        );
        if dual || listed.iter().any(|family| &*family.text == "IPv6") {
            families.insert(Family::V6);
        }
    }
    let mut families: Vec<Family> = families.into_iter().collect();
    families.sort();
    families
}
