//! Where a place of a TOML file is, also of one that is half typed.

use std::ops::Range;

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The name of a table, between brackets; of an array of tables between two.
    Header { is_array: bool },
    /// A key.
    Key,
    /// A value, or an item of one; perhaps in quotes.
    Value { is_quoted: bool },
}

/// A place, and what leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) role: Role,
    /// The tables and keys that lead to it: of a key those of its table, of a value its own key last.
    pub(super) path: Vec<String>,
    /// Where the table starts that it is in: of several in an array, which one.
    scope: usize,
}

/// A key or a table.
struct Known {
    /// What leads to it, and its name.
    path: Vec<String>,
    /// Where its name stands.
    range: Range<usize>,
    /// Where all of it stands, of a table its header.
    whole: Range<usize>,
    /// Where the table starts that it is a key of; none of a table.
    scope: Option<usize>,
}

/// A key or a table, with all of what it is the name of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its name: of a table all of it, of a key the last step.
    pub(super) name: String,
    /// What leads to it, and its name.
    pub(super) path: Vec<String>,
    /// Where its name stands.
    pub(super) name_at: Range<usize>,
    /// Where all of it stands: of a table up to the next one.
    pub(super) whole: Range<usize>,
    /// Whether it is a table with a header.
    pub(super) is_table: bool,
}

/// All keys and tables of a text, in order.
pub(super) fn parts(text: &str) -> Vec<Part> {
    let mut scanner = Scanner::new(text, usize::MAX);
    let _ = scanner.run();
    let heads: Vec<usize> = scanner
        .known
        .iter()
        .filter(|one| one.scope.is_none())
        .map(|one| one.whole.start)
        .collect();
    let all = scanner.known.into_iter().filter_map(|one| {
        let is_table = one.scope.is_none();
        let mut whole = one.whole;
        if is_table {
            let next = heads.iter().find(|&&start| start > whole.start);
            let inner = text.get(whole.start..next.copied().unwrap_or(text.len()))?;
            // What stands above the next table belongs to that.
            let mut lines: Vec<&str> = inner.split_inclusive('\n').collect();
            while lines.len() > 1 && lines.last().is_some_and(|line| is_blank(line)) {
                lines.pop();
            }
            let length: usize = lines.iter().map(|line| line.len()).sum();
            whole.end = whole.start + inner.get(..length)?.trim_end().len();
        }
        let name = match is_table {
            true => one.path.join("."),
            false => one.path.last()?.clone(),
        };
        (!name.is_empty()).then_some(Part {
            name,
            path: one.path,
            name_at: one.range,
            whole,
            is_table,
        })
    });
    all.collect()
}

/// Whether nothing but a comment is in a line.
fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// The texts in quotes, without these.
pub(super) fn strings(text: &str) -> Vec<Range<usize>> {
    let mut scanner = Scanner::new(text, usize::MAX);
    let _ = scanner.run();
    scanner.strings
}

/// Where a place of a text is; none in a comment.
pub(super) fn place(text: &str, offset: usize) -> Option<Place> {
    let mut scanner = Scanner::new(text, offset);
    scanner.run().err().flatten()
}

/// What the table of a place has at other places.
pub(super) fn siblings(text: &str, place: &Place, offset: usize) -> Vec<String> {
    let mut scanner = Scanner::new(text, usize::MAX);
    let _ = scanner.run();
    let own = scanner.known.into_iter().filter_map(|mut one| {
        let key = one.path.pop()?;
        let is_elsewhere = offset < one.range.start || one.range.end < offset;
        let is_same = one.path == place.path && one.scope.is_none_or(|scope| scope == place.scope);
        (is_same && is_elsewhere).then_some(key)
    });
    own.collect()
}

