//! Published ports: short and long syntax, ranges, protocols, host addresses.

use std::sync::Arc;

use locus_core::values::Address;

use super::environment::HOLE;
use super::tree::{Kind, Tree};

/// A port that a service publishes or offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The address of the host; every address when there is none.
    pub host_ip: Option<Arc<str>>,
    /// The ports of the host; Docker chooses one when there are none.
    pub published: Option<Numbers>,
    /// The ports of the container.
    pub target: Numbers,
    /// `tcp`, `udp` or `sctp`.
    pub protocol: Arc<str>,
    /// `ingress` or `host`.
    pub mode: Arc<str>,
}

/// One port or a range, or not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// From the first to the last.
    Range(u16, u16),
    /// Depends on a variable without a value.
    Open,
}

impl Numbers {
    /// How many, when known.
    pub fn count(self) -> Option<u32> {
        match self {
            Numbers::Range(first, last) => Some(u32::from(last - first) + 1),
            Numbers::Open => None,
        }
    }
}

impl Port {
    /// Whether each container takes any one of the published ports, rather than all of them.
    pub fn picks_one(&self) -> bool {
        match (self.published, self.target.count()) {
            (Some(published), Some(1)) => published.count().is_some_and(|count| count > 1),
            _ => false,
        }
    }
}

/// What is wrong with a port, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPort {
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub help: &'static str,
    /// The key whose value it is, of a port that is a map.
    pub key: Option<&'static str>,
}

const SYNTAX: &str = "write `[address:][host port:]container port[/protocol]`";

fn bad(reason: impl Into<String>, help: &'static str) -> BadPort {
    BadPort {
        reason: reason.into(),
        help,
        key: None,
    }
}

/// Reads an item of `ports`.
///
/// # Errors
/// All that is wrong with it.
pub fn parse(item: &Tree) -> Result<Port, Vec<BadPort>> {
    match &item.kind {
        Kind::Map(_) => long(item),
        Kind::Int(_) | Kind::Float(_) | Kind::Str(_) | Kind::Open(_) => {
            short(&item.pattern().unwrap_or_default()).map_err(|bad| vec![bad])
        }
        _ => Err(vec![bad("a port is text, a number or a map", SYNTAX)]),
    }
}

fn long(item: &Tree) -> Result<Port, Vec<BadPort>> {
    let mut wrong = Vec::new();
    let text = |key: &str| item.some(key).and_then(Tree::pattern);
    let given = |key: &str| text(key).filter(|text| !text.is_empty());
    let target = match text("target") {
        Some(target) => read("target", numbers(&target), &mut wrong),
        None => {
            let help = "add `target:`, the port of the container";
            wrong.push(bad("this port has no `target`", help));
            None
        }
    };
    let published = given("published").map(|text| numbers(&text));
    let published = published.and_then(|read_as| read("published", read_as, &mut wrong));
    let host_ip = given("host_ip").map(|text| address(&text));
    let host_ip = host_ip.and_then(|read_as| read("host_ip", read_as, &mut wrong));
    let word = text("protocol").unwrap_or_else(|| "tcp".into());
    let protocol = read("protocol", protocol(&word), &mut wrong);
    match (target, protocol) {
        (Some(target), Some(protocol)) if wrong.is_empty() => Ok(Port {
            host_ip,
            published,
            target,
            protocol,
            mode: text("mode").unwrap_or_else(|| "ingress".into()),
        }),
        _ => Err(wrong),
    }
}

/// What the value of a key was read as; what is wrong with it is added to the rest.
fn read<T>(key: &'static str, value: Result<T, BadPort>, wrong: &mut Vec<BadPort>) -> Option<T> {
    value
        .map_err(|bad| {
            wrong.push(BadPort {
                key: Some(key),
                ..bad
            });
        })
        .ok()
}

fn short(text: &str) -> Result<Port, BadPort> {
    let (ports, proto) = match text.split_once('/') {
        Some((ports, proto)) => (ports, proto),
        None => (text, "tcp"),
    };
    // The address may hold colons itself, so the container's port is split off first.
    let (rest, target) = match ports.rsplit_once(':') {
        Some((rest, target)) => (Some(rest), target),
        None => (None, ports),
    };
    let (host_ip, published) = match rest {
        None => (None, None),
        Some(rest) => match rest.rsplit_once(':') {
            Some((ip, published)) => (Some(ip), Some(published)),
            None => (None, Some(rest)),
        },
    };
    if target.is_empty() {
        return Err(bad(
            format!("`{}` names no container port", shown(text)),
            SYNTAX,
        ));
    }
    let target = numbers(target)?;
    let published = match published.filter(|text| !text.is_empty()) {
        Some(text) => Some(numbers(text)?),
        None => None,
    };
    let host_ip = match host_ip.filter(|ip| !ip.is_empty()) {
        Some(ip) => Some(address(ip)?),
        None => None,
    };
    if let (Some(count), Some(published)) = (target.count(), published.and_then(Numbers::count))
        && count > 1
        && count != published
    {
        return Err(bad(
            format!("{published} ports of the host are published to {count} of the container"),
            "make both ranges equally long",
        ));
    }
    Ok(Port {
        host_ip,
        published,
        target,
        protocol: protocol(proto)?,
        mode: "ingress".into(),
    })
}

