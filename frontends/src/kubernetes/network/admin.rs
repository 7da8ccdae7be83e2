//! AdminNetworkPolicy, BaselineAdminNetworkPolicy and ClusterNetworkPolicy: read, and checked as their definitions do.

use std::sync::Arc;

use locus_core::values::Cidr;
use locus_core::{Diagnostic, Span, suggest};

use super::addresses::Range;
use super::connections::{Connections, Ports, Protocol};
use super::policy::{Action, Namespaces, Peer, Pods, Policy, Port, Rule, Tier, head, numbers};
use crate::kubernetes::access::Access as _;
use crate::kubernetes::model::Selector;
use crate::kubernetes::object::Object;
use crate::kubernetes::text;
use crate::yaml::{Node, Schema};

/// The group of these kinds.
pub const GROUP: &str = "policy.networking.k8s.io";

/// A kind of policy of the whole cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Admin,
    Baseline,
    Cluster,
}

impl Kind {
    fn of(object: &Object) -> Option<Kind> {
        if object.group() != GROUP {
            return None;
        }
        match &*object.kind.text {
            "AdminNetworkPolicy" => Some(Kind::Admin),
            "BaselineAdminNetworkPolicy" => Some(Kind::Baseline),
            "ClusterNetworkPolicy" => Some(Kind::Cluster),
            _ => None,
        }
    }

    fn actions(self) -> &'static [&'static str] {
        match self {
            Kind::Admin => &["Allow", "Deny", "Pass"],
            Kind::Baseline => &["Allow", "Deny"],
            Kind::Cluster => &["Accept", "Deny", "Pass"],
        }
    }

    fn fields(self) -> &'static [&'static str] {
        match self {
            Kind::Admin => &["priority", "subject", "ingress", "egress"],
            Kind::Baseline => &["subject", "ingress", "egress"],
            Kind::Cluster => &["tier", "priority", "subject", "ingress", "egress"],
        }
    }
}

/// Whether an object is a policy of the whole cluster that is understood.
pub fn is_admin_policy(object: &Object) -> bool {
    Kind::of(object).is_some()
}

/// Reads a policy of the whole cluster, and says what is wrong with it.
pub fn read(at: usize, object: &Object, diagnostics: &mut Vec<Diagnostic>) -> Option<Policy> {
    let kind = Kind::of(object)?;
    let mut reader = Reader { kind, diagnostics };
    reader.policy(at, object)
}

