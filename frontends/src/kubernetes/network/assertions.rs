//! Assertions about who can talk to whom, as `locus.toml` has them: `no reach[ns["payments"], internet]`.

use std::collections::BTreeMap;
use std::ops::Range as Bytes;

use locus_core::values::{Address, Cidr};
use locus_core::{Diagnostic, Span, suggest};

use super::addresses::Range;
use super::connections::{Connections, Ports, Protocol};
use super::evaluate::{Decider, End};
use super::policy::Direction;
use super::relation::{Reachability, range_of};
use crate::language::reach::{PeerKind, Relation as _};

/// The code of a finding.
pub const CODE: &str = "k8s-assertion";

/// The pairs that a line decides about, and what is said of it and of the other lines.
type Decided = (Vec<(usize, usize)>, Vec<(Span, String)>);

/// How many findings one assertion leads to at most.
const LIMIT: usize = 20;

/// An end that an assertion names.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Named {
    Pod(String),
    Namespace(String),
    Service(String),
    Addresses(Range),
    Internet,
    Outside,
    Ingress,
    Pods,
}

/// An end, and where in the assertion it is named.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    named: Named,
    at: Bytes<usize>,
}

/// An assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// As it is written.
    pub text: String,
    /// Where it is written, in the settings.
    pub span: Span,
    negated: bool,
    from: Place,
    to: Place,
    wanted: Connections,
}

/// What is wrong with an assertion, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wrong {
    message: String,
    at: Bytes<usize>,
    help: Option<String>,
}

/// The part of a text in the settings, when it is written as it is.
fn inside(text: &str, span: Span, at: &Bytes<usize>) -> Span {
    let start = span.start as usize + 1;
    match span.len() == text.len() + 2 {
        true => Span::new(
            span.file,
            start + at.start,
            start + at.end.max(at.start + 1),
        ),
        false => span,
    }
}

impl Assertion {
    /// Reads an assertion.
    ///
    /// # Errors
    /// What is wrong with it, where it is written.
    pub fn parse(text: &str, span: Span) -> Result<Assertion, Box<Diagnostic>> {
        let mut parser = Parser { text, at: 0 };
        parser.assertion(span).map_err(|wrong| {
            let diagnostic = Diagnostic::error("settings", wrong.message);
            let help = wrong.help.unwrap_or_else(|| {
                "write it as in `no reach[ns[\"payments\"], internet]` or `reach[pod[\"shop/front\"], pod[\"shop/api\"], 8080]`"
                    .to_owned()
            });
            Box::new(diagnostic.at(inside(text, span, &wrong.at)).help(help))
        })
    }