fn shown(text: &str) -> String {
    text.replace(HOLE, "…")
}

fn address(text: &str) -> Result<Arc<str>, BadPort> {
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .unwrap_or(text);
    let bare_v6 = inner.len() == text.len() && inner.contains(':');
    if inner.contains(HOLE) || !bare_v6 && Address::parse(inner).is_some() {
        return Ok(inner.into());
    }
    Err(bad(
        format!("`{}` is not an address of the host", shown(text)),
        "write an IPv4 address, or an IPv6 address in brackets",
    ))
}

fn protocol(text: &str) -> Result<Arc<str>, BadPort> {
    let lower = text.to_ascii_lowercase();
    if lower.contains(HOLE) || matches!(lower.as_str(), "tcp" | "udp" | "sctp") {
        return Ok(lower.into());
    }
    Err(bad(
        format!("`{text}` is not a protocol"),
        "the protocols are `tcp`, `udp` and `sctp`",
    ))
}

fn numbers(text: &str) -> Result<Numbers, BadPort> {
    if text.contains(HOLE) {
        return Ok(Numbers::Open);
    }
    let one = |text: &str| {
        text.parse::<u16>().map_err(|_| {
            bad(
                format!("`{text}` is not a port"),
                "a port is a number from 0 to 65535",
            )
        })
    };
    let (first, last) = match text.split_once('-') {
        Some((first, last)) => (one(first)?, one(last)?),
        None => {
            let port = one(text)?;
            (port, port)
        }
    };
    if last < first {
        return Err(bad(
            format!("the range `{text}` ends before it starts"),
            "write the lower port first",
        ));
    }
    Ok(Numbers::Range(first, last))
}

/// What makes two ports the same when one file overrides another.
pub(crate) fn identity(item: &Tree) -> Option<String> {
    let port = parse(item).ok()?;
    Some(format!(
        "{:?}|{:?}|{:?}|{}",
        port.host_ip, port.published, port.target, port.protocol
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use locus_core::{Sources, Span};

    fn port(text: &str) -> Result<Port, Vec<BadPort>> {
        let file = Sources::new().add("f", text);
        parse(&Tree::str(text, Span::start_of(file)))
    }

    fn show(text: &str) -> String {
        let range = |numbers: Numbers| match numbers {
            Numbers::Range(a, b) if a == b => a.to_string(),
            Numbers::Range(a, b) => format!("{a}-{b}"),
            Numbers::Open => "?".into(),
        };
        match port(text) {
            Ok(port) => format!(
                "{} {} -> {} {}",
                port.host_ip.as_deref().unwrap_or("*"),
                port.published.map_or_else(|| "any".into(), range),
                range(port.target),
                port.protocol
            ),
            Err(bad) => format!("error: {}", bad[0].reason),
        }
    }

    #[test]
    fn every_short_form_is_read() {
        let cases = [
            ("3000", "* any -> 3000 tcp"),
            ("3000-3005", "* any -> 3000-3005 tcp"),
            ("8000:80", "* 8000 -> 80 tcp"),
            ("9090-9091:8080-8081", "* 9090-9091 -> 8080-8081 tcp"),
            ("8000-8010:80", "* 8000-8010 -> 80 tcp"),
            ("127.0.0.1:8001:8001", "127.0.0.1 8001 -> 8001 tcp"),
            ("127.0.0.1::5000", "127.0.0.1 any -> 5000 tcp"),
            ("[::1]:80:80/udp", "::1 80 -> 80 udp"),
            ("\u{1}:80", "* ? -> 80 tcp"),
            ("\u{1}:80:80", "\u{1} 80 -> 80 tcp"),
        ];
        for (text, expected) in cases {
            assert_eq!(show(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_port_is_refused_with_a_reason() {
        let cases = [
            ("80:", "`80:` names no container port"),
            ("", "`` names no container port"),
            ("http", "`http` is not a port"),
            ("70000:80", "`70000` is not a port"),
            ("80:80/http", "`http` is not a protocol"),
            ("90-80:90-80", "the range `90-80` ends before it starts"),
            (
                "80-82:80-81",
                "3 ports of the host are published to 2 of the container",
            ),
            ("::1:80:80", "`::1` is not an address of the host"),
            (
                "localhost:80:80",
                "`localhost` is not an address of the host",
            ),
        ];
        for (text, reason) in cases {
            assert_eq!(port(text).unwrap_err()[0].reason, reason, "{text}");
        }
        assert!(port("8000-8010:80").unwrap().picks_one());
        assert!(!port("8000-8001:80-81").unwrap().picks_one());
    }
}
