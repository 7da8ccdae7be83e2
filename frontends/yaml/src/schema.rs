//! What a plain scalar stands for: YAML 1.1 and 1.2 disagree, and so do their implementations.

use std::sync::Arc;

use locus_core::int::Int;

use super::node::{Scalar, Style};

/// The rules by which plain scalars become numbers, booleans and null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Schema {
    /// YAML 1.1 as PyYAML reads it, dates left as text: what Heat does. `on` is true, `0440` is
    /// octal, `1:20` is 80.
    PyYaml,
    /// YAML 1.2, core schema: `on` is text, `0440` is decimal, `0o440` octal.
    Core,
    /// go-yaml 3, which Compose uses: `on` is text, `0440` and `0o440` are octal.
    GoYaml3,
    /// go-yaml 2, which Kubernetes uses: `on` and `y` are true, `0440` is octal.
    GoYaml2,
}

/// What a scalar stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Typed {
    /// `null`, `~` or nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(Int),
    /// Any other number.
    Float(f64),
    /// Text.
    Str(Arc<str>),
}

impl Typed {
    /// What it is, in words for messages.
    pub fn describe(&self) -> &'static str {
        match self {
            Typed::Null => "null",
            Typed::Bool(_) => "a boolean",
            Typed::Int(_) => "an integer",
            Typed::Float(_) => "a number",
            Typed::Str(_) => "a string",
        }
    }
}

const CORE: &str = "tag:yaml.org,2002:";

impl Schema {
    /// What a scalar stands for, given its tag.
    pub fn resolve(self, scalar: &Scalar, tag: Option<&str>) -> Typed {
        match tag.map(|tag| tag.strip_prefix(CORE).unwrap_or(tag)) {
            Some("str" | "!" | "binary") => Typed::Str(scalar.text.clone()),
            None | Some("int" | "float" | "bool" | "null") => {
                let forced = tag.is_some();
                if scalar.style != Style::Plain && !forced {
                    return Typed::Str(scalar.text.clone());
                }
                match (self.plain(&scalar.text), tag) {
                    // `!!float 1` is a float.
                    (Some(Typed::Int(n)), Some(tag)) if tag.ends_with("float") => {
                        Typed::Float(n.to_f64())
                    }
                    (Some(typed), _) => typed,
                    (None, _) => Typed::Str(scalar.text.clone()),
                }
            }
            Some(_) => Typed::Str(scalar.text.clone()),
        }
    }

    /// What plain text stands for, when it is not just text.
    pub fn plain(self, text: &str) -> Option<Typed> {
        // Most plain scalars are words; the first byte tells most of them apart.
        let first = *text.as_bytes().first().unwrap_or(&b'~');
        match first {
            b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'y' | b'Y' | b'o' | b'O' => {
                self.word(text)
            }
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number(text),
            _ => None,
        }
    }

    fn word(self, text: &str) -> Option<Typed> {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => return Some(Typed::Null),
            "true" | "True" | "TRUE" => return Some(Typed::Bool(true)),
            "false" | "False" | "FALSE" => return Some(Typed::Bool(false)),
            _ => {}
        }
        if matches!(self, Schema::PyYaml | Schema::GoYaml2) {
            match text {
                "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Some(Typed::Bool(true)),
                "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Some(Typed::Bool(false)),
                _ => {}
            }
        }
        if self == Schema::GoYaml2 {
            match text {
                "y" | "Y" => return Some(Typed::Bool(true)),
                "n" | "N" => return Some(Typed::Bool(false)),
                _ => {}
            }
        }
        None
    }

    fn number(self, text: &str) -> Option<Typed> {
        let (sign, body) = match text.as_bytes().first()? {
            b'-' => ("-", text.get(1..)?),
            b'+' => ("+", text.get(1..)?),
            _ => ("", text),
        };
        match body {
            ".inf" | ".Inf" | ".INF" => {
                return Some(Typed::Float(if sign == "-" {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                }));
            }
            ".nan" | ".NaN" | ".NAN" if body.len() == text.len() => {
                return Some(Typed::Float(f64::NAN));
            }
            _ => {}
        }
        let signed =
            |digits: &str, base| Int::parse(&format!("{sign}{digits}"), base).map(Typed::Int);
        let underscores = self != Schema::Core;
        if !underscores && body.contains('_') {
            return None;
        }
        let all = |digits: &str, accept: fn(&u8) -> bool| {
            !digits.is_empty() && digits.bytes().all(|b| b == b'_' || accept(&b))
        };
        if let Some(digits) = body.strip_prefix("0x") {
            return all(digits, u8::is_ascii_hexdigit)
                .then(|| signed(digits, 16))
                .flatten();
        }
        if let Some(digits) = body.strip_prefix("0b").filter(|_| self != Schema::Core) {
            return all(digits, |b| matches!(b, b'0' | b'1'))
                .then(|| signed(digits, 2))
                .flatten();
        }
        if let Some(digits) = body.strip_prefix("0o").filter(|_| self != Schema::PyYaml) {
            return all(digits, |b| matches!(b, b'0'..=b'7'))
                .then(|| signed(digits, 8))
                .flatten();
        }
        if all(body, u8::is_ascii_digit) && !body.starts_with('_') {
            let octal = self != Schema::Core && body.len() > 1 && body.starts_with('0');
            if !octal {
                return signed(body, 10);
            }
            if body.bytes().all(|b| matches!(b, b'0'..=b'7' | b'_')) {
                return signed(body, 8);
            }
            // `0889` is no octal number: text to PyYAML, a float to go-yaml.
            return match self {
                Schema::PyYaml => None,
                _ => float(sign, body),
            };
        }
        if self == Schema::PyYaml && body.contains(':') {
            return sexagesimal(sign, body);
        }
        self.fraction(sign, body)
    }

    fn fraction(self, sign: &str, body: &str) -> Option<Typed> {
        let (mantissa, exponent) = match body.find(['e', 'E']) {
            Some(at) => (body.get(..at)?, body.get(at + 1..)),
            None => (body, None),
        };
        if let Some(exponent) = exponent {
            let digits = exponent.trim_start_matches(['+', '-']);
            let one_sign = exponent.len() - digits.len() <= 1;
            let has_sign = exponent.len() > digits.len();
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) || !one_sign {
                return None;
            }
            // PyYAML wants both a point and a signed exponent: `1e3` is text to it.
            if self == Schema::PyYaml && !has_sign {
                return None;
            }
        }
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit() || b == b'_');
        if !digits(whole) || !digits(fraction.unwrap_or("")) || whole.starts_with('_') {
            return None;
        }
        match (whole.is_empty(), fraction) {
            (true, None | Some("")) => None,
            (true, Some(f)) if !f.starts_with(|c: char| c.is_ascii_digit()) => None,
            (true, Some(_)) if self == Schema::PyYaml && !sign.is_empty() => None,
            (false, None) if exponent.is_none() || self == Schema::PyYaml => None,
            _ => float(sign, body),
        }
    }
}

