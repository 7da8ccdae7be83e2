//! The words and signs of expressions.

use std::fmt;
use std::sync::Arc;

use super::parse::{Parsed, Refused};
use super::value::Value;

#[derive(Clone, Debug)]
pub(super) enum Token {
    Name(Arc<str>),
    Literal(Value),
    /// 2^63, which is a number only with a minus before it.
    Least,
    Sign(&'static str),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Name(name) => f.write_str(name),
            Token::Sign(sign) => f.write_str(sign),
            Token::Least => f.write_str("9223372036854775808"),
            Token::Literal(Value::Int(n)) => write!(f, "{n}"),
            Token::Literal(Value::Uint(n)) => write!(f, "{n}u"),
            Token::Literal(Value::Double(n)) => write!(f, "{n}"),
            Token::Literal(Value::Text(text)) => write!(f, "'{text}'"),
            Token::Literal(_) => f.write_str("b''"),
        }
    }
}

/// Longer signs come before those that they start with.
const SIGNS: [&str; 25] = [
    "&&", "||", "==", "!=", "<=", ">=", ".?", "<", ">", "!", "+", "-", "*", "/", "%", "?", ":",
    "(", ")", "[", "]", "{", "}", ",", ".",
];

fn wrong(text: impl Into<String>) -> Refused {
    Refused::Syntax(text.into())
}

pub(super) fn tokens(text: &str) -> Parsed<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
        let Some(first) = rest.chars().next() else {
            return Ok(tokens);
        };
        let fraction = rest.strip_prefix('.');
        let fraction =
            fraction.is_some_and(|after| after.starts_with(|c: char| c.is_ascii_digit()));
        let after_value = matches!(tokens.last(), Some(Token::Name(_) | Token::Sign(")" | "]")));
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, after)| after);
        } else if first.is_ascii_digit() || (fraction && !after_value) {
            let (token, after) = number(rest)?;
            tokens.push(token);
            rest = after;
        } else if let Some((bytes, raw, quoted)) = prefixed(rest) {
            let (content, after) = literal(quoted, bytes, raw)?;
            tokens.push(Token::Literal(content));
            rest = after;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            let (name, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            tokens.push(Token::Name(name.into()));
            rest = after;
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign =
                sign.ok_or_else(|| wrong(format!("`{first}` is not part of the language")))?;
            tokens.push(Token::Sign(sign));
            rest = rest.get(sign.len()..).unwrap_or("");
        }
    }
}

/// A text in quotes with the letters before it: whether it is bytes, whether backslashes are themselves, and from its quote on.
fn prefixed(text: &str) -> Option<(bool, bool, &str)> {
    let (mut bytes, mut raw, mut rest) = (false, false, text);
    for _ in 0..2 {
        if let Some(after) = rest.strip_prefix(['b', 'B']).filter(|_| !bytes && !raw) {
            (bytes, rest) = (true, after);
        } else if let Some(after) = rest.strip_prefix(['r', 'R']).filter(|_| !raw) {
            (raw, rest) = (true, after);
        }
    }
    rest.starts_with(['"', '\'']).then_some((bytes, raw, rest))
}

