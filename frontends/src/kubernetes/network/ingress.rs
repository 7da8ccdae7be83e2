//! What is forwarded from outside: Ingresses, routes of a gateway and routes of OpenShift, through Services to pods.

use std::sync::Arc;

use locus_core::Span;
use rustc_hash::FxHashMap;

use super::cluster::{Cluster, Instance};
use super::connections::{Connections, Ports, Protocol};
use super::policy::numbers;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::{Model, Selector};
use crate::kubernetes::object::Object;
use crate::yaml::Node;

/// The name or number of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Word {
    Name(Arc<str>),
    Number(i64),
}

impl Word {
    fn of(node: &Node) -> Option<Word> {
        match node.int() {
            Some(0) => None,
            Some(number) => Some(Word::Number(number)),
            None => {
                let name = node.text_at()?.text;
                (!name.is_empty()).then_some(Word::Name(name))
            }
        }
    }
}

/// A Service that something outside is led to.
#[derive(Clone, Debug)]
pub(super) struct Forward {
    namespace: Arc<str>,
    service: Arc<str>,
    /// The port of the Service; all of them without one.
    port: Option<Word>,
    protocol: Protocol,
    /// The position of the object that leads there.
    object: usize,
    span: Span,
}

/// Connections that are forwarded to pods.
#[derive(Clone, Debug)]
pub struct Forwarded {
    /// The connections.
    pub connections: Connections,
    /// What forwards them, by the position of its object.
    pub object: usize,
    /// Where the Service is named.
    pub span: Span,
}

/// Everything that leads from outside to a Service.
pub(super) fn forwards(model: &Model<'_>) -> Vec<Forward> {
    let mut all = Vec::new();
    for (at, object) in model.objects.iter().enumerate() {
        let Some(namespace) = object.namespace.clone() else {
            continue;
        };
        let Some(spec) = object.spec() else { continue };
        let mut add = |namespace: Arc<str>, name: Option<&Node>, port, protocol| {
            if let Some(service) = name.and_then(Node::text_at) {
                all.push(Forward {
                    namespace,
                    service: service.text,
                    port,
                    protocol,
                    object: at,
                    span: service.span,
                });
            }
        };
        match (object.group(), &*object.kind.text) {
            ("networking.k8s.io" | "extensions", "Ingress") => {
                for backend in backends(spec) {
                    let (name, port) = backend_of(backend);
                    add(
                        namespace.clone(),
                        name,
                        port.and_then(Word::of),
                        Protocol::Tcp,
                    );
                }
            }
            ("route.openshift.io" | "", "Route") => {
                let port = spec.at(&["port", "targetPort"]).and_then(Word::of);
                let to = spec.some("to").into_iter();
                for target in to.chain(spec.items("alternateBackends")) {
                    if matches!(target.str_of("kind"), None | Some("" | "Service")) {
                        let name = target.get("name");
                        add(namespace.clone(), name, port.clone(), Protocol::Tcp);
                    }
                }
            }
            ("gateway.networking.k8s.io", kind) => {
                let protocol = match kind {
                    "HTTPRoute" | "GRPCRoute" | "TCPRoute" | "TLSRoute" => Protocol::Tcp,
                    "UDPRoute" => Protocol::Udp,
                    _ => continue,
                };
                if !has_gateway(spec) {
                    continue;
                }
                let rules = spec.items("rules").iter();
                for target in rules.flat_map(|rule| rule.items("backendRefs")) {
                    if !matches!(target.str_of("kind"), None | Some("" | "Service")) {
                        continue;
                    }
                    let there = target.text_of("namespace").map(|text| text.text);
                    let there = there.unwrap_or_else(|| namespace.clone());
                    if there != namespace && !is_granted(model, kind, &namespace, &there) {
                        continue;
                    }
                    let port = target.some("port").and_then(Word::of);
                    add(there, target.get("name"), port, protocol);
                }
            }
            _ => {}
        }
    }
    all
}

/// The backends of an Ingress, of any version.
fn backends(spec: &Node) -> Vec<&Node> {
    let default = spec.some("defaultBackend").or_else(|| spec.some("backend"));
    let rules = spec.items("rules").iter();
    let paths = rules
        .filter_map(|rule| rule.some("http"))
        .flat_map(|http| http.items("paths"));
    let backends = paths.filter_map(|path| path.some("backend"));
    default.into_iter().chain(backends).collect()
}

fn backend_of(backend: &Node) -> (Option<&Node>, Option<&Node>) {
    match backend.some("service") {
        Some(service) => {
            let port = service.some("port");
            let named = port.and_then(|port| port.some("name"));
            let number = port.and_then(|port| port.some("number"));
            (service.get("name"), named.or(number))
        }
        None => (backend.get("serviceName"), backend.get("servicePort")),
    }
}

/// Whether a route hangs on a gateway, as opposed to a Service of a mesh.
fn has_gateway(spec: &Node) -> bool {
    let mut parents = spec.items("parentRefs").iter();
    parents.any(|parent| {
        matches!(
            parent.str_of("kind"),
            None | Some("" | "Gateway" | "ListenerSet")
        )
    })
}

