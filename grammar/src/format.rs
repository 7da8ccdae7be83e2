//! One way to lay out a model.
//!
//! The formatter works on the words of the text, not on the tree: comments, parentheses and line
//! breaks stay where the author put them. It sets the indentation of each line by the brackets that are
//! open, the blanks between words, and the blank lines between paragraphs. Formatting what has been
//! formatted changes nothing.

use crate::parse::{Token, TokenKind, tokens};

/// One step of indentation.
const STEP: &str = "  ";

/// The text laid out anew.
///
/// It has the same words in the same order, whether or not they make a model.
pub fn format(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut depth: usize = 0;
    let mut previous: Option<Token<'_>> = None;
    for token in tokens(text) {
        let breaks = previous.as_ref().map_or(0, |before| {
            let gap = text.get(before.end()..token.start).unwrap_or("");
            gap.matches('\n').count().min(2)
        });
        if token.kind == TokenKind::Close {
            depth = depth.saturating_sub(1);
        }
        // A line comment, or a string that is not closed, ends its line whatever follows.
        let after_line_end = previous.as_ref().is_some_and(|before| {
            matches!(before.kind, TokenKind::LineComment | TokenKind::OpenStr)
        });
        if breaks > 0 || after_line_end {
            for _ in 0..breaks.max(1) {
                out.push('\n');
            }
            for _ in 0..depth {
                out.push_str(STEP);
            }
        } else if previous
            .as_ref()
            .is_some_and(|before| needs_blank(before, &token) || would_merge(before, &token))
        {
            out.push(' ');
        }
        match token.kind {
            TokenKind::LineComment | TokenKind::OpenComment => {
                out.push_str(token.text.trim_end());
            }
            TokenKind::BlockComment => out.push_str(&block_comment(token.text, depth)),
            _ => out.push_str(token.text),
        }
        if token.kind == TokenKind::Open {
            depth += 1;
        }
        previous = Some(token);
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Whether two words on one line have a blank between them.
fn needs_blank(before: &Token<'_>, token: &Token<'_>) -> bool {
    let had_blank = before.end() < token.start;
    let is_word = |token: &Token<'_>| {
        matches!(
            token.kind,
            TokenKind::Word | TokenKind::Number | TokenKind::Str
        )
    };
    match (before.text, token.text) {
        // Never a blank.
        (_, "," | ";" | "]" | ")" | "'") => false,
        ("[" | "(" | "@" | "~" | "^" | "#", _) => false,
        (".", _) | (_, ".") => keeps_apart(before, token, had_blank),
        ("/", _) | (_, "/") => false,
        (_, ":") => false,
        // Always a blank.
        ("," | ";" | ":" | "|" | "{", _) | (_, "{" | "}" | "|") => {
            !(before.text == "{" && token.text == "}")
        }
        (_, symbol) if is_infix(symbol) && is_operand_end(before) => true,
        (symbol, _) if is_infix(symbol) => true,
        _ if is_word(before) && is_word(token) => true,
        _ => had_blank,
    }
}

/// Whether two words side by side would be read as something else.
fn would_merge(before: &Token<'_>, token: &Token<'_>) -> bool {
    let joined = format!("{}{}", before.text, token.text);
    tokens(&joined)
        .next()
        .is_none_or(|first| first.text.len() != before.text.len())
}

/// Words around a dot keep what they have when joining them would make another word.
fn keeps_apart(before: &Token<'_>, token: &Token<'_>, had_blank: bool) -> bool {
    let number = |token: &Token<'_>| token.kind == TokenKind::Number;
    had_blank && (number(before) || number(token))
}

fn is_infix(symbol: &str) -> bool {
    matches!(
        symbol,
        "->" | "=>"
            | "<=>"
            | "="
            | "!="
            | "=<"
            | "<="
            | ">="
            | "<"
            | ">"
            | "+"
            | "++"
            | "&"
            | "&&"
            | "||"
            | "<:"
            | ":>"
            | "<<"
            | ">>"
            | ">>>"
    )
}

fn is_operand_end(token: &Token<'_>) -> bool {
    matches!(
        token.kind,
        TokenKind::Word | TokenKind::Number | TokenKind::Str | TokenKind::Close
    ) || token.text == "'"
}

/// The lines of a comment moved along with the code around it.
fn block_comment(text: &str, depth: usize) -> String {
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or("").trim_end().to_owned();
    for line in lines {
        out.push('\n');
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        for _ in 0..depth {
            out.push_str(STEP);
        }
        // A star under the star of the first line; other text a step in.
        out.push_str(if line.starts_with('*') { " " } else { "   " });
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::format;

    fn words(text: &str) -> Vec<String> {
        crate::parse::tokens(text)
            .map(|token| token.text.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn layout_is_set_and_comments_stay() {
        let text = "sig A{r:set A,// all\ns : A->lone A}\n\n\n\nfact{ all a:A|some a . r -- why\n&& no A }\n/** Doc.\n* more */\npred p [ a : A ]{\nsome a.r\n}";
        let formatted = format(text);
        assert_eq!(
            formatted,
            "sig A { r: set A, // all\n  s: A -> lone A }\n\nfact { all a: A | some a.r -- why\n  && no A }\n/** Doc.\n * more */\npred p [a: A] {\n  some a.r\n}\n"
        );
        assert_eq!(format(&formatted), formatted);
    }

    #[test]
    fn words_that_would_merge_stay_apart() {
        for text in [
            "/ /",
            "/ * a",
            "< : b",
            ": : c",
            "a = < b",
            "\"open\r x",
            "/* open\n\n",
            "- - 1",
            "1 . . 2",
        ] {
            let once = format(text);
            assert_eq!(words(&once), words(text), "{text:?}");
            assert_eq!(format(&once), once, "{text:?}");
        }
    }

    #[test]
    fn the_library_is_laid_out_already() {
        for name in crate::library::names() {
            let text = crate::library::source(name).unwrap_or("");
            let formatted = format(text);
            assert_eq!(words(&formatted), words(text), "{name}");
            assert_eq!(format(&formatted), formatted, "{name}");
        }
    }
}