fn number(text: &str) -> Parsed<(Token, &str)> {
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    let too_large = || wrong("a number is too large");
    let (radix, start) = match text.starts_with("0x") {
        true => (16, 2),
        false => (10, 0),
    };
    let body = text.get(start..).unwrap_or("");
    let mut end = match radix {
        16 => body
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(body.len()),
        _ => digits(body),
    };
    let mut double = false;
    if radix == 10 {
        let after = body.get(end..).unwrap_or("");
        if let Some(fraction) = after.strip_prefix('.')
            && fraction.starts_with(|c: char| c.is_ascii_digit())
        {
            double = true;
            end += 1 + digits(fraction);
        }
        let after = body.get(end..).unwrap_or("");
        if let Some(exponent) = after.strip_prefix(['e', 'E']) {
            let signed = exponent.strip_prefix(['+', '-']);
            let count = digits(signed.unwrap_or(exponent));
            if count == 0 {
                return Err(wrong("an exponent has no digits"));
            }
            double = true;
            end += 1 + usize::from(signed.is_some()) + count;
        }
    }
    let (number, after) = body.split_at_checked(end).unwrap_or((body, ""));
    let token = if double {
        let number = number
            .parse()
            .map_err(|_| wrong("a number cannot be read"))?;
        Token::Literal(Value::Double(number))
    } else {
        let number = u64::from_str_radix(number, radix).map_err(|_| too_large())?;
        if let Some(after) = after.strip_prefix(['u', 'U']) {
            return Ok((Token::Literal(Value::Uint(number)), after));
        }
        match i64::try_from(number) {
            Ok(number) => Token::Literal(Value::Int(number)),
            Err(_) if number == 1 << 63 => Token::Least,
            Err(_) => return Err(too_large()),
        }
    };
    Ok((token, after))
}

/// The text or bytes in quotes at the start of a text, and what comes after it.
fn literal(text: &str, bytes: bool, raw: bool) -> Parsed<(Value, &str)> {
    let endless = || wrong("a text in quotes does not end");
    let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter();
    let mut quotes = quotes.filter(|quote| text.starts_with(quote));
    let quote = quotes.next().ok_or_else(endless)?;
    let mut rest = text.get(quote.len()..).unwrap_or("");
    let mut out: Vec<u8> = Vec::new();
    let put = |out: &mut Vec<u8>, c: char| {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    };
    loop {
        if let Some(after) = rest.strip_prefix(quote) {
            let value = match bytes {
                true => Value::Bytes(out.into()),
                false => Value::text(&String::from_utf8(out).map_err(|_| endless())?),
            };
            return Ok((value, after));
        }
        let c = rest.chars().next().ok_or_else(endless)?;
        if c == '\n' && quote.len() == 1 {
            return Err(endless());
        }
        rest = rest.get(c.len_utf8()..).unwrap_or("");
        if c != '\\' {
            put(&mut out, c);
            continue;
        }
        let escaped = rest.chars().next().ok_or_else(endless)?;
        rest = rest.get(escaped.len_utf8()..).unwrap_or("");
        if raw {
            put(&mut out, c);
            put(&mut out, escaped);
            continue;
        }
        let unknown = || wrong(format!("`\\{escaped}` is not an escape"));
        let code = |count: usize, radix: u32, rest: &str| {
            let digits = rest
                .get(..count)
                .filter(|digits| digits.chars().all(|c| c.is_digit(radix)));
            digits.and_then(|digits| u32::from_str_radix(digits, radix).ok())
        };
        let simple = match escaped {
            'n' => Some('\n'),
            't' => Some('\t'),
            'r' => Some('\r'),
            'a' => Some('\u{7}'),
            'b' => Some('\u{8}'),
            'f' => Some('\u{c}'),
            'v' => Some('\u{b}'),
            '\\' | '\'' | '"' | '`' | '?' => Some(escaped),
            _ => None,
        };
        if let Some(c) = simple {
            put(&mut out, c);
            continue;
        }
        let (number, used) = match escaped {
            'x' | 'X' => (code(2, 16, rest), 2),
            'u' if !bytes => (code(4, 16, rest), 4),
            'U' if !bytes => (code(8, 16, rest), 8),
            '0'..='3' => (
                code(2, 8, rest).and_then(|low| Some(escaped.to_digit(8)? * 64 + low)),
                2,
            ),
            _ => return Err(unknown()),
        };
        let number = number.ok_or_else(unknown)?;
        match bytes {
            true => out.push(u8::try_from(number).map_err(|_| unknown())?),
            false => put(&mut out, char::from_u32(number).ok_or_else(unknown)?),
        }
        rest = rest.get(used..).unwrap_or("");
    }
}