/// The end of a scan: the place was met, or is none of interest.
type Met = Result<(), Option<Place>>;

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    offset: usize,
    table: Vec<String>,
    scope: usize,
    known: Vec<Known>,
    strings: Vec<Range<usize>>,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str, offset: usize) -> Self {
        Scanner {
            text,
            at: 0,
            offset,
            table: Vec::new(),
            scope: 0,
            known: Vec::new(),
            strings: Vec::new(),
        }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// How far it is to one of some characters, or to the end.
    fn until(&self, ends: &[char]) -> usize {
        let rest = self.rest();
        self.at + rest.find(ends).unwrap_or(rest.len())
    }

    fn met(&self, role: Role, path: &[String]) -> Met {
        let path = path.to_vec();
        let scope = self.scope;
        Err(Some(Place { role, path, scope }))
    }

    /// Blanks, and across lines comments.
    fn skip(&mut self, also: &[char]) -> Met {
        while let Some(c) = self.peek() {
            if c == '#' && also.contains(&'\n') {
                let end = self.until(&['\n']);
                if self.at < self.offset && self.offset <= end {
                    return Err(None);
                }
                self.at = end;
            } else if c == ' ' || c == '\t' || c == '\r' || also.contains(&c) {
                self.at += c.len_utf8();
            } else {
                break;
            }
        }
        Ok(())
    }

    fn run(&mut self) -> Met {
        loop {
            let start = self.at;
            self.skip(&['\n'])?;
            let table = self.table.clone();
            let is_before_table = self.offset == self.at && self.peek() == Some('[');
            if start <= self.offset && self.offset <= self.at && !is_before_table {
                return self.met(Role::Key, &table);
            }
            match self.peek() {
                None => return Ok(()),
                Some('[') => self.header()?,
                Some(_) => {
                    self.entry(&table, &['\n'])?;
                    // What follows a value in its line is a comment, or a mistake.
                    let end = self.until(&['\n']);
                    if self.at <= self.offset && self.offset <= end {
                        return Err(None);
                    }
                    self.at = end;
                }
            }
        }
    }

    fn header(&mut self) -> Met {
        let open = self.rest();
        let is_array = open.starts_with("[[");
        if self.offset == self.at {
            return Err(None);
        }
        self.at += 1 + usize::from(is_array);
        let start = self.at;
        let end = self.until(&[']', '\n']);
        let inner = self.text.get(start..end).unwrap_or_default();
        if self.offset <= end {
            let before = self.text.get(start..self.offset).unwrap_or_default();
            let mut path = keys(before);
            path.pop();
            return self.met(Role::Header { is_array }, &path);
        }
        self.table = keys(inner);
        self.scope = start;
        let is_closed = self
            .text
            .get(end..)
            .is_some_and(|rest| rest.starts_with(']'));
        let close = end + usize::from(is_closed) * (1 + usize::from(is_array));
        self.known.push(Known {
            path: self.table.clone(),
            range: start..end,
            whole: start - 1 - usize::from(is_array)..close.min(self.text.len()),
            scope: None,
        });
        self.at = self.until(&['\n']);
        if self.offset <= self.at {
            return Err(None);
        }
        Ok(())
    }

    /// A key and its value; the key ends with its line, or where its table does.
    fn entry(&mut self, table: &[String], ends: &[char]) -> Met {
        let start = self.at;
        let mut end = start;
        let mut quote = None;
        for c in self.rest().chars() {
            match quote {
                Some(open) if c == open => quote = None,
                None if c == '"' || c == '\'' => quote = Some(c),
                None if c == '=' || ends.contains(&c) => break,
                _ if c == '\n' => break,
                _ => {}
            }
            end += c.len_utf8();
        }
        let word = self.text.get(start..end).unwrap_or_default();
        let mut path = table.to_vec();
        if start <= self.offset && self.offset <= end {
            let before = self.text.get(start..self.offset).unwrap_or_default();
            let mut own = keys(before);
            own.pop();
            path.extend(own);
            return self.met(Role::Key, &path);
        }
        path.extend(keys(word));
        self.at = end;
        let number = self.known.len();
        let range = start..start + word.trim_end().len();
        self.known.push(Known {
            path: path.clone(),
            whole: range.clone(),
            range,
            scope: Some(self.scope),
        });
        if self.peek() != Some('=') {
            return Ok(());
        }
        self.at += 1;
        self.value(&path)?;
        let written = self.text.get(..self.at).unwrap_or_default().trim_end();
        if let Some(own) = self.known.get_mut(number) {
            own.whole.end = written.len().max(own.whole.end);
        }
        Ok(())
    }

    fn value(&mut self, path: &[String]) -> Met {
        let start = self.at;
        self.skip(&[])?;
        let is_here = start <= self.offset && self.offset <= self.at;
        let plain = Role::Value { is_quoted: false };
        if is_here {
            return self.met(plain, path);
        }
        match self.peek() {
            Some(quote @ ('"' | '\'')) => {
                let triple: String = [quote; 3].iter().collect();
                let (mark, stop) = match self.rest().starts_with(&triple) {
                    true => (triple, '\0'),
                    false => (quote.to_string(), '\n'),
                };
                let open = self.at + mark.len();
                let inner = self.text.get(open..).unwrap_or_default();
                let close = inner.find(&mark).unwrap_or(inner.len());
                let close = open + close.min(inner.find(stop).unwrap_or(inner.len()));
                if open <= self.offset && self.offset <= close {
                    return self.met(Role::Value { is_quoted: true }, path);
                }
                self.strings.push(open..close);
                self.at = (close + mark.len()).min(self.text.len());
                Ok(())
            }
            Some('[') => {
                self.at += 1;
                loop {
                    let start = self.at;
                    self.skip(&['\n', ','])?;
                    if start <= self.offset && self.offset <= self.at {
                        return self.met(plain, path);
                    }
                    match self.peek() {
                        None => return Ok(()),
                        Some(']') => {
                            self.at += 1;
                            return Ok(());
                        }
                        Some(_) => {
                            let before = self.at;
                            self.value(path)?;
                            // What cannot be read ends nothing.
                            if self.at == before {
                                self.at += self.peek().map_or(0, char::len_utf8);
                            }
                        }
                    }
                }
            }
            Some('{') => {
                let outer = std::mem::replace(&mut self.scope, self.at);
                self.at += 1;
                loop {
                    let start = self.at;
                    self.skip(&['\n', ','])?;
                    if start <= self.offset && self.offset <= self.at {
                        return self.met(Role::Key, path);
                    }
                    match self.peek() {
                        None => return Ok(()),
                        Some('}') => {
                            self.at += 1;
                            self.scope = outer;
                            return Ok(());
                        }
                        Some(_) => {
                            let before = self.at;
                            self.entry(path, &['\n', ',', '}'])?;
                            if self.at == before {
                                self.at += self.peek().map_or(0, char::len_utf8);
                            }
                        }
                    }
                }
            }
            _ => {
                let end = self.until(&[',', ']', '}', '\n', '#']);
                if self.offset <= end {
                    return self.met(plain, path);
                }
                self.at = end;
                Ok(())
            }
        }
    }
}

