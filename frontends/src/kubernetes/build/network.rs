//! Services, ingresses, network policies, and what their selectors match.

use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use locus_core::Span;
use locus_core::facts::AtomId;
use locus_core::graph::RoleKind;
use locus_core::vocabulary::SigId;
use rustc_hash::FxHashMap;

use super::{Builder, PortWord};
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::{Selector, WorkloadId};
use crate::kubernetes::object::Object;
use crate::kubernetes::vocabulary::{field, sig};
use crate::yaml::Node;

/// The first Service that leads to some ports of some workloads, with the fact of its selector.
type First<'o> = FxHashMap<(BTreeSet<WorkloadId>, BTreeSet<AtomId>), (AtomId, &'o Object)>;

impl Builder<'_, '_> {
    /// States what selects pods, and how they are reached.
    pub(super) fn network(&mut self) {
        let model = self.model;
        let mut isolated = vec![false; model.workloads.len()];
        let mut first = FxHashMap::default();
        for workload in &model.workloads {
            let (Some(selector), Some(atom)) = (&workload.selector, self.atom_of(workload.object))
            else {
                continue;
            };
            let (fact, _) = self.selector(sig!("ControllerSelector"), workload.object, selector);
            if let Some(fact) = fact {
                let field = field!("Workload", "controller_selector");
                self.fact(field, atom, fact, selector.span);
            }
        }
        for (at, object) in model.objects.iter().enumerate() {
            match (object.group(), &*object.kind.text) {
                ("", "Service") => self.service(at, object, &mut first),
                ("networking.k8s.io" | "extensions", "Ingress") => self.ingress(at, object),
                ("networking.k8s.io" | "extensions", "NetworkPolicy") => {
                    for id in self.policy(at, object) {
                        if let Some(known) = isolated.get_mut(id) {
                            *known = true;
                        }
                    }
                }
                ("policy", "PodDisruptionBudget") => {
                    let selector = object.spec().and_then(|spec| spec.some("selector"));
                    if let Some(selector) = selector.map(Selector::of) {
                        let (_, matched) = self.selector(sig!("BudgetSelector"), at, &selector);
                        self.kept_whole(at, object, &matched);
                    }
                }
                _ => {}
            }
        }
        for (workload, isolated) in model.workloads.iter().zip(isolated) {
            if let Some(atom) = self.atom_of(workload.object) {
                self.truth_fact(field!("Workload", "isolated"), atom, isolated, workload.at);
            }
        }
    }

    /// States a selector and the workloads that it matches.
    fn selector(
        &mut self,
        kind: SigId,
        object: usize,
        selector: &Selector,
    ) -> (Option<AtomId>, Vec<WorkloadId>) {
        let Some(owner) = self.atom_of(object) else {
            return (None, Vec::new());
        };
        let name = self.model.object(object).map_or("", Object::called);
        let fact = self.facts.atom(kind, name, selector.span);
        self.fact(field!("Selector", "owner"), fact, owner, selector.span);
        let field = field!("Selector", "empty");
        self.truth_fact(field, fact, selector.is_empty(), selector.span);
        let matched = self.model.select(self.model.namespace(object), selector);
        for &id in &matched {
            let Some(workload) = self.model.workloads.get(id) else {
                continue;
            };
            let Some(atom) = self.atom_of(workload.object) else {
                continue;
            };
            let target = workload.object;
            self.fact(field!("Selector", "selected"), fact, atom, selector.span);
            self.bind(
                target,
                object,
                RoleKind::Connection,
                "selector",
                selector.span,
            );
        }
        (Some(fact), matched)
    }

