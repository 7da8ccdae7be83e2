//! Expressions from their text.

use std::sync::Arc;

use super::value::Value;

/// Expressions deeper than this are not read.
const DEPTH: usize = 100;

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    Literal(Value),
    Name(Arc<str>),
    /// A field of a value; whether it may be missing.
    Field(Box<Expression>, Arc<str>, bool),
    Index(Box<Expression>, Box<Expression>),
    List(Vec<Expression>),
    Map(Vec<(Expression, Expression)>),
    /// A function, of a value or of none.
    Call(Option<Box<Expression>>, Arc<str>, Vec<Expression>),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Binary(&'static str, Box<Expression>, Box<Expression>),
    If(Box<Expression>, Box<Expression>, Box<Expression>),
}

impl Expression {
    /// Whether a name is used.
    pub(super) fn mentions(&self, name: &str) -> bool {
        let in_any = |all: &[Expression]| all.iter().any(|one| one.mentions(name));
        match self {
            Expression::Literal(_) => false,
            Expression::Name(used) => **used == *name,
            Expression::Field(of, ..) | Expression::Not(of) | Expression::Negative(of) => {
                of.mentions(name)
            }
            Expression::Index(a, b) | Expression::Binary(_, a, b) => {
                a.mentions(name) || b.mentions(name)
            }
            Expression::List(items) => in_any(items),
            Expression::Map(entries) => entries
                .iter()
                .any(|(key, value)| key.mentions(name) || value.mentions(name)),
            Expression::Call(of, _, arguments) => {
                of.as_ref().is_some_and(|of| of.mentions(name)) || in_any(arguments)
            }
            Expression::If(a, b, c) => a.mentions(name) || b.mentions(name) || c.mentions(name),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name(Arc<str>),
    Int(i64),
    Double(f64),
    Text(Arc<str>),
    Sign(&'static str),
}

/// Reads an expression; none when it is not one, or beyond what is known.
pub(super) fn parse(text: &str) -> Option<Expression> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
    };
    let expression = parser.expression()?;
    (parser.at == parser.tokens.len()).then_some(expression)
}

/// Longer signs come before those that they start with.
const SIGNS: [&str; 25] = [
    "&&", "||", "==", "!=", "<=", ">=", ".?", "<", ">", "!", "+", "-", "*", "/", "%", "?", ":",
    "(", ")", "[", "]", "{", "}", ",", ".",
];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else {
            return Some(tokens);
        };
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, after)| after);
        } else if first.is_ascii_digit() {
            let (token, after) = number(rest)?;
            tokens.push(token);
            rest = after;
        } else if first == '"' || first == '\'' {
            let (text, after) = quoted(rest, false)?;
            tokens.push(Token::Text(text.into()));
            rest = after;
        } else if let Some(raw) = rest.strip_prefix(['r', 'R'])
            && raw.starts_with(['"', '\''])
        {
            let (text, after) = quoted(raw, true)?;
            tokens.push(Token::Text(text.into()));
            rest = after;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            let (name, after) = rest.split_at_checked(end)?;
            if after.starts_with(['"', '\'']) {
                // Bytes.
                return None;
            }
            tokens.push(Token::Name(name.into()));
            rest = after;
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            tokens.push(Token::Sign(sign));
            rest = rest.get(sign.len()..)?;
        }
    }
}

fn number(text: &str) -> Option<(Token, &str)> {
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    if let Some(hex) = text.strip_prefix("0x") {
        let end = hex
            .find(|c: char| !c.is_ascii_hexdigit())
            .unwrap_or(hex.len());
        let (number, after) = hex.split_at_checked(end)?;
        return Some((Token::Int(i64::from_str_radix(number, 16).ok()?), after));
    }
    let mut end = digits(text);
    let mut double = false;
    let after = text.get(end..)?;
    if let Some(fraction) = after.strip_prefix('.')
        && fraction.starts_with(|c: char| c.is_ascii_digit())
    {
        double = true;
        end += 1 + digits(fraction);
    }
    let after = text.get(end..)?;
    if let Some(exponent) = after.strip_prefix(['e', 'E']) {
        let signed = exponent.strip_prefix(['+', '-']);
        let count = digits(signed.unwrap_or(exponent));
        if count == 0 {
            return None;
        }
        double = true;
        end += 1 + usize::from(signed.is_some()) + count;
    }
    let (number, after) = text.split_at_checked(end)?;
    if after.starts_with(['u', 'U']) {
        return None;
    }
    let token = match double {
        true => Token::Double(number.parse().ok()?),
        false => Token::Int(number.parse().ok()?),
    };
    Some((token, after))
}

