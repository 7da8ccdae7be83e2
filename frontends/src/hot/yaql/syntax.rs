//! Whether a text is YAQL at all, the parts of the language included that are not evaluated here.
//!
//! The order in which operators bind decides what an expression means, not whether it is one, so it plays
//! no role here.

use std::ops::Range;

/// What is wrong with a text, and which bytes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub(crate) range: Range<usize>,
    pub(crate) message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// A text, a number, a word or a variable.
    Operand,
    /// A word with the parenthesis that follows it.
    Call,
    /// Between two values.
    Binary,
    /// `+` and `-`, which are prefixes, too.
    Sign,
    Not,
    /// `=>`.
    Maps,
    Open(char),
    Close(char),
    Comma,
}

/// Nested deeper than this nothing is said of a text.
const MAX_DEPTH: usize = 200;

/// Two characters before one: the longest symbol counts.
const SYMBOLS: [(&str, Token); 26] = [
    ("=~", Token::Binary),
    ("!~", Token::Binary),
    (">=", Token::Binary),
    ("<=", Token::Binary),
    ("!=", Token::Binary),
    ("->", Token::Binary),
    ("=>", Token::Maps),
    ("?.", Token::Binary),
    (".", Token::Binary),
    ("*", Token::Binary),
    ("/", Token::Binary),
    (">", Token::Binary),
    ("<", Token::Binary),
    ("=", Token::Binary),
    ("+", Token::Sign),
    ("-", Token::Sign),
    ("(", Token::Open('(')),
    ("[", Token::Open('[')),
    ("{", Token::Open('{')),
    (")", Token::Close(')')),
    ("]", Token::Close(']')),
    ("}", Token::Close('}')),
    (",", Token::Comma),
    // Words that stand between values or before one.
    ("mod", Token::Binary),
    ("in", Token::Binary),
    ("not", Token::Not),
];

/// What is wrong with an expression; nothing when it is one.
pub(crate) fn check(text: &str) -> Result<(), SyntaxError> {
    let mut recogniser = Recogniser {
        text,
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
    };
    match recogniser.whole() {
        Err(Stop::Wrong(error)) => Err(error),
        Ok(()) | Err(Stop::TooDeep) => Ok(()),
    }
}

/// Why recognising stopped.
enum Stop {
    Wrong(SyntaxError),
    TooDeep,
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, SyntaxError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..)
        && let Some(first) = rest.chars().next()
    {
        if matches!(first, ' ' | '\t' | '\r' | '\n') {
            at += 1;
            continue;
        }
        let word = |from: usize| {
            let rest = rest.get(from..).unwrap_or_default();
            from + rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        };
        let wrong = |length: usize, message: String| SyntaxError {
            range: at..at + length,
            message,
        };
        let (token, length) = match first {
            '$' => (Token::Operand, word(1)),
            '0'..='9' => {
                let end = number(rest);
                if rest
                    .get(end..)
                    .is_some_and(|rest| rest.starts_with(is_word))
                {
                    let end = word(0);
                    let written = rest.get(..end).unwrap_or_default();
                    return Err(wrong(
                        end,
                        format!("`{written}` is neither a number nor a word"),
                    ));
                }
                (Token::Operand, end)
            }
            '\'' | '"' | '`' => match quoted(rest, first) {
                Some(end) => (Token::Operand, end),
                None => {
                    let message = format!("the text that starts with {first} does not end");
                    return Err(wrong(rest.len(), message));
                }
            },
            first if is_word(first) => {
                let end = word(0);
                let written = rest.get(..end).unwrap_or_default();
                if rest.get(end..).is_some_and(|rest| rest.starts_with('(')) {
                    (Token::Call, end + 1)
                } else if written.starts_with("__") {
                    return Err(wrong(end, format!("the word `{written}` starts with `__`")));
                } else {
                    (keyword(written), end)
                }
            }
            _ => {
                let symbol = SYMBOLS.iter().find(|(symbol, _)| rest.starts_with(symbol));
                let Some(&(symbol, token)) = symbol else {
                    let message = format!("`{first}` has no meaning in YAQL");
                    return Err(wrong(first.len_utf8(), message));
                };
                (token, symbol.len())
            }
        };
        found.push((token, at..at + length));
        at += length;
    }
    Ok(found)
}

fn keyword(word: &str) -> Token {
    match word {
        "and" | "or" => Token::Binary,
        _ => {
            let known = SYMBOLS.iter().find(|(symbol, _)| *symbol == word);
            known.map_or(Token::Operand, |&(_, token)| token)
        }
    }
}

/// Where a number ends: digits, and digits after a point.
fn number(rest: &str) -> usize {
    let digits = |from: usize| {
        let rest = rest.get(from..).unwrap_or_default();
        from + rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len())
    };
    let whole = digits(0);
    if !rest.get(whole..).is_some_and(|rest| rest.starts_with('.')) {
        return whole;
    }
    match digits(whole + 1) {
        end if end > whole + 1 => end,
        _ => whole,
    }
}

/// Where a text ends that starts with a quote.
fn quoted(rest: &str, quote: char) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            // Whatever is escaped, but not the end of a line.
            '\\' => {
                chars.next().filter(|&(_, c)| c != '\n')?;
            }
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

