//! Python's regular expressions, spelled as the engine here spells them.

use std::iter::Peekable;
use std::str::Chars;

/// Letters, digits and `_`, as Python's `\w` counts them.
const WORD: &str = "\\p{L}\\p{N}_";
/// White space, as Python's `\s` counts it.
const SPACE: &str = "\\s\\x1c-\\x1f";

/// The pattern with the same meaning; `None` when Python refuses it, or when the engine has nothing that means it.
pub(super) fn translate(pattern: &str) -> Option<String> {
    let mut reader = Reader {
        rest: pattern.chars().peekable(),
        out: String::with_capacity(pattern.len() + 8),
    };
    reader.pattern()?;
    Some(reader.out)
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    out: String,
}

/// One member of a class.
enum Member {
    Char(char),
    Class(String),
}

impl Reader<'_> {
    fn pattern(&mut self) -> Option<()> {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => match self.escape(false)? {
                    Member::Char(c) => self.literal(c),
                    Member::Class(class) => self.out.push_str(&class),
                },
                '[' => self.class()?,
                '(' => self.group()?,
                '*' | '+' | '?' => {
                    self.out.push(c);
                    self.after_repeat()?;
                }
                '{' => self.braces()?,
                '}' | ']' => self.literal(c),
                c => self.out.push(c),
            }
        }
        Some(())
    }

    fn literal(&mut self, c: char) {
        let mut buffer = [0; 4];
        self.out
            .push_str(&regex::escape(c.encode_utf8(&mut buffer)));
    }

    /// A repeat may be lazy; what else follows it, possessive repeats among it, means another thing here.
    fn after_repeat(&mut self) -> Option<()> {
        if self.rest.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        (!matches!(self.rest.peek(), Some('*' | '+' | '?'))).then_some(())
    }

    /// `{2,3}` repeats; any other brace is itself.
    fn braces(&mut self) -> Option<()> {
        let mut ahead = self.rest.clone();
        let digits = |ahead: &mut Peekable<Chars<'_>>| {
            let mut digits = String::new();
            while let Some(digit) = ahead.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            digits
        };
        let low = digits(&mut ahead);
        let high = ahead.next_if_eq(&',').map(|_| digits(&mut ahead));
        if ahead.next() != Some('}') || low.is_empty() && high.is_none() {
            self.literal('{');
            return Some(());
        }
        self.rest = ahead;
        let low = if low.is_empty() { "0" } else { &low };
        match high {
            Some(high) => self.out.push_str(&format!("{{{low},{high}}}")),
            None => self.out.push_str(&format!("{{{low}}}")),
        }
        self.after_repeat()
    }

    fn group(&mut self) -> Option<()> {
        if self.rest.next_if_eq(&'?').is_none() {
            self.out.push('(');
            return Some(());
        }
        match self.rest.next()? {
            '#' => {
                self.rest.find(|&c| c == ')')?;
            }
            ':' => self.out.push_str("(?:"),
            'P' if self.rest.next() == Some('<') => self.out.push_str("(?P<"),
            flag if flag.is_ascii_lowercase() || flag == '-' => {
                self.out.push_str("(?");
                let mut flag = flag;
                loop {
                    match flag {
                        // Unicode is what is meant without it.
                        'u' => {}
                        'i' | 'm' | 's' | 'x' | '-' => self.out.push(flag),
                        ':' | ')' => break,
                        _ => return None,
                    }
                    flag = self.rest.next()?;
                }
                if self.out.ends_with('?') && flag == ')' {
                    self.out.truncate(self.out.len() - 2);
                } else {
                    self.out.push(flag);
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn class(&mut self) -> Option<()> {
        self.out.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            if !first && self.rest.next_if_eq(&']').is_some() {
                self.out.push(']');
                return Some(());
            }
            first = false;
            let low = match self.member()? {
                Member::Class(class) => {
                    self.out.push_str(&class);
                    // Python refuses a range that starts at a class.
                    let mut ahead = self.rest.clone();
                    if ahead.next() == Some('-') && ahead.next() != Some(']') {
                        return None;
                    }
                    continue;
                }
                Member::Char(c) => c,
            };
            self.in_class(low);
            let mut ahead = self.rest.clone();
            if ahead.next() == Some('-') && *ahead.peek()? != ']' {
                self.rest = ahead;
                match self.member()? {
                    Member::Char(high) if low <= high => {
                        self.out.push('-');
                        self.in_class(high);
                    }
                    _ => return None,
                }
            }
        }
    }

    fn member(&mut self) -> Option<Member> {
        match self.rest.next()? {
            '\\' => self.escape(true),
            c => Some(Member::Char(c)),
        }
    }

    /// A character of a class, which has operators that Python does not have.
    fn in_class(&mut self, c: char) {
        self.out.push_str(&format!("\\x{{{:x}}}", u32::from(c)));
    }

    /// What follows a backslash.
    fn escape(&mut self, in_class: bool) -> Option<Member> {
        let class = |text: String| Some(Member::Class(text));
        let c = self.rest.next()?;
        match c {
            'w' if in_class => class(WORD.into()),
            'w' => class(format!("[{WORD}]")),
            'W' => class(format!("[^{WORD}]")),
            's' if in_class => class(SPACE.into()),
            's' => class(format!("[{SPACE}]")),
            'S' => class(format!("[^{SPACE}]")),
            'd' | 'D' => class(format!("\\{c}")),
            'b' if in_class => Some(Member::Char('\u{8}')),
            'A' | 'b' | 'B' if !in_class => class(format!("\\{c}")),
            'Z' if !in_class => class("\\z".into()),
            'a' => Some(Member::Char('\u{7}')),
            'f' => Some(Member::Char('\u{c}')),
            'n' => Some(Member::Char('\n')),
            'r' => Some(Member::Char('\r')),
            't' => Some(Member::Char('\t')),
            'v' => Some(Member::Char('\u{b}')),
            'x' => self.code(2),
            'u' => self.code(4),
            'U' => self.code(8),
            '0'..='7' => self.octal(c),
            c if c.is_ascii_alphanumeric() => None,
            c => Some(Member::Char(c)),
        }
    }

    fn code(&mut self, digits: usize) -> Option<Member> {
        let mut code = 0;
        for _ in 0..digits {
            code = code * 16 + self.rest.next()?.to_digit(16)?;
        }
        char::from_u32(code).map(Member::Char)
    }

    /// `\0` with up to two digits, or three digits; any other number is a back-reference.
    fn octal(&mut self, first: char) -> Option<Member> {
        let mut code = first.to_digit(8)?;
        let mut more = 0;
        while more < 2
            && let Some(digit) = self.rest.next_if(|c| c.is_digit(8))
        {
            code = code * 8 + digit.to_digit(8)?;
            more += 1;
        }
        if first != '0' && more < 2 || code > 0o377 {
            return None;
        }
        char::from_u32(code).map(Member::Char)
    }
}