    /// Holds it against who can talk to whom. Findings are about the files; what names nothing is about the settings.
    ///
    /// # Errors
    /// What is wrong with the assertion, where it is written.
    pub fn check(&self, reachability: &Reachability) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
        let mut wrong = Vec::new();
        let mut find = |place: &Place| match find(reachability, &place.named) {
            Ok(found) => found,
            Err(message) => {
                let span = inside(&self.text, self.span, &place.at);
                wrong.push(Diagnostic::error("settings", message).at(span));
                Vec::new()
            }
        };
        let (from, to) = (find(&self.from), find(&self.to));
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for &source in &from {
            let targets = to.iter().copied();
            pairs.extend(
                targets
                    .filter(|target| reachability.is_pair(source, *target))
                    .map(|target| (source, target)),
            );
        }
        let reached: Vec<(usize, usize)> = pairs
            .iter()
            .copied()
            .filter(|(source, target)| {
                let set = reachability.between(*source, *target);
                !set.intersection(&self.wanted).is_empty()
            })
            .collect();
        match (self.negated, reached.is_empty()) {
            (true, true) | (false, false) => Ok(Vec::new()),
            (true, false) => Ok(self.findings(reachability, &reached)),
            (false, true) if pairs.is_empty() => {
                let message = format!("`{}` is about no two ends that could talk", self.text);
                Err(vec![Diagnostic::error("settings", message).at(self.span)])
            }
            (false, true) => Ok(self.findings(reachability, &pairs)),
        }
    }

    /// A finding for each line that decides about pairs that can talk and must not, or cannot and must.
    fn findings(&self, reachability: &Reachability, pairs: &[(usize, usize)]) -> Vec<Diagnostic> {
        let mut places: BTreeMap<Span, Decided> = BTreeMap::new();
        for &(from, to) in pairs {
            let mut decided = self.deciding(reachability, from, to);
            // Rules come before pods that nothing isolates.
            decided.sort_by_key(|(default, ..)| *default);
            let mut decided = decided.into_iter();
            let Some((_, span, said)) = decided.next() else {
                continue;
            };
            let (known, others) = places.entry(span).or_default();
            known.push((from, to));
            if others.is_empty() {
                others.push((span, said));
                others.extend(decided.map(|(_, span, said)| (span, said)));
            }
        }
        let name = |peer: usize| reachability.peers().get(peer).map_or("", |peer| &peer.text);
        let mut findings = Vec::new();
        for (span, (pairs, said)) in places.into_iter().take(LIMIT) {
            let Some(&(from, to)) = pairs.first() else {
                continue;
            };
            let more = match pairs.len() - 1 {
                0 => String::new(),
                1 => ", and so can another pair".to_owned(),
                more => format!(", and so can {more} other pairs"),
            };
            let set = reachability.between(from, to).intersection(&self.wanted);
            let message = match self.negated {
                true => format!(
                    "`{}` can reach `{}` ({set}){more}, but `{}` is asserted",
                    name(from),
                    name(to),
                    self.text
                ),
                false => format!(
                    "`{}` cannot reach `{}`, but `{}` is asserted",
                    name(from),
                    name(to),
                    self.text
                ),
            };
            let mut said = said.into_iter();
            let first = said.next().map_or_else(String::new, |(_, said)| said);
            let mut diagnostic = Diagnostic::error(CODE, message).label(span, first);
            for (other, text) in said.filter(|(other, _)| *other != span) {
                diagnostic = diagnostic.related(other, text);
            }
            findings.push(diagnostic.help(match self.negated {
                true => "narrow the rule, or add a policy that isolates the pods",
                false => "add a rule that allows it on both sides, or change the assertion",
            }));
        }
        findings
    }

    /// The lines that decide about a pair: whether it is only by default, where, and what to say there.
    fn deciding(
        &self,
        reachability: &Reachability,
        from: usize,
        to: usize,
    ) -> Vec<(bool, Span, String)> {
        let cluster = &reachability.evaluation.cluster;
        let mut all: Vec<(bool, Span, String)> = Vec::new();
        for (one, other) in reachability.pairs(from, to) {
            for (direction, instance, decision) in reachability.decided(one, other) {
                let about = decision.connections.intersection(&self.wanted);
                if about.is_empty() || decision.allowed != self.negated {
                    continue;
                }
                let side = direction.as_str();
                let (default, span, said) = match &decision.by {
                    Decider::Rule { policy, rule } => {
                        let policy = cluster.policies.get(*policy);
                        let rule = policy.and_then(|policy| policy.rules(direction)?.get(*rule));
                        let verb = if decision.allowed { "allows" } else { "denies" };
                        (
                            false,
                            rule.map(|rule| rule.span),
                            format!("this {side} rule {verb} it"),
                        )
                    }
                    Decider::Isolated(policies) => {
                        let first = policies.first().and_then(|at| cluster.policies.get(*at));
                        let said = format!("no {side} rule of this policy allows it");
                        (false, first.map(|policy| policy.span), said)
                    }
                    Decider::Default => {
                        let pods = cluster.instances.get(instance);
                        let said = match direction {
                            Direction::Egress => "no policy isolates what these pods send",
                            Direction::Ingress => "no policy isolates what these pods receive",
                        };
                        (true, pods.and_then(|pods| pods.span), said.to_owned())
                    }
                };
                if let Some(span) = span
                    && !all.iter().any(|(_, known, _)| *known == span)
                {
                    all.push((default, span, said));
                }
            }
        }
        if all.is_empty() {
            // Nothing forbids it and nothing leads there: only what forwards from outside can be so.
            for (_, other) in reachability.pairs(from, to) {
                if let End::Instance(at) = other
                    && let Some(span) = cluster.instances.get(at).and_then(|pods| pods.span)
                {
                    all.push((true, span, "nothing forwards to these pods".to_owned()));
                    break;
                }
            }
        }
        all
    }
}