struct Recogniser<'t> {
    text: &'t str,
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    depth: usize,
}

impl Recogniser<'_> {
    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).map(|token| token.0)
    }

    /// Refuses the token at hand.
    fn unexpected(&self) -> Result<(), Stop> {
        let (range, message) = match self.tokens.get(self.at) {
            Some((_, range)) => {
                let written = self.text.get(range.clone()).unwrap_or_default();
                (range.clone(), format!("`{written}` is not expected here"))
            }
            None if self.tokens.is_empty() => (0..self.text.len(), "it is empty".to_owned()),
            None => {
                let end = self.text.trim_end().len();
                let last = self.tokens.last().map_or(0, |(_, range)| range.start);
                (last..end, "it ends too soon".to_owned())
            }
        };
        Err(Stop::Wrong(SyntaxError { range, message }))
    }

    fn whole(&mut self) -> Result<(), Stop> {
        self.value()?;
        match self.peek() {
            None => Ok(()),
            Some(_) => self.unexpected(),
        }
    }

    fn value(&mut self) -> Result<(), Stop> {
        if self.depth >= MAX_DEPTH {
            return Err(Stop::TooDeep);
        }
        self.depth += 1;
        loop {
            while matches!(self.peek(), Some(Token::Sign | Token::Not)) {
                self.at += 1;
            }
            self.primary()?;
            while self.peek() == Some(Token::Open('[')) {
                self.at += 1;
                self.arguments(']')?;
            }
            match self.peek() {
                Some(Token::Binary | Token::Sign) => self.at += 1,
                _ => break,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn primary(&mut self) -> Result<(), Stop> {
        let token = self.peek();
        match token {
            Some(Token::Operand) => {
                self.at += 1;
                Ok(())
            }
            Some(Token::Open('(')) => {
                self.at += 1;
                self.value()?;
                self.close(')')
            }
            Some(Token::Call) => {
                self.at += 1;
                self.arguments(')')
            }
            Some(Token::Open('[')) => {
                self.at += 1;
                self.arguments(']')
            }
            Some(Token::Open(_)) => {
                self.at += 1;
                self.arguments('}')
            }
            _ => self.unexpected(),
        }
    }

    fn close(&mut self, bracket: char) -> Result<(), Stop> {
        if self.peek() != Some(Token::Close(bracket)) {
            return self.unexpected();
        }
        self.at += 1;
        Ok(())
    }

    /// Values separated by commas, some of which may be left out; then pairs, none of which may be.
    fn arguments(&mut self, bracket: char) -> Result<(), Stop> {
        if self.peek() == Some(Token::Close(bracket)) {
            self.at += 1;
            return Ok(());
        }
        let (mut values, mut pairs) = (false, false);
        loop {
            let mut left_out = 0;
            while !pairs && self.peek() == Some(Token::Comma) {
                self.at += 1;
                left_out += 1;
            }
            self.value()?;
            if self.peek() == Some(Token::Maps) {
                // Before the first pair one value may be left out, when there is another before that.
                if left_out > usize::from(values) {
                    return self.unexpected();
                }
                self.at += 1;
                self.value()?;
                pairs = true;
            } else if pairs {
                return self.unexpected();
            } else {
                values = true;
            }
            if self.peek() != Some(Token::Comma) {
                return self.close(bracket);
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_recognised() {
        for text in [
            "$.data.a.where($ > 1 and not $.b).select({name => $.c, 1 => [2, 3]})",
            "let(a => 2) -> $a",
            "f(1,,2) + f(,1) - f(1, a => 2) * f(1,, a => 2)",
            "[1, 2][0] in {} or [] mod - - 1.5",
            "$?.a.1 =~ `\\d` !~ 'a\\'b'",
            "__f(\"a\nb\")",
            "switch($.a >= 1 => 2, true => none)",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_where_it_is() {
        for (text, wrong, message) in [
            ("", "", "it is empty"),
            ("$.data.", ".", "it ends too soon"),
            ("$.data.where($ > 1", "1", "it ends too soon"),
            ("$.data.sum())", ")", "`)` is not expected here"),
            ("$.data sum", "sum", "`sum` is not expected here"),
            ("f(1,)", ")", "`)` is not expected here"),
            ("f(a => 1, 2)", ")", "`)` is not expected here"),
            ("f(, a => 1)", "=>", "`=>` is not expected here"),
            ("1 and(2)", "and(", "`and(` is not expected here"),
            ("[1, 2}", "}", "`}` is not expected here"),
            ("$.a; $.b", ";", "`;` has no meaning in YAQL"),
            ("$.a[1:2]", ":", "`:` has no meaning in YAQL"),
            ("'a", "'a", "the text that starts with ' does not end"),
            ("1a", "1a", "`1a` is neither a number nor a word"),
            ("$.__a", "__a", "the word `__a` starts with `__`"),
        ] {
            let error = check(text).unwrap_err();
            assert_eq!(error.message, message, "{text}");
            assert_eq!(&text[error.range], wrong, "{text}");
        }
    }

    #[test]
    fn nothing_is_said_of_what_is_nested_too_deep() {
        assert_eq!(check(&"(".repeat(100_000)), Ok(()));
        assert!(check(&"(".repeat(10)).is_err());
        assert!(check(&"not ".repeat(100_000)).is_err());
    }
}
