//! How a model wants its instances drawn, from the doc comments of its signatures.
//!
//! A line `theme: WORDS` is about the signature itself, `theme FIELD: WORDS` about one of its fields.

use locus_core::{Diagnostic, suggest};
use locus_grammar::model::{Model, Sig};
use serde::Serialize;

const COLOURS: [&str; 9] = [
    "black",
    "blue",
    "green",
    "grey",
    "orange",
    "purple",
    "sky",
    "vermilion",
    "yellow",
];
const SHAPES: [&str; 4] = ["box", "diamond", "ellipse", "hexagon"];
const WORDS: [&str; 6] = [
    "colour=",
    "shape=",
    "label=",
    "hide",
    "project",
    "attribute",
];

/// How atoms of a signature, or tuples of a field, are drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Theme {
    /// A colour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<&'static str>,
    /// The shape of boxes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<&'static str>,
    /// What it is called instead of its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Not drawn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hide: bool,
    /// Projected over from the start.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub project: bool,
    /// Written in the box of the first atom, not drawn as a line.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub attribute: bool,
}

/// The themes of a signature and of its fields by their names, and what is wrong with what is written.
pub(super) fn of(sig: &Sig, model: &Model) -> (Theme, Vec<(String, Theme)>, Vec<Diagnostic>) {
    let mut own = Theme::default();
    let mut fields: Vec<(String, Theme)> = Vec::new();
    let mut wrong = Vec::new();
    for line in sig.doc.as_deref().unwrap_or("").lines() {
        let Some(rest) = line.trim().strip_prefix("theme") else {
            continue;
        };
        let Some((name, words)) = rest.split_once(':') else {
            continue;
        };
        // `themes: ...` is a sentence.
        if !name.is_empty() && !name.starts_with(' ') {
            continue;
        }
        let name = name.trim();
        let names = || sig.fields.iter().map(|&id| model.field(id).name.as_str());
        let mut refuse = |message: String, help: Option<String>| {
            wrong.push(
                Diagnostic::warning("theme", message)
                    .at(sig.span)
                    .maybe_help(help),
            );
        };
        let theme = if name.is_empty() {
            &mut own
        } else if names().any(|known| known == name) {
            if !fields.iter().any(|(known, _)| known == name) {
                fields.push((name.to_owned(), Theme::default()));
            }
            match fields.iter_mut().find(|(known, _)| known == name) {
                Some((_, theme)) => theme,
                None => continue,
            }
        } else {
            refuse(
                format!("`{}` has no field `{name}` to draw", short(&sig.label)),
                suggest::did_you_mean(name, names()),
            );
            continue;
        };
        for word in words.split_whitespace() {
            if let Err((message, help)) = read(word, theme) {
                refuse(message, help);
            }
        }
    }
    (own, fields, wrong)
}

fn read(word: &str, theme: &mut Theme) -> Result<(), (String, Option<String>)> {
    let among = |value: &str, known: &[&'static str], what: &str| {
        let found = known.iter().find(|known| **known == value).copied();
        found.ok_or_else(|| {
            let all = known.join("`, `");
            (
                format!("`{value}` is not a {what}"),
                Some(format!("use one of `{all}`")),
            )
        })
    };
    match word.split_once('=') {
        Some(("colour" | "color", value)) => theme.colour = Some(among(value, &COLOURS, "colour")?),
        Some(("shape", value)) => theme.shape = Some(among(value, &SHAPES, "shape")?),
        Some(("label", value)) if !value.is_empty() => theme.label = Some(value.replace('_', " ")),
        None if word == "hide" => theme.hide = true,
        None if word == "project" => theme.project = true,
        None if word == "attribute" => theme.attribute = true,
        _ => {
            let help = suggest::did_you_mean(word, WORDS);
            let help = help.unwrap_or_else(|| format!("use `{}`", WORDS.join("`, `")));
            return Err((format!("a theme does not have `{word}`"), Some(help)));
        }
    }
    Ok(())
}

/// A label without the name of the root module.
pub(super) fn short(label: &str) -> &str {
    label.strip_prefix("this/").unwrap_or(label)
}

#[cfg(test)]
mod tests {
    use super::*;
    use locus_core::Sources;

    fn themes(doc: &str) -> (Theme, Vec<(String, Theme)>, Vec<String>) {
        let text = format!("/** {doc} */\nsig A {{ next: set A }}\n");
        let loader = locus_invariants::models::Loader;
        let reading = locus_grammar::read("a.als", &text, &mut Sources::new(), &loader);
        let model = reading.model.unwrap();
        let sig = model.sigs.iter().find(|sig| sig.label == "this/A").unwrap();
        let (own, fields, wrong) = of(sig, &model);
        let wrong = wrong.into_iter().map(|one| one.message);
        (own, fields, wrong.collect())
    }

    #[test]
    fn signatures_and_fields_have_themes() {
        let (own, fields, wrong) = themes(
            "Something.\n * theme: colour=sky shape=ellipse label=a_thing\n * theme next: colour=grey attribute",
        );
        assert_eq!(wrong, Vec::<String>::new());
        assert_eq!((own.colour, own.shape), (Some("sky"), Some("ellipse")));
        assert_eq!(own.label.as_deref(), Some("a thing"));
        let [(name, next)] = fields.as_slice() else {
            unreachable!("one field");
        };
        assert_eq!(
            (name.as_str(), next.colour, next.attribute),
            ("next", Some("grey"), true)
        );
    }

    #[test]
    fn what_a_theme_does_not_have_is_said() {
        let (own, _, wrong) = themes(
            "theme: colour=pink hidden\n theme nxt: hide\n themes: are not read\n a theme: neither",
        );
        assert_eq!(own, Theme::default());
        let expected = [
            "`pink` is not a colour",
            "a theme does not have `hidden`",
            "`A` has no field `nxt` to draw",
        ];
        assert_eq!(wrong, expected);
    }
}