/// The parts of a key with dots; the last may be empty.
fn keys(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '.') => parts.push(String::new()),
            (None, c) if c.is_whitespace() => {}
            (_, c) => {
                if let Some(part) = parts.last_mut() {
                    part.push(c);
                }
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The role and the way of the place that `|` marks.
    fn at(marked: &str) -> Option<(Role, String)> {
        let offset = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        place(&text, offset).map(|place| (place.role, place.path.join("/")))
    }

    #[test]
    fn places_are_found_in_half_typed_files() {
        let value = Role::Value { is_quoted: false };
        let quoted = Role::Value { is_quoted: true };
        let header = Role::Header { is_array: false };
        for (marked, role, path) in [
            ("|", Role::Key, ""),
            ("[|", header, ""),
            ("[heat.ty|", header, "heat"),
            ("[heat.|]\na = 1\n", header, "heat"),
            (
                "[[kubernetes.no|",
                Role::Header { is_array: true },
                "kubernetes",
            ),
            ("[rules]\nHOT|\n", Role::Key, "rules"),
            ("[rules]\nHOT221 =|", value, "rules/HOT221"),
            (
                "[rules]\nHOT221 = |\nHOT222 = \"off\"",
                value,
                "rules/HOT221",
            ),
            ("[rules]\nHOT221 = \"o|\"\n", quoted, "rules/HOT221"),
            ("[rules]\nHOT221 = \"|\n", quoted, "rules/HOT221"),
            ("[rules]\nHOT221 = { sev| }", Role::Key, "rules/HOT221"),
            (
                "[rules]\nHOT221 = { severity = \"|\" }",
                quoted,
                "rules/HOT221/severity",
            ),
            (
                "[rules]\nHOT221 = { severity = \"off\", | }",
                Role::Key,
                "rules/HOT221",
            ),
            (
                "[rules]\nHOT221 = [{ severity = |",
                value,
                "rules/HOT221/severity",
            ),
            ("[a]\nb = [\n  1, # x\n  |\n]\nc = 1", value, "a/b"),
            ("[a]\nb = [1]\nc|", Role::Key, "a"),
            ("heat.\"x.y\".z|", Role::Key, "heat/x.y"),
            ("[heat] \n\n|\n[rules]", Role::Key, "heat"),
        ] {
            assert_eq!(at(marked), Some((role, path.to_owned())), "{marked}");
        }
        for marked in ["# a|", "a = 1 # b|", "[a] |"] {
            assert_eq!(at(marked), None, "{marked}");
        }
    }

    #[test]
    fn what_a_table_has_already_is_known() {
        for (marked, known) in [
            ("[rules]\nHOT1 = 1\nHO|\n[heat]\nrules = 1\n", vec!["HOT1"]),
            (
                "[rules]\n[heat]\nrules = { a = 1, b = 2, | }\n",
                vec!["a", "b"],
            ),
            ("[rules]\nx = [{ a = 1 }, { | }]\n", vec![]),
            ("[[a.b]]\nc = 1\n[[a.b]]\nd = 1\n|", vec!["d"]),
            ("[rules]\na = 1\n[|]", vec!["rules"]),
        ] {
            let offset = marked.find('|').unwrap();
            let text = marked.replacen('|', "", 1);
            let place = place(&text, offset).unwrap();
            assert_eq!(siblings(&text, &place, offset), known, "{marked}");
        }
    }

    #[test]
    fn tables_reach_to_the_next_one_and_keys_to_the_end_of_their_values() {
        let text = "a = 1\n[b.c]\nd = { e = 'x' }\nf = [\n  1,\n] # of f\n\n# of g\n[[g]]\nh = 2";
        let found: Vec<(String, &str)> = parts(text)
            .into_iter()
            .map(|part| (part.name, &text[part.whole]))
            .collect();
        let expected = [
            ("a", "a = 1"),
            ("b.c", "[b.c]\nd = { e = 'x' }\nf = [\n  1,\n] # of f"),
            ("d", "d = { e = 'x' }"),
            ("e", "e = 'x'"),
            ("f", "f = [\n  1,\n]"),
            ("g", "[[g]]\nh = 2"),
            ("h", "h = 2"),
        ];
        assert_eq!(
            found,
            expected.map(|(name, whole)| (name.to_owned(), whole))
        );
        let texts: Vec<&str> = strings(text).into_iter().map(|one| &text[one]).collect();
        assert_eq!(texts, ["x"]);
    }

    #[test]
    fn no_text_is_too_strange() {
        for text in [
            "[", "[[", "=", "a = [", "a = [[{", "\"", "a = '''", "{}", "a = ]", "a = {=", "é = é",
        ] {
            for part in parts(text) {
                assert!(text.get(part.whole).is_some(), "{text}");
            }
            for offset in 0..=text.len() {
                if let Some(place) = place(text, offset) {
                    siblings(text, &place, offset);
                }
            }
        }
    }
}