fn float(sign: &str, body: &str) -> Option<Typed> {
    let text: String = sign
        .chars()
        .chain(body.chars().filter(|&c| c != '_'))
        .collect();
    text.parse().ok().map(Typed::Float)
}

/// YAML 1.1's numbers in base 60, the trap of `1:20` and of port mappings.
fn sexagesimal(sign: &str, body: &str) -> Option<Typed> {
    let (body, fraction) = match body.split_once('.') {
        Some((body, fraction)) => (body, Some(fraction)),
        None => (body, None),
    };
    let mut parts = body.split(':');
    let first = parts.next()?;
    let leading_zero_ok = fraction.is_some();
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    if !digits(first) || first.starts_with('_') || (!leading_zero_ok && first.starts_with('0')) {
        return None;
    }
    let mut total = Int::parse(first, 10)?.to_i64()?;
    for part in parts {
        if part.is_empty() || part.len() > 2 || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let n: i64 = part.parse().ok()?;
        if n >= 60 {
            return None;
        }
        total = total.checked_mul(60)?.checked_add(n)?;
    }
    let negative = sign == "-";
    match fraction {
        None => Some(Typed::Int(Int::Small(if negative {
            -total
        } else {
            total
        }))),
        Some(fraction) => {
            if !fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
                return None;
            }
            float(sign, &format!("{total}.{fraction}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(schema: Schema, text: &str) -> String {
        match schema.plain(text) {
            None => "text".into(),
            Some(Typed::Null) => "null".into(),
            Some(Typed::Bool(b)) => b.to_string(),
            Some(Typed::Int(n)) => n.to_string(),
            Some(Typed::Float(f)) => format!("{f:?}"),
            Some(Typed::Str(_)) => unreachable!("plain never answers text"),
        }
    }

    /// The columns are PyYAML (answers of PyYAML 6), 1.2 core, go-yaml 3 and go-yaml 2 (read from
    /// their resolvers).
    #[test]
    fn implementations_disagree_as_they_really_do() {
        let rows = [
            ("on", "true", "text", "text", "true"),
            ("y", "text", "text", "text", "true"),
            ("True", "true", "true", "true", "true"),
            ("tRUE", "text", "text", "text", "text"),
            ("0440", "288", "440", "288", "288"),
            ("0o440", "text", "288", "288", "288"),
            ("0889", "text", "889", "889.0", "889.0"),
            ("1:20", "80", "text", "text", "text"),
            ("22:22", "1342", "text", "text", "text"),
            ("01:20", "text", "text", "text", "text"),
            ("1:99", "text", "text", "text", "text"),
            ("1_000", "1000", "text", "1000", "1000"),
            ("1e3", "text", "1000.0", "1000.0", "1000.0"),
            ("1.0e+3", "1000.0", "1000.0", "1000.0", "1000.0"),
            ("1.", "1.0", "1.0", "1.0", "1.0"),
            (".5", "0.5", "0.5", "0.5", "0.5"),
            ("-.5", "text", "-0.5", "-0.5", "-0.5"),
            ("190:20:30.15", "685230.15", "text", "text", "text"),
            ("-", "text", "text", "text", "text"),
            (".", "text", "text", "text", "text"),
            ("", "null", "null", "null", "null"),
            ("~", "null", "null", "null", "null"),
            ("-.inf", "-inf", "-inf", "-inf", "-inf"),
            ("0x1F", "31", "31", "31", "31"),
            ("-0b11", "-3", "text", "-3", "-3"),
            ("2015-04-30", "text", "text", "text", "text"),
            ("10.0.0.1", "text", "text", "text", "text"),
            ("1.2.3", "text", "text", "text", "text"),
            ("0", "0", "0", "0", "0"),
            ("+12", "12", "12", "12", "12"),
        ];
        for (text, py, core, go3, go2) in rows {
            assert_eq!(show(Schema::PyYaml, text), py, "PyYAML: {text}");
            assert_eq!(show(Schema::Core, text), core, "core: {text}");
            assert_eq!(show(Schema::GoYaml3, text), go3, "go-yaml 3: {text}");
            assert_eq!(show(Schema::GoYaml2, text), go2, "go-yaml 2: {text}");
        }
    }
}
