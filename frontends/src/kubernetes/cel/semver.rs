//! Versions of programs, as in `1.2.3-rc.1+build`.

use std::cmp::Ordering;

/// A version.
#[derive(Clone, Debug)]
pub(super) struct Version {
    /// Major, minor and patch.
    pub(super) numbers: [u64; 3],
    before: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Number(u64),
    Text(String),
}

impl Version {
    /// The version of a text; with `tolerant`, `v1.2` and `01.2.3` are versions too.
    pub(super) fn parse(text: &str, tolerant: bool) -> Option<Version> {
        match tolerant {
            true => Version::strict(&normal(text)?),
            false => Version::strict(text),
        }
    }

    fn strict(text: &str) -> Option<Version> {
        let (text, build) = match text.split_once('+') {
            Some((text, build)) => (text, Some(build)),
            None => (text, None),
        };
        let (numbers, before) = match text.split_once('-') {
            Some((numbers, before)) => (numbers, Some(before)),
            None => (text, None),
        };
        let parts: Vec<u64> = numbers.split('.').map(number).collect::<Option<_>>()?;
        let numbers = parts.try_into().ok()?;
        let is_word = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        if build.is_some_and(|build| !build.split('.').all(is_word)) {
            return None;
        }
        let part = |part: &str| match part.bytes().all(|b| b.is_ascii_digit()) {
            _ if !is_word(part) => None,
            true => number(part).map(Part::Number),
            false => Some(Part::Text(part.to_owned())),
        };
        let before = before.map(|before| before.split('.').map(part).collect::<Option<_>>());
        let before = match before {
            Some(parts) => parts?,
            None => Vec::new(),
        };
        Some(Version { numbers, before })
    }

    pub(super) fn compare(&self, other: &Version) -> Ordering {
        let order = self.numbers.cmp(&other.numbers);
        let released = |version: &Version| version.before.is_empty();
        order
            .then_with(|| released(self).cmp(&released(other)))
            .then_with(|| {
                let mut parts = self.before.iter().zip(&other.before);
                let first = parts.find_map(|(a, b)| {
                    let order = match (a, b) {
                        (Part::Number(a), Part::Number(b)) => a.cmp(b),
                        (Part::Number(_), Part::Text(_)) => Ordering::Less,
                        (Part::Text(_), Part::Number(_)) => Ordering::Greater,
                        (Part::Text(a), Part::Text(b)) => a.cmp(b),
                    };
                    order.is_ne().then_some(order)
                });
                first.unwrap_or_else(|| self.before.len().cmp(&other.before.len()))
            })
    }
}

/// A number without zeros before it.
fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit());
    let short = text == "0" || !text.starts_with('0');
    (plain && short && !text.is_empty())
        .then(|| text.parse().ok())
        .flatten()
}

/// A version as the strict form has it: without `v`, with three numbers, none of which starts with a zero.
fn normal(text: &str) -> Option<String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(str::to_owned).collect();
    for part in &mut parts {
        if part.len() > 1 {
            let short = part.trim_start_matches('0');
            *part = match short.starts_with(|c: char| c.is_ascii_digit()) {
                true => short.to_owned(),
                false => format!("0{short}"),
            };
        }
    }
    if parts.len() < 3 {
        // What comes before a release needs all three numbers.
        if parts.last()?.contains(['+', '-']) {
            return None;
        }
        parts.resize(3, "0".to_owned());
    }
    Some(parts.join("."))
}
