//! YAQL text to an expression tree.

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    /// `$`, the value at hand.
    This,
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    /// A bare word, which functions take as text.
    Word(String),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    /// `a.b`.
    Member(Box<Expr>, String),
    /// `a[b]`.
    Index(Box<Expr>, Box<Expr>),
    /// `a.f(...)`, or `f(...)` with no receiver.
    Call(Option<Box<Expr>>, String, Vec<Expr>),
    Unary(char, Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
}

/// An operator between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

const MAX_DEPTH: usize = 60;
const MAX_LENGTH: usize = 8192;

/// Parses an expression; `None` when it is not one, or uses more of YAQL than is known here.
pub(super) fn parse(text: &str) -> Option<Expr> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    let tokens = tokens(text)?;
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        depth: 0,
    };
    let expr = parser.binary(0)?;
    (parser.at == tokens.len()).then_some(expr)
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Dollar,
    Word(String),
    Int(i64),
    Float(f64),
    Str(String),
    Symbol(&'static str),
}

const SYMBOLS: [&str; 20] = [
    "=>", "!=", "<=", ">=", "->", "=", "<", ">", "+", "-", "*", "/", "(", ")", "[", "]", "{", "}",
    ",", ".",
];

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first == '$' {
            (Token::Dollar, 1)
        } else if first.is_alphabetic() || first == '_' {
            let end = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            (Token::Word(rest.get(..end)?.to_owned()), end)
        } else if first.is_ascii_digit() {
            number(rest)?
        } else if first == '\'' || first == '"' {
            quoted(rest, first)?
        } else {
            let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol))?;
            (Token::Symbol(symbol), symbol.len())
        };
        tokens.push(token);
        rest = rest.get(length..)?.trim_start();
    }
    Some(tokens)
}

fn number(rest: &str) -> Option<(Token, usize)> {
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    let whole = digits(rest);
    let fraction = rest.get(whole..)?;
    // `1.sum()` is a call: a fraction needs a digit.
    if fraction.starts_with('.') && fraction.get(1..)?.starts_with(|c: char| c.is_ascii_digit()) {
        let end = whole + 1 + digits(fraction.get(1..)?);
        return Some((Token::Float(rest.get(..end)?.parse().ok()?), end));
    }
    Some((Token::Int(rest.get(..whole)?.parse().ok()?), whole))
}

fn quoted(rest: &str, quote: char) -> Option<(Token, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => text.push(match chars.next()?.1 {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            c if c == quote => return Some((Token::Str(text), at + 1)),
            c => text.push(c),
        }
    }
    None
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Symbol(s)) if *s == symbol);
        if found {
            self.at += 1;
        }
        found
    }

    /// The operator at hand and how tightly it binds.
    fn operator(&self) -> Option<(Op, u8)> {
        Some(match self.peek()? {
            Token::Word(word) => match word.as_str() {
                "or" => (Op::Or, 1),
                "and" => (Op::And, 2),
                "in" => (Op::In, 4),
                "mod" => (Op::Modulo, 6),
                _ => return None,
            },
            Token::Symbol(symbol) => match *symbol {
                "=" => (Op::Equal, 4),
                "!=" => (Op::NotEqual, 4),
                "<" => (Op::Less, 4),
                "<=" => (Op::LessEqual, 4),
                ">" => (Op::Greater, 4),
                ">=" => (Op::GreaterEqual, 4),
                "+" => (Op::Add, 5),
                "-" => (Op::Subtract, 5),
                "*" => (Op::Multiply, 6),
                "/" => (Op::Divide, 6),
                _ => return None,
            },
            _ => return None,
        })
    }

    fn binary(&mut self, least: u8) -> Option<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut left = self.unary()?;
        while let Some((op, tightness)) = self.operator().filter(|&(_, t)| t > least) {
            self.at += 1;
            let right = self.binary(tightness)?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Some(left)
    }

    fn unary(&mut self) -> Option<Expr> {
        if self.eat("-") {
            // One level of nesting each, so that a long row of signs is refused.
            self.depth += 1;
            let inner = if self.depth > MAX_DEPTH {
                None
            } else {
                self.unary()
            };
            self.depth -= 1;
            return Some(Expr::Unary('-', Box::new(inner?)));
        }
        if matches!(self.peek(), Some(Token::Word(word)) if word == "not") {
            self.at += 1;
            return Some(Expr::Unary('!', Box::new(self.binary(3)?)));
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Option<Expr> {
        let mut expr = self.primary()?;
        loop {
            if self.eat(".") {
                let Some(Token::Word(name)) = self.peek().cloned() else {
                    return None;
                };
                self.at += 1;
                expr = if self.eat("(") {
                    let args = self.list(")")?;
                    Expr::Call(Some(Box::new(expr)), name, args)
                } else {
                    Expr::Member(Box::new(expr), name)
                };
            } else if self.eat("[") {
                let index = self.binary(0)?;
                if !self.eat("]") {
                    return None;
                }
                expr = Expr::Index(Box::new(expr), Box::new(index));
            } else {
                return Some(expr);
            }
        }
    }

    fn list(&mut self, close: &str) -> Option<Vec<Expr>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Some(items);
        }
        loop {
            items.push(self.binary(0)?);
            if self.eat(close) {
                return Some(items);
            }
            if !self.eat(",") {
                return None;
            }
        }
    }

    fn primary(&mut self) -> Option<Expr> {
        let token = self.peek()?.clone();
        self.at += 1;
        Some(match token {
            Token::Dollar => match self.peek() {
                // `$name` is a variable, and only `$` itself is known here.
                Some(Token::Word(word))
                    if !matches!(word.as_str(), "or" | "and" | "in" | "mod" | "not") =>
                {
                    return None;
                }
                Some(Token::Int(1)) => {
                    self.at += 1;
                    Expr::This
                }
                _ => Expr::This,
            },
            Token::Int(n) => Expr::Int(n),
            Token::Float(f) => Expr::Float(f),
            Token::Str(text) => Expr::Str(text),
            Token::Word(word) => match word.as_str() {
                "true" => Expr::Bool(true),
                "false" => Expr::Bool(false),
                "null" | "none" => Expr::Null,
                _ if self.eat("(") => Expr::Call(None, word, self.list(")")?),
                _ => Expr::Word(word),
            },
            Token::Symbol("(") => {
                let inner = self.binary(0)?;
                if !self.eat(")") {
                    return None;
                }
                inner
            }
            Token::Symbol("[") => Expr::List(self.list("]")?),
            Token::Symbol("{") => Expr::Map(self.entries()?),
            Token::Symbol(_) => return None,
        })
    }

    fn entries(&mut self) -> Option<Vec<(Expr, Expr)>> {
        let mut entries = Vec::new();
        if self.eat("}") {
            return Some(entries);
        }
        loop {
            let key = self.binary(0)?;
            if !self.eat("=>") {
                return None;
            }
            entries.push((key, self.binary(0)?));
            if self.eat("}") {
                return Some(entries);
            }
            if !self.eat(",") {
                return None;
            }
        }
    }
}
