//! Words, brackets, strings and comments: enough to cut a file into paragraphs and to say which
//! bracket is not closed.

use locus_core::{Diagnostic, FileId, Span};

use super::MAX_BRACKETS;
use crate::ast::Unread;

/// What a token is, as far as the scan needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name or keyword.
    Word,
    /// A number.
    Number,
    /// A string, with its quotes.
    Str,
    /// `// ..` or `-- ..`, without the line break.
    LineComment,
    /// `/* .. */`.
    BlockComment,
    /// `( [ {`.
    Open,
    /// `) ] }`.
    Close,
    /// Any operator.
    Symbol,
    /// A string that is not closed on its line.
    OpenStr,
    /// A comment that is not closed.
    OpenComment,
    /// A character that no token starts with.
    Bad,
}

/// A piece of the text that is not blank.
#[derive(Clone, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind,
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

impl Token<'_> {
    /// One past its last byte.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn is_comment(&self) -> bool {
        matches!(
            self.kind,
            TokenKind::LineComment | TokenKind::BlockComment | TokenKind::OpenComment
        )
    }
}

/// One paragraph of the file.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) doc: Option<String>,
    /// Something is wrong with it that has been reported already.
    pub(super) is_bad: bool,
}

#[derive(Debug)]
pub(super) struct Scanned {
    pub(super) chunks: Vec<Chunk>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The tokens of a text, comments included. Together with the blanks between them they are all of it.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let blank = rest.len()
            - rest
                .trim_start_matches([' ', '\t', '\r', '\n', '\u{0C}', '\u{FEFF}'])
                .len();
        let start = at + blank;
        let rest = text.get(start..)?;
        let (kind, len) = first_token(rest)?;
        at = start + len;
        Some(Token {
            kind,
            text: rest.get(..len)?,
            start,
        })
    })
}

/// Operators longer than one character, longest first.
const LONG_SYMBOLS: [&str; 18] = [
    "<=>", ">>>", "->", "=>", "=<", "<=", ">=", "<:", ":>", "<<", ">>", "++", "&&", "||", "::",
    "!=", "..", "**",
];

fn first_token(rest: &str) -> Option<(TokenKind, usize)> {
    let first = rest.chars().next()?;
    let until_line_end = || rest.find(['\n', '\r']).unwrap_or(rest.len());
    Some(if rest.starts_with("//") || rest.starts_with("--") {
        (TokenKind::LineComment, until_line_end())
    } else if let Some(comment) = rest.strip_prefix("/*") {
        match comment.find("*/") {
            Some(len) => (TokenKind::BlockComment, len + 4),
            None => (TokenKind::OpenComment, rest.len()),
        }
    } else if first == '"' {
        string(rest)
    } else if first.is_ascii_digit() {
        (TokenKind::Number, word_len(rest))
    } else if is_word_start(first) {
        (TokenKind::Word, word_len(rest))
    } else if let Some(symbol) = LONG_SYMBOLS
        .iter()
        .find(|symbol| rest.starts_with(**symbol))
    {
        (TokenKind::Symbol, symbol.len())
    } else {
        let kind = match first {
            '(' | '[' | '{' => TokenKind::Open,
            ')' | ']' | '}' => TokenKind::Close,
            '!' | '#' | '&' | '*' | '+' | ',' | '-' | '.' | '/' | ':' | '<' | '=' | '>' | '@'
            | '^' | '|' | '~' | ';' | '\'' | '\u{2018}' | '\u{2019}' => TokenKind::Symbol,
            _ => TokenKind::Bad,
        };
        (kind, first.len_utf8())
    })
}

fn string(rest: &str) -> (TokenKind, usize) {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' | '\r' => return (TokenKind::OpenStr, at),
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return (TokenKind::Str, at + 1),
            _ => {}
        }
    }
    (TokenKind::OpenStr, rest.len())
}

fn is_word_start(c: char) -> bool {
    c == '_' || c == '$' || c.is_alphabetic() || !c.is_ascii() && c.is_alphanumeric()
}

fn word_len(rest: &str) -> usize {
    rest.find(|c: char| !(is_word_start(c) || c.is_numeric() || c == '"'))
        .unwrap_or(rest.len())
}

/// Words that start a paragraph wherever they stand: no expression contains them.
fn starts_paragraph(word: &str) -> bool {
    matches!(
        word,
        "module" | "open" | "enum" | "fact" | "assert" | "sig" | "fun" | "pred" | "run" | "check"
    )
}

fn is_qualifier(word: &str) -> bool {
    matches!(
        word,
        "abstract" | "lone" | "one" | "some" | "private" | "var"
    )
}

