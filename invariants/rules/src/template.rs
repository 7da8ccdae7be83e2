//! Messages with holes: `{p.prop_network}` is filled with the names of what it leads to; `{{` is a brace.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A variable or a signature, and fields to follow from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// The variable, or the signature.
    pub start: String,
    /// The fields.
    pub fields: Vec<String>,
}

impl Path {
    /// Reads `a.b.c`.
    pub fn parse(text: &str) -> Option<Path> {
        let mut names = text.split('.').map(str::trim);
        let start = names.next()?.to_owned();
        let fields: Vec<String> = names.map(str::to_owned).collect();
        let word = |name: &String| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, '_' | '\'' | '/'))
        };
        (word(&start) && fields.iter().all(word)).then_some(Path { start, fields })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.start)?;
        self.fields
            .iter()
            .try_for_each(|field| write!(f, ".{field}"))
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    /// Text as it is.
    Text(String),
    /// The names of what a path leads to.
    Names(Path),
    /// `{chain p by requires}`: the way from an atom to itself by a field, `a -> b -> a`.
    Chain(Path, String),
    /// `{suggest p from q}`: `did you mean` the most similar name, or nothing.
    Suggest(Path, Path),
    /// `{nearest p from q}`: the most similar name, or nothing.
    Nearest(Path, Path),
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Piece::Text(text) => f.write_str(&text.replace('{', "{{")),
            Piece::Names(path) => write!(f, "{{{path}}}"),
            Piece::Chain(path, field) => write!(f, "{{chain {path} by {field}}}"),
            Piece::Suggest(path, from) => write!(f, "{{suggest {path} from {from}}}"),
            Piece::Nearest(path, from) => write!(f, "{{nearest {path} from {from}}}"),
        }
    }
}

/// A message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// Its parts.
    pub pieces: Vec<Piece>,
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| piece.fmt(f))
    }
}

impl Template {
    /// Reads a message; says what is wrong with a hole.
    pub fn parse(text: &str) -> Result<Template, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find('{') {
            let (before, after) = rest.split_at(start);
            // Two stand for one that is no hole.
            if let Some(following) = after.strip_prefix("{{") {
                pieces.push(Piece::Text(format!("{before}{{")));
                rest = following;
                continue;
            }
            let Some((hole, following)) = after.get(1..).and_then(|after| after.split_once('}'))
            else {
                return Err("a `{` is not closed".to_owned());
            };
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            pieces.push(piece(hole).ok_or_else(|| format!("`{{{hole}}}` is not a hole"))?);
            rest = following;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        Ok(Template { pieces })
    }

    /// The paths of all holes.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.pieces
            .iter()
            .flat_map(|piece| match piece {
                Piece::Text(_) => [None, None],
                Piece::Names(path) | Piece::Chain(path, _) => [Some(path), None],
                Piece::Suggest(path, from) | Piece::Nearest(path, from) => [Some(path), Some(from)],
            })
            .flatten()
    }

    /// The fields that holes follow.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        let chains = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Chain(_, field) => Some(field.as_str()),
            _ => None,
        });
        self.paths()
            .flat_map(|path| path.fields.iter().map(String::as_str))
            .chain(chains)
    }
}

fn piece(hole: &str) -> Option<Piece> {
    if let Some(rest) = hole.strip_prefix("suggest ") {
        let (path, from) = rest.split_once(" from ")?;
        return Some(Piece::Suggest(Path::parse(path)?, Path::parse(from)?));
    }
    if let Some(rest) = hole.strip_prefix("nearest ") {
        let (path, from) = rest.split_once(" from ")?;
        return Some(Piece::Nearest(Path::parse(path)?, Path::parse(from)?));
    }
    if let Some(rest) = hole.strip_prefix("chain ") {
        let (path, field) = rest.split_once(" by ")?;
        return Some(Piece::Chain(Path::parse(path)?, field.trim().to_owned()));
    }
    Path::parse(hole).map(Piece::Names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_paths() {
        let template =
            Template::parse("`{p}` on `{p.prop_network}`: {suggest r from Parameter}").unwrap();
        let paths: Vec<String> = template.paths().map(Path::to_string).collect();
        assert_eq!(paths, ["p", "p.prop_network", "r", "Parameter"]);
        assert_eq!(template.fields().collect::<Vec<_>>(), ["prop_network"]);
        assert_eq!(
            template.to_string(),
            "`{p}` on `{p.prop_network}`: {suggest r from Parameter}"
        );
        assert!(Template::parse("{p").is_err());
        assert!(Template::parse("{p q}").is_err());
        assert!(Template::parse("{}").is_err());
        assert!(Template::parse("plain").unwrap().paths().next().is_none());
    }
}