struct Reader<'d> {
    kind: Kind,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Reader<'_> {
    fn wrong(&mut self, code: &str, message: impl Into<String>, span: Span, help: &str) {
        let diagnostic = Diagnostic::error(code, message).at(span);
        self.diagnostics.push(match help {
            "" => diagnostic,
            help => diagnostic.help(help),
        });
    }

    fn missing(&mut self, field: &str, within: &str, span: Span) {
        let message = format!("`{field}` is required in `{within}`");
        self.wrong("k8s-missing-field", message, span, "");
    }

    fn fields(&mut self, node: &Node, within: &str, known: &[&str]) {
        for entry in node.entries() {
            let Some(name) = entry.name() else { continue };
            if known.contains(&&**name) {
                continue;
            }
            let message = format!("unknown field `{name}` in `{within}`");
            let help = suggest::did_you_mean(name, known.iter().copied());
            let diagnostic = Diagnostic::error("k8s-unknown-field", message).at(entry.key.span);
            self.diagnostics.push(diagnostic.maybe_help(help));
        }
    }

    fn map(&mut self, node: &Node, within: &str) -> bool {
        let is_map = node.as_mapping().is_some();
        if !is_map {
            let found = node.describe(Schema::GoYaml2);
            let message = format!("`{within}` must be a map, not {found}");
            self.wrong("k8s-type", message, node.span, "");
        }
        is_map
    }

    fn policy(&mut self, at: usize, object: &Object) -> Option<Policy> {
        let Some(spec) = object.node.some("spec") else {
            let message = format!("`spec` is required in a {}", object.kind.text);
            self.wrong("k8s-missing-field", message, object.kind.span, "");
            return None;
        };
        if !self.map(spec, "spec") {
            return None;
        }
        self.fields(spec, "spec", self.kind.fields());
        if self.kind == Kind::Baseline && object.called() != "default" {
            let message = format!(
                "a BaselineAdminNetworkPolicy must be called `default`, not `{}`",
                object.called()
            );
            self.wrong(
                "k8s-name",
                message,
                object.span(),
                "there is one for the whole cluster",
            );
        }
        let priority = self.priority(spec);
        let tier = match self.kind {
            Kind::Admin => Tier::Admin(priority),
            Kind::Baseline => Tier::Baseline(0),
            Kind::Cluster => match spec.str_of("tier") {
                Some("Admin") => Tier::Admin(priority),
                Some("Baseline") => Tier::Baseline(priority),
                Some(other) => {
                    let message = format!("`{other}` is not a tier");
                    let span = spec.span_of("tier");
                    self.wrong("k8s-value", message, span, "use `Admin` or `Baseline`");
                    return None;
                }
                None => {
                    self.missing("tier", "spec", spec.span);
                    return None;
                }
            },
        };
        let subject = self.subject(spec);
        let ingress = self.rules(spec, "ingress", "from");
        let egress = self.rules(spec, "egress", "to");
        Some(Policy {
            object: at,
            title: format!("{} `{}`", object.kind.text, object.called()),
            span: object.span(),
            tier,
            subject: subject?,
            ingress,
            egress,
        })
    }

    fn priority(&mut self, spec: &Node) -> i64 {
        if self.kind == Kind::Baseline {
            return 0;
        }
        let Some(written) = spec.some("priority") else {
            self.missing("priority", "spec", spec.span);
            return 0;
        };
        match written.int() {
            Some(priority) if (0..=1000).contains(&priority) => priority,
            Some(priority) => {
                let message = format!("`spec.priority` is {priority}, outside 0 to 1000");
                self.wrong(
                    "k8s-value",
                    message,
                    written.span,
                    "lower numbers are asked first",
                );
                priority
            }
            None => {
                let message = "`spec.priority` must be a whole number";
                self.wrong("k8s-type", message, written.span, "");
                0
            }
        }
    }

    /// The one field of a map that has exactly one of some.
    fn one_of<'n>(
        &mut self,
        node: &'n Node,
        within: &str,
        known: &[&str],
    ) -> Option<(&'n str, &'n Node)> {
        if !self.map(node, within) {
            return None;
        }
        self.fields(node, within, known);
        let mut given = node.entries().iter().filter_map(|entry| {
            let name: &str = entry.name()?;
            let null = entry.value.is_null(Schema::GoYaml2);
            (known.contains(&name) && !null).then_some((name, &entry.value))
        });
        let (first, second) = (given.next(), given.next());
        if second.is_some() || (first.is_none() && node.entries().is_empty()) {
            let listed: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("`{within}` has exactly one of {}", listed.join(", "));
            self.wrong("k8s-fields", message, node.span, "");
            return None;
        }
        first
    }

    fn subject(&mut self, spec: &Node) -> Option<Pods> {
        let Some(subject) = spec.some("subject") else {
            self.missing("subject", "spec", spec.span);
            return None;
        };
        let (field, value) = self.one_of(subject, "spec.subject", &["namespaces", "pods"])?;
        self.pods(field, value, "spec.subject", head(subject))
    }

    /// `namespaces` or `pods`, of a subject or peer.
    fn pods(&mut self, field: &str, value: &Node, within: &str, span: Span) -> Option<Pods> {
        let path = format!("{within}.{field}");
        if field == "namespaces" {
            return Some(Pods {
                namespaces: Namespaces::Matching(self.selector(value, &path)?),
                selector: None,
                span,
            });
        }
        if !self.map(value, &path) {
            return None;
        }
        self.fields(value, &path, &["namespaceSelector", "podSelector"]);
        let everything = || Selector {
            requirements: Vec::new(),
            span: value.span,
        };
        let mut selector = |name: &str| match value.some(name) {
            Some(node) => self.selector(node, &format!("{path}.{name}")),
            None => Some(everything()),
        };
        Some(Pods {
            namespaces: Namespaces::Matching(selector("namespaceSelector")?),
            selector: Some(selector("podSelector")?),
            span,
        })
    }

    fn selector(&mut self, node: &Node, within: &str) -> Option<Selector> {
        if !self.map(node, within) {
            return None;
        }
        self.fields(node, within, &["matchLabels", "matchExpressions"]);
        let before = self.diagnostics.len();
        for expression in node.items("matchExpressions") {
            self.requirement(expression, within);
        }
        for entry in node.some("matchLabels").map_or(&[][..], Node::entries) {
            let valid = entry
                .name()
                .is_some_and(|name| text::is_qualified_name(name));
            if !valid {
                let message = format!("a key of `{within}.matchLabels` is not the key of a label");
                self.wrong("k8s-label", message, entry.key.span, "");
            } else if entry.value.text_at().is_none() {
                let message = "the value of a label must be a string";
                self.wrong("k8s-type", message, entry.value.span, "write it in quotes");
            }
        }
        (self.diagnostics.len() == before).then(|| Selector::of(node))
    }

    fn requirement(&mut self, node: &Node, within: &str) {
        let path = format!("{within}.matchExpressions");
        self.fields(node, &path, &["key", "operator", "values"]);
        if node.str_of("key").is_none() {
            self.missing("key", &path, node.span);
        }
        let values = node.items("values").len();
        let span = node.span_of("operator");
        match node.str_of("operator") {
            Some("In" | "NotIn") if values == 0 => {
                self.wrong("k8s-fields", "this operator needs `values`", span, "");
            }
            Some("Exists" | "DoesNotExist") if values > 0 => {
                self.wrong("k8s-fields", "this operator has no `values`", span, "");
            }
            Some("In" | "NotIn" | "Exists" | "DoesNotExist") => {}
            Some(other) => {
                let known = ["In", "NotIn", "Exists", "DoesNotExist"];
                let message = format!("`{other}` is not an operator of a selector");
                let help = suggest::did_you_mean(other, known)
                    .unwrap_or_else(|| format!("use `{}`", known.join("`, `")));
                self.wrong("k8s-value", message, span, &help);
            }
            None => self.missing("operator", &path, node.span),
        }
    }

    fn rules(&mut self, spec: &Node, list: &str, side: &str) -> Option<Vec<Rule>> {
        let written = spec.some(list)?;
        let Some(items) = written.as_sequence() else {
            let message = format!("`spec.{list}` must be a list");
            self.wrong("k8s-type", message, written.span, "");
            return None;
        };
        let mut rules = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let within = format!("spec.{list}[{at}]");
            if self.map(item, &within) {
                rules.extend(self.rule(item, &within, side));
            }
        }
        // A policy without rules for a direction says nothing about it.
        (!items.is_empty()).then_some(rules)
    }

    fn rule(&mut self, item: &Node, within: &str, side: &str) -> Option<Rule> {
        let ports = match self.kind {
            Kind::Cluster => "protocols",
            _ => "ports",
        };
        self.fields(item, within, &["name", "action", side, ports]);
        let action = self.action(item, within);
        let peers = item.items(side);
        if peers.is_empty() {
            let message = format!("`{within}.{side}` must have at least one peer");
            let span = item.span_of(side);
            let help = "`namespaces: {}` stands for all pods";
            self.wrong("k8s-missing-field", message, span, help);
        }
        let known: &[&str] = match side {
            "from" => &["namespaces", "pods"],
            _ => &["namespaces", "pods", "nodes", "networks", "domainNames"],
        };
        let mut read = Vec::with_capacity(peers.len());
        for (at, peer) in peers.iter().enumerate() {
            let path = format!("{within}.{side}[{at}]");
            if let Some((field, value)) = self.one_of(peer, &path, known) {
                read.extend(self.peer(field, value, &path, head(peer)));
            }
        }
        let ports = item
            .some(ports)
            .map(|list| self.ports(list, &format!("{within}.{ports}")));
        Some(Rule {
            action: action?,
            name: item.text_of("name").map(|name| name.text),
            peers: Some(read),
            ports,
            span: head(item),
        })
    }

    fn action(&mut self, item: &Node, within: &str) -> Option<Action> {
        let known = self.kind.actions();
        let Some(action) = item.text_of("action") else {
            self.missing("action", within, item.span);
            return None;
        };
        match &*action.text {
            word if !known.contains(&word) => {
                let message = format!("`{word}` is not an action of this kind");
                let help = format!("use `{}`", known.join("`, `"));
                self.wrong("k8s-value", message, action.span, &help);
                None
            }
            "Deny" => Some(Action::Deny),
            "Pass" => Some(Action::Pass),
            _ => Some(Action::Allow),
        }
    }

    fn peer(&mut self, field: &str, value: &Node, within: &str, span: Span) -> Option<Peer> {
        match field {
            "namespaces" | "pods" => self.pods(field, value, within, span).map(Peer::Pods),
            "nodes" => {
                let selector = self.selector(value, &format!("{within}.nodes"))?;
                Some(Peer::Nodes { selector, span })
            }
            "networks" => self.networks(value, within, span),
            _ => Some(Peer::Unknown { span }),
        }
    }

    fn networks(&mut self, value: &Node, within: &str, span: Span) -> Option<Peer> {
        let Some(items) = value.as_sequence() else {
            let message = format!("`{within}.networks` must be a list");
            self.wrong("k8s-type", message, value.span, "");
            return None;
        };
        let mut ranges = Vec::with_capacity(items.len());
        for item in items {
            match item.as_str().and_then(Cidr::parse) {
                Some(block) => ranges.push(Range::of(block)),
                None => {
                    let written = item.as_str().unwrap_or_default();
                    let message = format!("`{written}` is not a block of addresses");
                    let help = "write it as in `10.0.0.0/8` or `fd00::/8`";
                    self.wrong("k8s-value", message, item.span, help);
                }
            }
        }
        ranges.sort();
        // The definition of ClusterNetworkPolicy says that all addresses are those of pods too.
        let everything = |range: &Range| *range == Range::all(range.family());
        Some(Peer::Addresses {
            and_pods: self.kind == Kind::Cluster && ranges.iter().any(everything),
            ranges,
            span,
        })
    }

    fn ports(&mut self, list: &Node, within: &str) -> Vec<Port> {
        let Some(items) = list.as_sequence() else {
            let message = format!("`{within}` must be a list");
            self.wrong("k8s-type", message, list.span, "");
            return Vec::new();
        };
        let mut ports = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let path = format!("{within}[{at}]");
            ports.extend(match self.kind {
                Kind::Cluster => self.protocol(item, &path),
                _ => self.port(item, &path),
            });
        }
        ports
    }

    fn port(&mut self, item: &Node, within: &str) -> Option<Port> {
        let known = ["portNumber", "portRange", "namedPort"];
        let (field, value) = self.one_of(item, within, &known)?;
        if field == "namedPort" {
            return self.named(value);
        }
        let path = format!("{within}.{field}");
        if !self.map(value, &path) {
            return None;
        }
        let protocol = self.protocol_of(value)?;
        match field {
            "portNumber" => {
                self.fields(value, &path, &["protocol", "port"]);
                let port = self.number(value, "port", &path)?;
                Some(Port::Numbers(numbers(protocol, port, port)))
            }
            _ => {
                self.fields(value, &path, &["protocol", "start", "end"]);
                self.range(value, &path, protocol)
            }
        }
    }

    fn range(&mut self, value: &Node, within: &str, protocol: Protocol) -> Option<Port> {
        let (first, last) = (
            self.number(value, "start", within),
            self.number(value, "end", within),
        );
        let (first, last) = (first?, last?);
        if last < first {
            let message = format!("the range of ports ends at {last}, before it starts at {first}");
            self.wrong(
                "k8s-value",
                message,
                value.span,
                "exchange `start` and `end`",
            );
            return None;
        }
        Some(Port::Numbers(numbers(protocol, first, last)))
    }

    fn protocol(&mut self, item: &Node, within: &str) -> Option<Port> {
        let known = ["tcp", "udp", "sctp", "destinationNamedPort"];
        let (field, value) = self.one_of(item, within, &known)?;
        if field == "destinationNamedPort" {
            return self.named(value);
        }
        let protocol = Protocol::parse(&field.to_ascii_uppercase())?;
        let path = format!("{within}.{field}");
        self.fields(value, &path, &["destinationPort"]);
        let Some(port) = value.some("destinationPort") else {
            return Some(Port::Numbers(Connections::of(protocol, Ports::all())));
        };
        let path = format!("{path}.destinationPort");
        match self.one_of(port, &path, &["number", "range"])? {
            ("number", _) => {
                let port = self.number(port, "number", &path)?;
                Some(Port::Numbers(numbers(protocol, port, port)))
            }
            (_, range) => self.range(range, &format!("{path}.range"), protocol),
        }
    }

    fn named(&mut self, value: &Node) -> Option<Port> {
        let name: Arc<str> = value.text_at()?.text;
        Some(Port::Named {
            name,
            protocol: None,
        })
    }

    fn protocol_of(&mut self, value: &Node) -> Option<Protocol> {
        let Some(written) = value
            .text_of("protocol")
            .filter(|text| !text.text.is_empty())
        else {
            return Some(Protocol::Tcp);
        };
        let protocol = Protocol::parse(&written.text);
        if protocol.is_none() {
            let message = format!("`{}` is not a protocol", written.text);
            self.wrong(
                "k8s-value",
                message,
                written.span,
                "use `TCP`, `UDP` or `SCTP`",
            );
        }
        protocol
    }

    fn number(&mut self, value: &Node, field: &str, within: &str) -> Option<i64> {
        let Some(written) = value.some(field) else {
            self.missing(field, within, value.span);
            return None;
        };
        let number = written.int().filter(|number| (1..=65535).contains(number));
        if number.is_none() {
            let message = format!("`{within}.{field}` must be a port, 1 to 65535");
            self.wrong("k8s-value", message, written.span, "");
        }
        number
    }
}