/// The text in quotes at the start of a text, and what comes after it.
fn quoted(text: &str, raw: bool) -> Option<(String, &str)> {
    let quote = ["\"\"\"", "'''", "\"", "'"]
        .into_iter()
        .find(|quote| text.starts_with(quote))?;
    let mut rest = text.get(quote.len()..)?;
    let mut out = String::new();
    loop {
        if let Some(after) = rest.strip_prefix(quote) {
            return Some((out, after));
        }
        let c = rest.chars().next()?;
        rest = rest.get(c.len_utf8()..)?;
        if c != '\\' || raw {
            out.push(c);
            continue;
        }
        let escaped = rest.chars().next()?;
        rest = rest.get(escaped.len_utf8()..)?;
        let digits = |count: usize, rest: &str, radix: u32| {
            let code = u32::from_str_radix(rest.get(..count)?, radix).ok()?;
            char::from_u32(code)
        };
        let (c, used) = match escaped {
            'n' => ('\n', 0),
            't' => ('\t', 0),
            'r' => ('\r', 0),
            'a' => ('\u{7}', 0),
            'b' => ('\u{8}', 0),
            'f' => ('\u{c}', 0),
            'v' => ('\u{b}', 0),
            '\\' | '\'' | '"' | '`' | '?' => (escaped, 0),
            'x' | 'X' => (digits(2, rest, 16)?, 2),
            'u' => (digits(4, rest, 16)?, 4),
            'U' => (digits(8, rest, 16)?, 8),
            _ => return None,
        };
        out.push(c);
        rest = rest.get(used..)?;
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn is(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Sign(next)) if *next == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.at += usize::from(is);
        is
    }

    fn name(&mut self) -> Option<Arc<str>> {
        let Some(Token::Name(name)) = self.tokens.get(self.at) else {
            return None;
        };
        let name = name.clone();
        self.at += 1;
        Some(name)
    }

    fn expression(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let condition = self.binary(0)?;
        let whole = if self.take("?") {
            let yes = self.binary(0)?;
            if !self.take(":") {
                return None;
            }
            let no = self.expression()?;
            Expression::If(condition.into(), yes.into(), no.into())
        } else {
            condition
        };
        self.depth -= 1;
        Some(whole)
    }

    /// An operator of a level that is next.
    fn operator(&mut self, level: usize) -> Option<&'static str> {
        const LEVELS: [&[&str]; 5] = [
            &["||"],
            &["&&"],
            &["==", "!=", "<=", ">=", "<", ">"],
            &["+", "-"],
            &["*", "/", "%"],
        ];
        if level == 2
            && matches!(self.tokens.get(self.at), Some(Token::Name(name)) if &**name == "in")
        {
            self.at += 1;
            return Some("in");
        }
        let found = LEVELS.get(level)?.iter().find(|sign| self.is(sign))?;
        self.at += 1;
        Some(found)
    }

    fn binary(&mut self, level: usize) -> Option<Expression> {
        if level == 5 {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;
        let mut count = 0;
        while let Some(operator) = self.operator(level) {
            count += 1;
            if count > DEPTH {
                return None;
            }
            let right = self.binary(level + 1)?;
            left = Expression::Binary(operator, left.into(), right.into());
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let found = if self.take("!") {
            Expression::Not(self.unary()?.into())
        } else if self.take("-") {
            Expression::Negative(self.unary()?.into())
        } else {
            self.member()?
        };
        self.depth -= 1;
        Some(found)
    }

    fn member(&mut self) -> Option<Expression> {
        let mut value = self.primary()?;
        let mut count = 0;
        loop {
            count += 1;
            if count > DEPTH {
                return None;
            }
            if self.take(".?") {
                value = Expression::Field(value.into(), self.name()?, true);
            } else if self.take(".") {
                let name = self.name()?;
                value = match self.take("(") {
                    true => Expression::Call(Some(value.into()), name, self.list(")")?),
                    false => Expression::Field(value.into(), name, false),
                };
            } else if self.take("[") {
                let index = self.expression()?;
                if !self.take("]") {
                    return None;
                }
                value = Expression::Index(value.into(), index.into());
            } else {
                return Some(value);
            }
        }
    }

    /// Expressions up to a sign.
    fn list(&mut self, end: &str) -> Option<Vec<Expression>> {
        let mut items = Vec::new();
        while !self.take(end) {
            items.push(self.expression()?);
            if !self.take(",") && !self.is(end) {
                return None;
            }
        }
        Some(items)
    }

    fn primary(&mut self) -> Option<Expression> {
        if self.take("(") {
            let inner = self.expression()?;
            return self.take(")").then_some(inner);
        }
        if self.take("[") {
            return Some(Expression::List(self.list("]")?));
        }
        if self.take("{") {
            let mut entries = Vec::new();
            while !self.take("}") {
                let key = self.expression()?;
                if !self.take(":") {
                    return None;
                }
                entries.push((key, self.expression()?));
                if !self.take(",") && !self.is("}") {
                    return None;
                }
            }
            return Some(Expression::Map(entries));
        }
        let token = self.tokens.get(self.at)?.clone();
        self.at += 1;
        Some(match token {
            Token::Int(n) => Expression::Literal(Value::Int(n)),
            Token::Double(n) => Expression::Literal(Value::Double(n)),
            Token::Text(text) => Expression::Literal(Value::Text(text)),
            Token::Name(name) => match &*name {
                "true" => Expression::Literal(Value::Bool(true)),
                "false" => Expression::Literal(Value::Bool(false)),
                "null" => Expression::Literal(Value::Null),
                "in" => return None,
                _ if self.take("(") => Expression::Call(None, name, self.list(")")?),
                _ => Expression::Name(name),
            },
            Token::Sign(_) => return None,
        })
    }
}
