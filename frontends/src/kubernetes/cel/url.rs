//! Addresses of the web, as the server reads them.

/// An address of the web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) scheme: String,
    /// With its port, and with brackets.
    pub(super) host: String,
    /// As it is written in an address.
    pub(super) path: String,
    /// What comes after `?`.
    query: String,
    rest: String,
}

impl Url {
    /// The address of a text: with a scheme, or a path from the root; none for what the server refuses.
    pub(super) fn parse(text: &str) -> Option<Url> {
        if text.bytes().any(|b| b < b' ' || b == 0x7f) || text.is_empty() {
            return None;
        }
        // What comes after `#` is not part of what is asked for.
        let (body, fragment) = text.split_once('#').unwrap_or((text, ""));
        is_escaped(fragment).then_some(())?;
        let (scheme, rest) = scheme(body)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut url = Url {
            scheme: scheme.to_ascii_lowercase(),
            host: String::new(),
            path: String::new(),
            query: query.to_owned(),
            rest: fragment.to_owned(),
        };
        if !rest.starts_with('/') {
            // As in `mailto:a@b`, which has no path.
            return (!scheme.is_empty()).then_some(url);
        }
        let path = match rest.strip_prefix("//") {
            Some(after) if !scheme.is_empty() || !rest.starts_with("///") => {
                let end = after.find('/').unwrap_or(after.len());
                let (authority, path) = after.split_at_checked(end)?;
                let (user, host) = match authority.rsplit_once('@') {
                    Some((user, host)) => (user, host),
                    None => ("", authority),
                };
                let is_user =
                    |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
                (user.chars().all(is_user) && is_escaped(user)).then_some(())?;
                url.host = host_of(host)?;
                path
            }
            _ => rest,
        };
        is_escaped(path).then_some(())?;
        url.path = escaped(path);
        Some(url)
    }

    /// The host without its port and without brackets.
    pub(super) fn name(&self) -> &str {
        let host = match self.host.strip_prefix('[') {
            Some(inner) => return inner.split(']').next().unwrap_or(""),
            None => &self.host,
        };
        host.rsplit_once(':').map_or(host, |(name, _)| name)
    }

    pub(super) fn port(&self) -> &str {
        let after = self
            .host
            .rsplit_once(']')
            .map_or(&*self.host, |(_, after)| after);
        after.rsplit_once(':').map_or("", |(_, port)| port)
    }

    /// The keys of what comes after `?` with their values, in their order.
    pub(super) fn query(&self) -> Vec<(String, Vec<String>)> {
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        for part in self.query.split('&').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            // A part with a semicolon, or with an escape that is none, is left out.
            let (Some(key), Some(value)) = (unescaped(key), unescaped(value)) else {
                continue;
            };
            if part.contains(';') {
                continue;
            }
            match all.iter_mut().find(|(known, _)| *known == key) {
                Some((_, values)) => values.push(value),
                None => all.push((key, vec![value])),
            }
        }
        all
    }
}

/// The scheme, which may be empty, and what comes after it.
fn scheme(text: &str) -> Option<(&str, &str)> {
    for (at, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return None,
            ':' => return Some((text.get(..at)?, text.get(at + 1..)?)),
            _ => break,
        }
    }
    // A relative path is none.
    text.starts_with('/').then_some(("", text))
}

/// The host of an authority, with its port.
fn host_of(host: &str) -> Option<String> {
    let after = match host.strip_prefix('[') {
        Some(inner) => {
            let (address, after) = inner.rsplit_once(']')?;
            let plain = address
                .split_once("%25")
                .map_or(address, |(plain, _)| plain);
            plain.parse::<std::net::Ipv6Addr>().ok()?;
            after
        }
        None => {
            // A second colon belongs to no port.
            let colons = host.matches(':').count();
            (colons < 2).then_some(())?;
            host.find(':').and_then(|at| host.get(at..)).unwrap_or("")
        }
    };
    let port = after.strip_prefix(':').unwrap_or(after);
    let fits =
        (after.is_empty() || after.starts_with(':')) && port.bytes().all(|b| b.is_ascii_digit());
    let is_host = |c: char| {
        !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(c)
    };
    (fits && host.chars().all(is_host)).then_some(())?;
    // Escapes are for what is not ASCII.
    let Some((_, _)) = host.split_once('%') else {
        return Some(host.to_owned());
    };
    match host.starts_with('[') {
        true => Some(host.replace("%25", "%")),
        false => None,
    }
}

/// Whether each `%` starts an escape.
fn is_escaped(text: &str) -> bool {
    let mut parts = text.split('%');
    parts.next();
    parts.all(|part| {
        part.get(..2)
            .is_some_and(|code| code.bytes().all(|b| b.is_ascii_hexdigit()))
    })
}

/// A path with escapes for what must not stand in one. A path that is written in such a way stays as it is.
fn escaped(path: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@!'()*[]%".contains(&b);
    if path.bytes().all(is_plain) {
        return path.to_owned();
    }
    let plain = percent_decoded(path, false);
    let mut out = String::new();
    for byte in plain {
        match byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn percent_decoded(text: &str, plus: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let code = rest.strip_prefix('%').and_then(|after| after.get(..2));
        let code = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(byte) => {
                out.push(byte);
                rest = rest.get(3..).unwrap_or("");
            }
            None => {
                match c {
                    '+' if plus => out.push(b' '),
                    c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                }
                rest = rest.get(c.len_utf8()..).unwrap_or("");
            }
        }
    }
    out
}

/// A part of a query without its escapes.
fn unescaped(text: &str) -> Option<String> {
    is_escaped(text).then_some(())?;
    String::from_utf8(percent_decoded(text, true)).ok()
}
