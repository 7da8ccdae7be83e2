//! Edits that mend what a rule reports.
//!
//! ```text
//! fix: safe remove c.version
//! fix: unsafe replace r with `{nearest r from Parameter}`
//! fix: unsafe add `depends_on: {i}` to f
//! fix: unsafe replace c.max with `{c.min}`; replace c.min with `{c.max}`
//! ```
//!
//! `remove` takes the entry or item at a place out; `replace` puts a text where a value is written; `add` puts an entry into the
//! map that is written at a place, within the maps that lead to it in `properties.config_drive: true`; each `^` before it is one
//! map farther out. A safe edit never changes what a correct configuration means; others are offered, and applied
//! on request. An edit whose holes cannot be filled is not offered.

use serde::{Deserialize, Serialize};

use crate::template::{Path, Template};

/// An edit that mends what a rule reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// Whether it can be applied without a second look.
    pub safe: bool,
    /// What is done, all at once.
    pub changes: Vec<Change>,
}

/// What an edit does to the text of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// Takes out the entry of a map, or the item of a list, at a place.
    Remove(Path),
    /// Puts a text where the value at a place is written.
    Replace(Path, Template),
    /// Puts an entry into the map at a place.
    Add(Template, Path),
}

impl Fix {
    /// Reads the text after `fix:`; says what is wrong with it.
    pub fn parse(text: &str) -> Result<Fix, String> {
        let (safe, rest) = match text.trim().split_once(' ') {
            Some(("safe", rest)) => (true, rest.trim()),
            Some(("unsafe", rest)) => (false, rest.trim()),
            _ => return Err("a fix starts with `safe` or `unsafe`".to_owned()),
        };
        let changes = rest.split("; ").map(|one| Change::parse(one.trim()));
        Ok(Fix {
            safe,
            changes: changes.collect::<Result<_, _>>()?,
        })
    }
}

impl Change {
    fn parse(text: &str) -> Result<Change, String> {
        Ok(match text.split_once(' ') {
            Some(("remove", rest)) => Change::Remove(path(rest)?),
            Some(("replace", rest)) => {
                let (place, text) = rest
                    .split_once(" with ")
                    .ok_or("write `replace PLACE with `TEXT``")?;
                Change::Replace(path(place)?, quoted(text)?)
            }
            Some(("add", rest)) => {
                let (text, place) = rest
                    .rsplit_once(" to ")
                    .ok_or("write `add `ENTRY` to PLACE`")?;
                Change::Add(quoted(text)?, path(place)?)
            }
            _ => return Err("a fix is to `remove`, `replace` or `add` something".to_owned()),
        })
    }

    /// The place that is edited.
    pub fn place(&self) -> &Path {
        match self {
            Change::Remove(path) | Change::Replace(path, _) | Change::Add(_, path) => path,
        }
    }

    /// The text that is put there.
    pub fn text(&self) -> Option<&Template> {
        match self {
            Change::Remove(_) => None,
            Change::Replace(_, text) | Change::Add(text, _) => Some(text),
        }
    }
}

fn path(text: &str) -> Result<Path, String> {
    Path::parse(text.trim()).ok_or_else(|| format!("`{}` is not a path to a place", text.trim()))
}

fn quoted(text: &str) -> Result<Template, String> {
    let inner = text
        .trim()
        .strip_prefix('`')
        .and_then(|text| text.strip_suffix('`'))
        .ok_or("the text of a fix stands between backticks")?;
    Template::parse(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_removes_replaces_or_adds() {
        let fix = Fix::parse("safe remove c.version").unwrap();
        assert!(fix.safe);
        assert_eq!(fix.changes[0].place().to_string(), "c.version");
        assert_eq!(fix.changes[0].text(), None);
        let fix = Fix::parse("unsafe replace r with `{nearest r from Parameter}`").unwrap();
        assert!(!fix.safe);
        assert_eq!(fix.changes[0].place().to_string(), "r");
        assert_eq!(fix.changes[0].text().unwrap().paths().count(), 2);
        let fix = Fix::parse("unsafe add `depends_on: {i}` to f").unwrap();
        assert_eq!(fix.changes[0].place().to_string(), "f");
        let fix = Fix::parse("unsafe replace a with `{b}`; replace b with `{a}`").unwrap();
        assert_eq!(fix.changes.len(), 2);
    }

    #[test]
    fn what_is_wrong_with_a_fix_is_said() {
        for (text, message) in [
            ("remove p", "a fix starts with `safe` or `unsafe`"),
            ("safe", "a fix starts with `safe` or `unsafe`"),
            (
                "safe delete p",
                "a fix is to `remove`, `replace` or `add` something",
            ),
            (
                "safe remove",
                "a fix is to `remove`, `replace` or `add` something",
            ),
            ("safe remove p q", "`p q` is not a path to a place"),
            ("safe replace p", "write `replace PLACE with `TEXT``"),
            (
                "safe replace p with x",
                "the text of a fix stands between backticks",
            ),
            ("safe add `x: 1`", "write `add `ENTRY` to PLACE`"),
            ("safe add `x: {` to p", "a `{` is not closed"),
        ] {
            assert_eq!(Fix::parse(text), Err(message.to_owned()), "{text}");
        }
    }
}
