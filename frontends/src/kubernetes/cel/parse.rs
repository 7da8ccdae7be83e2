//! Expressions from their text.

use std::sync::Arc;

use super::tokens::{Token, tokens};
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
    /// An item of a value; whether it may be missing.
    Index(Box<Expression>, Box<Expression>, bool),
    List(Vec<Expression>),
    Map(Vec<(Expression, Expression)>),
    /// An item of a list, or the value of a key, that is left out when it is missing.
    Maybe(Box<Expression>),
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
            Expression::Field(of, ..)
            | Expression::Not(of)
            | Expression::Negative(of)
            | Expression::Maybe(of) => of.mentions(name),
            Expression::Index(a, b, _) | Expression::Binary(_, a, b) => {
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

/// Why a text was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is no expression.
    Syntax(String),
    /// It may be one, of a form that is not known here.
    Beyond,
}

pub(super) type Parsed<T> = Result<T, Refused>;

/// Names that the language keeps for later.
const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "package",
    "return",
    "var",
    "void",
];

/// Reads an expression.
pub(super) fn parse(text: &str) -> Parsed<Expression> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
    };
    let expression = parser.expression()?;
    match parser.at == parser.tokens.len() {
        true => Ok(expression),
        false => Err(parser.unexpected()),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn unexpected(&self) -> Refused {
        Refused::Syntax(match self.tokens.get(self.at) {
            Some(token) => format!("`{token}` is not expected there"),
            None => "it ends too early".to_owned(),
        })
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Sign(next)) if *next == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let is = self.is(sign);
        self.at += usize::from(is);
        is
    }

    fn need(&mut self, sign: &str) -> Parsed<()> {
        match self.take(sign) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn deeper(&mut self) -> Parsed<()> {
        self.depth += 1;
        match self.depth > DEPTH {
            true => Err(Refused::Beyond),
            false => Ok(()),
        }
    }

    /// The name of a field.
    fn name(&mut self) -> Parsed<Arc<str>> {
        match self.tokens.get(self.at) {
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn expression(&mut self) -> Parsed<Expression> {
        self.deeper()?;
        let condition = self.binary(0)?;
        let whole = if self.take("?") {
            let yes = self.binary(0)?;
            self.need(":")?;
            let no = self.expression()?;
            Expression::If(condition.into(), yes.into(), no.into())
        } else {
            condition
        };
        self.depth -= 1;
        Ok(whole)
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

    fn binary(&mut self, level: usize) -> Parsed<Expression> {
        if level == 5 {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;
        let mut count = 0;
        while let Some(operator) = self.operator(level) {
            count += 1;
            if count > DEPTH {
                return Err(Refused::Beyond);
            }
            let right = self.binary(level + 1)?;
            left = Expression::Binary(operator, left.into(), right.into());
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expression> {
        self.deeper()?;
        let found = if self.take("!") {
            Expression::Not(self.unary()?.into())
        } else if self.take("-") {
            match self.tokens.get(self.at) {
                // The smallest number has no positive counterpart.
                Some(Token::Least) => {
                    self.at += 1;
                    Expression::Literal(Value::Int(i64::MIN))
                }
                _ => Expression::Negative(self.unary()?.into()),
            }
        } else {
            self.member()?
        };
        self.depth -= 1;
        Ok(found)
    }

    fn member(&mut self) -> Parsed<Expression> {
        let mut value = self.primary()?;
        let mut count = 0;
        loop {
            count += 1;
            if count > DEPTH {
                return Err(Refused::Beyond);
            }
            if self.take(".?") {
                value = Expression::Field(value.into(), self.name()?, true);
            } else if self.take(".") {
                let name = self.name()?;
                value = match self.take("(") {
                    true => Expression::Call(Some(value.into()), name, self.list(")", false)?),
                    false => Expression::Field(value.into(), name, false),
                };
            } else if self.take("[") {
                let optional = self.take("?");
                let index = self.expression()?;
                self.need("]")?;
                value = Expression::Index(value.into(), index.into(), optional);
            } else if self.is("{") && matches!(value, Expression::Name(_) | Expression::Field(..)) {
                // A message.
                return Err(Refused::Beyond);
            } else {
                return Ok(value);
            }
        }
    }

    /// Expressions up to a sign; a list may leave some out, and may end with a comma.
    fn list(&mut self, end: &str, literal: bool) -> Parsed<Vec<Expression>> {
        let mut items = Vec::new();
        while !self.take(end) {
            let optional = literal && self.take("?");
            let item = self.expression()?;
            items.push(match optional {
                true => Expression::Maybe(item.into()),
                false => item,
            });
            let comma = self.take(",");
            if (!comma && !self.is(end)) || (comma && !literal && self.is(end)) {
                return Err(self.unexpected());
            }
        }
        Ok(items)
    }

    fn primary(&mut self) -> Parsed<Expression> {
        if self.take("(") {
            let inner = self.expression()?;
            self.need(")")?;
            return Ok(inner);
        }
        if self.take("[") {
            return Ok(Expression::List(self.list("]", true)?));
        }
        if self.take("{") {
            let mut entries = Vec::new();
            while !self.take("}") {
                let optional = self.take("?");
                let key = self.expression()?;
                self.need(":")?;
                let value = self.expression()?;
                entries.push(match optional {
                    true => (key, Expression::Maybe(value.into())),
                    false => (key, value),
                });
                if !self.take(",") && !self.is("}") {
                    return Err(self.unexpected());
                }
            }
            return Ok(Expression::Map(entries));
        }
        if self.is(".") {
            // A name of the outermost scope.
            return Err(Refused::Beyond);
        }
        let Some(token) = self.tokens.get(self.at).cloned() else {
            return Err(self.unexpected());
        };
        let found = match token {
            Token::Literal(value) => Expression::Literal(value),
            Token::Name(name) => match &*name {
                "true" => Expression::Literal(Value::Bool(true)),
                "false" => Expression::Literal(Value::Bool(false)),
                "null" => Expression::Literal(Value::Null),
                word if RESERVED.contains(&word) => return Err(self.unexpected()),
                _ => {
                    self.at += 1;
                    return Ok(match self.take("(") {
                        true => Expression::Call(None, name, self.list(")", false)?),
                        false => Expression::Name(name),
                    });
                }
            },
            Token::Sign(_) | Token::Least => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(found)
    }
}