/// Words after which an expression is not complete.
fn is_operator_word(word: &str) -> bool {
    matches!(
        word,
        "all"
            | "no"
            | "some"
            | "lone"
            | "one"
            | "sum"
            | "let"
            | "set"
            | "seq"
            | "not"
            | "and"
            | "or"
            | "iff"
            | "implies"
            | "else"
            | "in"
            | "until"
            | "since"
            | "triggered"
            | "releases"
            | "always"
            | "eventually"
            | "after"
            | "before"
            | "historically"
            | "once"
            | "int"
            | "disj"
            | "private"
            | "for"
            | "but"
            | "exactly"
            | "extends"
            | "as"
    )
}

/// Where a paragraph could start, if the word that decides it follows.
struct Candidate {
    start: usize,
    doc: Option<String>,
}

/// A bracket that is still open.
#[derive(Clone, Copy)]
struct Bracket {
    /// What closes it.
    close: &'static str,
    start: usize,
}

struct Scanner {
    file: FileId,
    diagnostics: Vec<Diagnostic>,
    chunks: Vec<Chunk>,
    brackets: Vec<Bracket>,
}

/// Cuts a file into paragraphs.
pub(super) fn scan(file: FileId, text: &str) -> Scanned {
    let mut scanner = Scanner {
        file,
        diagnostics: Vec::new(),
        chunks: Vec::new(),
        brackets: Vec::new(),
    };
    scanner.run(text);
    scanner.close_chunk(text.len());
    Scanned {
        chunks: scanner.chunks,
        diagnostics: scanner.diagnostics,
    }
}

impl Scanner {
    fn run(&mut self, text: &str) {
        let mut doc = None;
        let mut significant = Vec::new();
        for token in tokens(text) {
            match token.kind {
                TokenKind::LineComment => {}
                TokenKind::BlockComment => doc = doc_text(token.text).or(doc),
                _ => significant.push((token, doc.take())),
            }
        }
        // A run of qualifiers belongs to the word after it, a label to its command.
        let mut candidate: Option<Candidate> = None;
        let mut labelled = false;
        for index in 0..significant.len() {
            let doc = significant.get_mut(index).and_then(|(_, doc)| doc.take());
            let at = |index: usize| significant.get(index).map(|(token, _)| token);
            let Some(token) = at(index) else { break };
            let previous = index.checked_sub(1).and_then(at);
            let before = previous.map_or("", |token| token.text);
            let after = at(index + 1).map_or("", |token| token.text);
            let chained = matches!(before, "=>" | "implies");
            // `for 4 int`, `for 4 seq`: the last word of a scope, not an operator.
            let after_scope = matches!(before, "int" | "seq")
                && index
                    .checked_sub(2)
                    .and_then(at)
                    .is_some_and(|token| token.kind == TokenKind::Number);
            let is_word = token.kind == TokenKind::Word && !matches!(before, "/" | "@");
            let begins = is_word
                && match token.text {
                    "fun" | "pred" => after != "/",
                    "run" | "check" => !labelled && !chained,
                    "let" => {
                        self.brackets.is_empty()
                            && (before == "private"
                                || after_scope
                                || previous.is_none_or(ends_operand))
                    }
                    word => starts_paragraph(word),
                };
            let is_label = is_word
                && !chained
                && after == ":"
                && at(index + 2).is_some_and(|token| matches!(token.text, "run" | "check"));
            if begins || is_label {
                match candidate.take() {
                    Some(candidate) => self.begin(candidate.start, candidate.doc),
                    None => self.begin(token.start, doc),
                }
                labelled = is_label;
            } else if is_word && is_qualifier(token.text) {
                let start = token.start;
                candidate.get_or_insert(Candidate { start, doc });
            } else {
                candidate = None;
                labelled &= token.text == ":";
            }
            if self.chunks.is_empty() && candidate.is_none() {
                self.begin(token.start, None);
            }
            self.check(token);
        }
        if let (true, Some(candidate)) = (self.chunks.is_empty(), candidate) {
            self.begin(candidate.start, candidate.doc);
        }
    }

    fn begin(&mut self, start: usize, doc: Option<String>) {
        self.close_chunk(start);
        self.chunks.push(Chunk {
            start,
            end: start,
            doc,
            is_bad: false,
        });
    }

    /// Ends the current paragraph; a bracket still open is reported where it ends.
    fn close_chunk(&mut self, end: usize) {
        if let Some(opened) = self.brackets.pop() {
            self.brackets.clear();
            if !self.is_bad() {
                self.diagnostics.push(
                    Diagnostic::error("syntax", "the paragraph before this ends inside a bracket")
                        .at(Span::new(self.file, end, end))
                        .related(self.span(opened.start, 1), "this bracket is never closed")
                        .help(format!("close it with `{}`", opened.close)),
                );
            }
            self.mark_bad();
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.end = end;
        }
    }