/// The peers that an end stands for.
fn find(reachability: &Reachability, named: &Named) -> Result<Vec<usize>, String> {
    Ok(match named {
        Named::Pod(name) => {
            let found = reachability.named(name);
            if found.is_empty() {
                return Err(reachability.unknown(name));
            }
            found
        }
        Named::Namespace(name) => {
            let known = &reachability.evaluation.cluster.namespaces;
            if !known.contains_key(name.as_str()) {
                let names = known.keys().map(|name| &**name);
                let near = suggest::did_you_mean(name, names);
                let message = format!("there is no namespace `{name}`");
                return Err(match near {
                    Some(near) => format!("{message}; {near}"),
                    None => message,
                });
            }
            reachability.in_namespace(name)
        }
        Named::Service(name) => match reachability.service(name) {
            Some(found) => found,
            None => {
                return Err(format!(
                    "there is no Service `{name}`: write its namespace and name, as in `shop/api`"
                ));
            }
        },
        Named::Addresses(range) => reachability.addresses(*range),
        Named::Internet => reachability.internet(),
        Named::Outside => reachability.which(|peer| range_of(peer).is_some()),
        Named::Ingress => reachability.which(|peer| peer.kind == PeerKind::Forwarder),
        Named::Pods => reachability.which(|peer| peer.kind == PeerKind::Workload),
    })
}