    fn service<'o>(&mut self, at: usize, object: &'o Object, first: &mut First<'o>) {
        let (Some(spec), Some(atom)) = (object.spec(), self.atom_of(at)) else {
            return;
        };
        let kind = spec.text_of("type").filter(|kind| !kind.text.is_empty());
        let span = kind.as_ref().map_or(object.span(), |kind| kind.span);
        let kind: Arc<str> = kind.map_or_else(|| "ClusterIP".into(), |kind| kind.text);
        self.text_fact(field!("Service", "type"), atom, &kind, span);
        let headless = spec.str_of("clusterIP") == Some("None");
        let field = field!("Service", "headless");
        self.truth_fact(field, atom, headless, object.span());
        let selector = spec.some_entry("selector");
        let selector = selector.filter(|entry| !entry.value.entries().is_empty());
        let (fact, matched) = match selector {
            Some(entry) if &*kind != "ExternalName" => {
                let selector = Selector::of_labels(&entry.value);
                self.selector(sig!("ServiceSelector"), at, &selector)
            }
            _ => (None, Vec::new()),
        };
        let ports = spec.items("ports").iter();
        let targets = ports.filter_map(|port| self.service_port(atom, port, &matched));
        let targets: BTreeSet<AtomId> = targets.collect();
        if let Some(fact) = fact
            && !matched.is_empty()
            && &*kind == "ClusterIP"
            && !headless
        {
            let same = (BTreeSet::from_iter(matched), targets);
            match first.entry(same) {
                Entry::Vacant(vacant) => {
                    vacant.insert((fact, object));
                }
                Entry::Occupied(other) => {
                    let (other, same) = *other.get();
                    // What is written twice is told as that.
                    if same.identity() != object.identity() {
                        let field = field!("ServiceSelector", "twin_of");
                        self.fact(field, fact, other, object.span());
                    }
                }
            }
        }
    }

    /// States a port of a Service; gives the port that it leads to.
    fn service_port(
        &mut self,
        service: AtomId,
        port: &Node,
        matched: &[WorkloadId],
    ) -> Option<AtomId> {
        let number = port.int_of("port")?;
        let written = port.some("targetPort").unwrap_or(port);
        let span = match port.some("targetPort") {
            Some(target) => target.used_at(),
            None => port.span_of("port"),
        };
        let name = port.text_of("name").filter(|name| !name.text.is_empty());
        let called = name
            .as_ref()
            .map_or_else(|| number.to_string(), |name| name.text.to_string());
        let fact = self.facts.atom(sig!("ServicePort"), called, span);
        self.fact(field!("Service", "service_ports"), service, fact, span);
        self.fact(field!("ServicePort", "service"), fact, service, span);
        self.maybe_text(field!("ServicePort", "port_name"), fact, name.as_ref());
        let field = field!("ServicePort", "number");
        self.number_fact(field, fact, number, port.span_of("port"));
        let protocol = port
            .text_of("protocol")
            .filter(|text| !text.text.is_empty());
        let protocol: Arc<str> = protocol.map_or_else(|| "TCP".into(), |text| text.text);
        self.text_fact(field!("ServicePort", "protocol"), fact, &protocol, span);
        // Without a target, the port itself is it; a target of 0 is none.
        let target = self
            .port(written)
            .filter(|(word, _)| *word != PortWord::Number(0));
        let (word, value) = match target {
            Some(target) => target,
            None => (PortWord::Number(number), self.number(number, span)),
        };
        self.fact(field!("ServicePort", "target_port"), fact, value, span);
        let mut opened = Vec::new();
        for id in matched {
            for listed in self.containers.get(id).into_iter().flatten() {
                if listed.protocol == protocol && word.means(listed.number, listed.name.as_deref())
                {
                    opened.push(listed.atom);
                }
            }
        }
        for port in opened {
            self.fact(field!("ServicePort", "opened"), fact, port, span);
        }
        Some(value)
    }

    fn ingress(&mut self, at: usize, object: &Object) {
        let (Some(spec), Some(atom)) = (object.spec(), self.atom_of(at)) else {
            return;
        };
        let class = spec.str_of("ingressClassName");
        let class = class
            .or_else(|| object.annotation("kubernetes.io/ingress.class"))
            .unwrap_or("");
        for rule in spec.items("rules") {
            let host = rule.str_of("host").unwrap_or("");
            let paths = rule
                .some("http")
                .map_or(&[][..], |http| http.items("paths"));
            for path in paths {
                let text = path.str_of("path").unwrap_or("/");
                let kind = path.str_of("pathType").unwrap_or("");
                let span: Span = match path.some("path") {
                    Some(written) => written.used_at(),
                    None => path.span,
                };
                // A path and the same with `/` at its end are one prefix.
                let claimed = match kind {
                    "Prefix" if text.len() > 1 => text.strip_suffix('/').unwrap_or(text),
                    _ => text,
                };
                let route = self
                    .facts
                    .atom(sig!("Route"), format!("{host}{text}"), span);
                self.fact(field!("Ingress", "routes"), atom, route, span);
                self.fact(field!("Route", "ingress"), route, atom, span);
                let claim = format!("{class} {host} {claimed} {kind}");
                self.text_fact(field!("Route", "claim"), route, &claim, span);
            }
        }
    }

    /// States the selectors of a network policy; gives the workloads that it is about.
    fn policy(&mut self, at: usize, object: &Object) -> Vec<WorkloadId> {
        let Some(spec) = object.spec() else {
            return Vec::new();
        };
        let everything = Selector {
            requirements: Vec::new(),
            span: object.span(),
        };
        let selector = match spec.some_entry("podSelector") {
            Some(entry) => {
                let mut selector = Selector::of(&entry.value);
                selector.span = entry.key.span;
                selector
            }
            None => everything,
        };
        let matched = self.selector(sig!("PolicySelector"), at, &selector).1;
        for (list, side) in [("ingress", "from"), ("egress", "to")] {
            let rules = spec.items(list).iter();
            for peer in rules.flat_map(|rule| rule.items(side)) {
                if let Some(entry) = peer.some_entry("podSelector")
                    && peer.some("namespaceSelector").is_none()
                {
                    let mut selector = Selector::of(&entry.value);
                    selector.span = entry.key.span;
                    self.selector(sig!("PeerSelector"), at, &selector);
                }
            }
        }
        matched
    }
}