/// Whether a namespace lets routes of another refer to its Services.
fn is_granted(model: &Model<'_>, kind: &str, from: &str, to: &str) -> bool {
    let mut grants = model.objects.iter().filter(|object| {
        object.is("gateway.networking.k8s.io", "ReferenceGrant")
            && object.namespace.as_deref() == Some(to)
    });
    grants.any(|grant| {
        let Some(spec) = grant.spec() else {
            return false;
        };
        let mut sources = spec.items("from").iter();
        let mut targets = spec.items("to").iter();
        sources.any(|source| {
            source.str_of("kind") == Some(kind) && source.str_of("namespace") == Some(from)
        }) && targets.any(|target| target.str_of("kind") == Some("Service"))
    })
}

/// The selector of a Service that has one.
fn selector(object: &Object) -> Option<Selector> {
    let spec = object.spec()?;
    if spec.str_of("type") == Some("ExternalName") {
        return None;
    }
    let selector = spec.some("selector").map(Selector::of_labels)?;
    (!selector.is_empty()).then_some(selector)
}

/// The pods of each Service.
pub(super) fn services(
    model: &Model<'_>,
    cluster: &Cluster,
) -> FxHashMap<(Arc<str>, Arc<str>), Vec<usize>> {
    let mut all = FxHashMap::default();
    for object in model
        .objects
        .iter()
        .filter(|object| object.is("", "Service"))
    {
        let (Some(namespace), Some(name)) = (&object.namespace, &object.name) else {
            continue;
        };
        let selected = selector(object);
        let selected = selected.map(|selector| cluster.in_namespace(namespace, &selector));
        let key = (namespace.clone(), name.text.clone());
        all.insert(key, selected.unwrap_or_default());
    }
    all
}

/// What is forwarded to each instance.
pub(super) fn targets(
    model: &Model<'_>,
    cluster: &Cluster,
    forwards: &[Forward],
) -> FxHashMap<usize, Vec<Forwarded>> {
    let mut all: FxHashMap<usize, Vec<Forwarded>> = FxHashMap::default();
    for forward in forwards {
        let found = model.find("Service", Some(&forward.namespace), &forward.service);
        let Some(service) = found.and_then(|at| model.object(at)) else {
            continue;
        };
        let key = (forward.namespace.clone(), forward.service.clone());
        let ports = target_ports(service, forward.port.as_ref());
        for &at in cluster.services.get(&key).into_iter().flatten() {
            let Some(instance) = cluster.instances.get(at) else {
                continue;
            };
            let connections = ports.iter().fold(Connections::default(), |all, word| {
                all.union(&opened(instance, word, forward.protocol))
            });
            all.entry(at).or_default().push(Forwarded {
                connections,
                object: forward.object,
                span: forward.span,
            });
        }
    }
    all
}

/// The connections that a Service leads to one of its pods by; nothing when that is not known.
pub(super) fn wanted(service: &Object, cluster: &Cluster, instance: usize) -> Connections {
    let mut all = Connections::default();
    let Some(instance) = cluster.instances.get(instance) else {
        return all;
    };
    let ports = service.spec().map_or(&[][..], |spec| spec.items("ports"));
    for port in ports {
        let protocol = port.str_of("protocol").unwrap_or("TCP");
        let protocol = Protocol::parse(protocol).unwrap_or(Protocol::Tcp);
        let written = port.some("targetPort").or_else(|| port.some("port"));
        all = all.union(&match written.and_then(Word::of) {
            Some(Word::Name(name)) => instance.named(&name, Some(protocol)),
            Some(Word::Number(number)) => numbers(protocol, number, number),
            None => Connections::default(),
        });
    }
    all
}

/// The ports of pods that a port of a Service leads to.
fn target_ports(service: &Object, wanted: Option<&Word>) -> Vec<Word> {
    let ports = service.spec().map_or(&[][..], |spec| spec.items("ports"));
    let mut found = Vec::new();
    for port in ports {
        let number = port.int_of("port").map(Word::Number);
        let written = port.some("targetPort").and_then(Word::of);
        let Some(target) = written.clone().or_else(|| number.clone()) else {
            continue;
        };
        let name = port.text_of("name").map(|name| Word::Name(name.text));
        match wanted {
            None => found.push(target),
            // A route of OpenShift may name the port of the pods.
            Some(wanted) => {
                let known = [name, number, written];
                if known.iter().flatten().any(|word| word == wanted) {
                    return vec![target];
                }
            }
        }
    }
    found
}

/// The connections to a port, as far as the containers list it.
fn opened(instance: &Instance, word: &Word, protocol: Protocol) -> Connections {
    let mut ports = Ports::default();
    for listed in &instance.ports {
        let meant = match word {
            Word::Name(name) => listed.name.as_deref() == Some(&**name),
            Word::Number(number) => i64::from(listed.number) == *number,
        };
        if meant && listed.protocol == protocol {
            ports = ports.union(&Ports::range(listed.number, listed.number));
        }
    }
    Connections::of(protocol, ports)
}