    fn span(&self, start: usize, len: usize) -> Span {
        Span::new(self.file, start, start + len)
    }

    fn mark_bad(&mut self) {
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.is_bad = true;
        }
    }

    fn is_bad(&self) -> bool {
        self.chunks.last().is_some_and(|chunk| chunk.is_bad)
    }

    /// Says what is wrong with the current paragraph, unless something has been said already.
    fn report(&mut self, diagnostic: Diagnostic) {
        if !self.is_bad() {
            self.diagnostics.push(diagnostic);
        }
        self.mark_bad();
    }

    /// Brackets, strings and characters of one token.
    fn check(&mut self, token: &Token<'_>) {
        let span = self.span(token.start, token.text.len());
        let error = |message: String| Diagnostic::error("syntax", message).at(span);
        match token.kind {
            TokenKind::Open => {
                self.brackets.push(Bracket {
                    close: match token.text {
                        "(" => ")",
                        "[" => "]",
                        _ => "}",
                    },
                    start: token.start,
                });
                if self.brackets.len() > MAX_BRACKETS {
                    self.report(
                        error(format!("brackets are nested more than {MAX_BRACKETS} deep"))
                            .help("give parts of it a name with `let`, `fun` or `pred`"),
                    );
                }
            }
            TokenKind::Close => match self.brackets.pop() {
                None => self.report(
                    error(format!(
                        "`{}` closes a bracket that was never opened",
                        token.text
                    ))
                    .help("remove it, or open the bracket"),
                ),
                Some(opened) if opened.close != token.text => {
                    let related = self.span(opened.start, 1);
                    self.report(
                        error(format!(
                            "`{}` where `{}` is needed",
                            token.text, opened.close
                        ))
                        .related(related, "to close this bracket")
                        .help(format!("close it with `{}`", opened.close)),
                    );
                }
                Some(_) => {}
            },
            TokenKind::OpenStr => self.report(
                error("this string is not closed on its line".to_owned())
                    .help("close it with `\"`; a line break in a string is written `\\n`"),
            ),
            TokenKind::OpenComment => {
                let diagnostic = Diagnostic::error("syntax", "this comment is never closed")
                    .at(self.span(token.start, 2))
                    .help("close it with `*/`");
                self.report(diagnostic);
            }
            TokenKind::Bad => self.report(
                error(format!(
                    "the character `{}` has no meaning here",
                    token.text.escape_debug()
                ))
                .help("remove it, or write it inside a string or comment"),
            ),
            _ => {}
        }
    }
}

/// Whether an expression may end with this token.
fn ends_operand(token: &Token<'_>) -> bool {
    match token.kind {
        TokenKind::Word => !is_operator_word(token.text),
        TokenKind::Number | TokenKind::Str | TokenKind::Close => true,
        _ => matches!(token.text, "'" | "\u{2018}" | "\u{2019}" | ".."),
    }
}

/// What is lost with a paragraph that cannot be read.
pub(super) fn unread(text: &str) -> Unread {
    let mut words = tokens(text)
        .filter(|token| !token.is_comment())
        .skip_while(|token| is_qualifier(token.text))
        .peekable();
    let Some(first) = words.next() else {
        return Unread::Statement;
    };
    match first.text {
        "fact" | "run" | "check" => Unread::Statement,
        // `label: run ..`
        _ if words.peek().is_some_and(|token| token.text == ":") => Unread::Statement,
        // Of `pred A.p[..]` the last name in front of what the brackets hold.
        "assert" | "pred" | "fun" => words
            .take_while(|token| token.kind == TokenKind::Word || token.text == ".")
            .filter(|token| token.kind == TokenKind::Word)
            .last()
            .map_or(Unread::Declaration, |name| {
                Unread::Named(name.text.to_owned())
            }),
        _ => Unread::Declaration,
    }
}

/// The text of a `/** .. */` comment without stars and the indentation common to all lines.
fn doc_text(comment: &str) -> Option<String> {
    let inner = comment.strip_prefix("/**")?.strip_suffix("*/")?;
    let lines: Vec<&str> = inner
        .lines()
        .map(|line| {
            let line = line.trim();
            let line = line.trim_start_matches('*');
            line.strip_prefix(' ').unwrap_or(line).trim_end()
        })
        .collect();
    let text = lines.join("\n");
    Some(text.trim_matches('\n').trim_end().to_owned())
}
