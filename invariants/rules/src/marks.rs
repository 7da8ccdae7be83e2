//! The marks of examples: where a rule is broken.
//!
//! A comment `#   ^ HOT221` marks the line above it: a finding of that rule starts there, at the column of the caret. As a
//! comment cannot point at the first column, `#^` does.

use std::collections::BTreeSet;

/// Where a finding is expected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The identifier of the rule.
    pub rule: String,
}

/// The marks of a text.
pub fn marks(text: &str) -> BTreeSet<Mark> {
    let mut line = 0;
    let mut marks = BTreeSet::new();
    for (at, content) in text.lines().enumerate() {
        match content.split_once('^').filter(|_| content.starts_with('#')) {
            Some((before, rule)) => {
                marks.insert(Mark {
                    line,
                    column: match before.chars().count() {
                        1 => 1,
                        count => count + 1,
                    },
                    rule: rule.trim().to_owned(),
                });
            }
            None => line = at + 1,
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caret_marks_the_line_above() {
        let text = "a: 1\n#  ^ HOT001\n#^ HOT002\n# plain\nb: 2\n";
        let found: Vec<(usize, usize, String)> = marks(text)
            .into_iter()
            .map(|mark| (mark.line, mark.column, mark.rule))
            .collect();
        assert_eq!(
            found,
            [(1, 1, "HOT002".to_owned()), (1, 4, "HOT001".to_owned())]
        );
    }
}