const ENDS: [&str; 8] = [
    "pod", "ns", "service", "ip", "internet", "outside", "ingress", "pods",
];

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn wrong<T>(&self, message: impl Into<String>, at: Bytes<usize>) -> Result<T, Wrong> {
        Err(Wrong {
            message: message.into(),
            at,
            help: None,
        })
    }

    /// What comes next, for messages.
    fn next(&self) -> String {
        match self.rest().chars().next() {
            Some(next) => format!("not `{next}`"),
            None => "not the end".to_owned(),
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), Wrong> {
        self.space();
        if self.rest().starts_with(wanted) {
            self.at += wanted.len_utf8();
            return Ok(());
        }
        let message = format!("`{wanted}` is expected here, {}", self.next());
        self.wrong(message, self.at..self.at + 1)
    }

    fn is_next(&mut self, wanted: char) -> bool {
        self.space();
        let found = self.rest().starts_with(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn word(&mut self) -> (&'t str, Bytes<usize>) {
        self.space();
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
            .unwrap_or(rest.len());
        let at = self.at..self.at + end;
        self.at += end;
        (rest.get(..end).unwrap_or(""), at)
    }

    fn assertion(&mut self, span: Span) -> Result<Assertion, Wrong> {
        let (mut word, mut at) = self.word();
        let negated = matches!(word, "no" | "not");
        if negated {
            (word, at) = self.word();
        }
        if word != "reach" {
            let message = match word {
                "" => format!("`reach` is expected here, {}", self.next()),
                word => format!("`reach` is expected here, not `{word}`"),
            };
            return self.wrong(message, at);
        }
        self.expect('[')?;
        let from = self.place()?;
        self.expect(',')?;
        let to = self.place()?;
        let wanted = match self.is_next(',') {
            true => self.port()?,
            false => Connections::all(),
        };
        self.expect(']')?;
        self.space();
        if !self.rest().is_empty() {
            let message = "nothing may follow the assertion";
            return self.wrong(message, self.at..self.text.len());
        }
        Ok(Assertion {
            text: self.text.trim().to_owned(),
            span,
            negated,
            from,
            to,
            wanted,
        })
    }

    fn place(&mut self) -> Result<Place, Wrong> {
        let (word, at) = self.word();
        let named = match word {
            "internet" => Named::Internet,
            "outside" => Named::Outside,
            "ingress" => Named::Ingress,
            "pods" => Named::Pods,
            "pod" | "ns" | "service" | "ip" => {
                self.expect('[')?;
                let (text, inner) = self.string()?;
                self.expect(']')?;
                match word {
                    "pod" => Named::Pod(text),
                    "ns" => Named::Namespace(text),
                    "service" => Named::Service(text),
                    _ => Named::Addresses(self.addresses(&text, inner)?),
                }
            }
            "" => {
                let message = format!("an end is expected here, {}", self.next());
                return self.wrong(message, self.at..self.at + 1);
            }
            other => {
                return Err(Wrong {
                    message: format!("`{other}` is not an end of connections"),
                    at,
                    help: suggest::did_you_mean(other, ENDS)
                        .or_else(|| Some(format!("use `{}`", ENDS.join("`, `")))),
                });
            }
        };
        Ok(Place {
            named,
            at: at.start..self.at,
        })
    }

    fn addresses(&self, text: &str, at: Bytes<usize>) -> Result<Range, Wrong> {
        if let Some(address) = Address::parse(text) {
            let (first, last) = (address, address);
            return Ok(Range { first, last });
        }
        match Cidr::parse(text) {
            Some(block) => Ok(Range::of(block)),
            None => self.wrong(format!("`{text}` is not an address or block"), at),
        }
    }

    fn string(&mut self) -> Result<(String, Bytes<usize>), Wrong> {
        self.space();
        let quote = self
            .rest()
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\''));
        let Some(quote) = quote else {
            let message = format!("a name in quotes is expected here, {}", self.next());
            return self.wrong(message, self.at..self.at + 1);
        };
        let start = self.at + 1;
        let Some(length) = self.text.get(start..).and_then(|rest| rest.find(quote)) else {
            return self.wrong("this text has no end", self.at..self.text.len());
        };
        let text = self.text.get(start..start + length).unwrap_or("");
        self.at = start + length + 1;
        if text.trim().is_empty() {
            return self.wrong("the name is empty", start - 1..self.at);
        }
        Ok((text.to_owned(), start..start + length))
    }

    /// A port of any protocol, or of the one that follows it.
    fn port(&mut self) -> Result<Connections, Wrong> {
        let (word, at) = self.word();
        let number = word.parse::<u16>().ok().filter(|port| *port > 0);
        let Some(number) = number else {
            let message = match word {
                "" => format!("a port is expected here, {}", self.next()),
                word => format!("`{word}` is not a port, 1 to 65535"),
            };
            return self.wrong(message, at.start..at.end.max(at.start + 1));
        };
        let ports = Ports::range(number, number);
        if !self.is_next(',') {
            let all = Protocol::ALL.into_iter();
            return Ok(all.fold(Connections::default(), |all, protocol| {
                all.union(&Connections::of(protocol, ports.clone()))
            }));
        }
        let (word, at) = self.word();
        match Protocol::parse(&word.to_ascii_uppercase()) {
            Some(protocol) => Ok(Connections::of(protocol, ports)),
            None => Err(Wrong {
                message: format!("`{word}` is not a protocol"),
                at: at.start..at.end.max(at.start + 1),
                help: Some("use `TCP`, `UDP` or `SCTP`".to_owned()),
            }),
        }
    }
}
