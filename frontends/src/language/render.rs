//! What other programs make configurations of: how they are asked, and where in their sources each part of the answer is from.

use std::ops::Range;
use std::sync::Arc;

use super::Inputs;
use crate::loader::Loader;

/// A program of the user's that makes configurations of a source file, such as a chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renderer {
    /// Its name on the search path.
    pub program: &'static str,
    /// What it is started with.
    pub arguments: Vec<String>,
    /// Files that it is given in a fresh folder, by name and text.
    pub scratch: Vec<(&'static str, String)>,
}

/// What is to be rendered.
#[derive(Clone, Copy)]
pub struct ToRender<'a> {
    /// The source file, as the user named it or met in a folder.
    pub path: &'a str,
    /// Its folder, absolute and without links.
    pub folder: &'a str,
    /// A fresh folder, absolute and without links.
    pub scratch: &'a str,
    /// The inputs of the language.
    pub inputs: &'a Inputs,
    /// Where its files are read.
    pub loader: &'a dyn Loader,
}

impl std::fmt::Debug for ToRender<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.path)
    }
}

/// A configuration that was rendered, and where its parts are from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendering {
    /// Its text.
    pub text: String,
    /// Where parts of it are from; of those that hold a place, the shortest counts, and of these the last.
    pub origins: Vec<Origin>,
}

/// Where a part of a rendered text is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The part, in bytes.
    pub part: Range<usize>,
    /// The file it is from.
    pub path: Arc<str>,
    /// The place there.
    pub place: Range<usize>,
}

impl Rendering {
    /// Where a part of the text is from: a file, and a place in its text.
    pub fn origin(&self, part: Range<usize>) -> Option<(&str, Range<usize>)> {
        if let Some(found) = self.shortest(&part) {
            return Some((&found.path, found.place.clone()));
        }
        // It spans several: from the first to the last, when they are in one file and in that order.
        let first = self.shortest(&(part.start..part.start + 1))?;
        let last = part.end.checked_sub(1);
        let last = last.and_then(|last| self.shortest(&(last..part.end)));
        let end = last
            .filter(|last| last.path == first.path && last.place.end >= first.place.end)
            .map_or(first.place.end, |last| last.place.end);
        Some((&first.path, first.place.start..end))
    }

    fn shortest(&self, part: &Range<usize>) -> Option<&Origin> {
        let holds =
            |origin: &&Origin| origin.part.start <= part.start && part.end <= origin.part.end;
        let found = self.origins.iter().rev().filter(holds);
        found.min_by_key(|origin| origin.part.len())
    }

    /// The place that a part is from, as narrow as the texts tell: what is written there as it is here, or the `{{ }}` that
    /// wrote it.
    pub fn narrow(&self, part: &Range<usize>, place: Range<usize>, text: &str) -> Range<usize> {
        let (Some(wanted), Some(whole)) = (self.text.get(part.clone()), text.get(place.clone()))
        else {
            return place;
        };
        let wanted = wanted.trim();
        if wanted.is_empty() || wanted == whole {
            return place;
        }
        let mut same = whole.match_indices(wanted);
        if let Some((at, _)) = same.next() {
            // Of several, the one that is as far into its line as this one is into its own.
            let column = |text: &str, at: usize| {
                let before = text.get(..at).unwrap_or("");
                at - before.rfind('\n').map_or(0, |line| line + 1)
            };
            let here = column(&self.text, part.start);
            let others = same.map(|(other, _)| other).chain([at]);
            let best = others.min_by_key(|&other| {
                let there = column(text, place.start + other);
                (there.abs_diff(here), other)
            });
            let start = place.start + best.unwrap_or(at);
            return start..start + wanted.len();
        }
        let action = whole
            .rfind("}}")
            .and_then(|end| Some(whole.get(..end)?.find("{{")?..end + 2));
        match action {
            Some(action) if !whole.contains('\n') => {
                place.start + action.start..place.start + action.end
            }
            _ => place,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendering(text: &str, origins: &[(Range<usize>, Range<usize>)]) -> Rendering {
        let origins = origins.iter().map(|(part, place)| Origin {
            part: part.clone(),
            path: "a".into(),
            place: place.clone(),
        });
        Rendering {
            text: text.to_owned(),
            origins: origins.collect(),
        }
    }

    #[test]
    fn the_shortest_part_that_holds_a_place_tells_its_origin() {
        let known = rendering(
            "0123456789",
            &[(0..10, 0..99), (2..4, 20..40), (4..6, 40..60)],
        );
        assert_eq!(known.origin(2..3), Some(("a", 20..40)));
        assert_eq!(known.origin(3..5), Some(("a", 0..99)), "two parts");
        let known = rendering("0123456789", &[(2..4, 20..40), (4..6, 40..60)]);
        assert_eq!(known.origin(3..5), Some(("a", 20..60)));
        assert_eq!(known.origin(7..8), None);
    }

    #[test]
    fn a_place_is_narrowed_to_what_is_written_alike_or_to_the_markup() {
        let known = rendering("a: b\nc: d\n", &[]);
        assert_eq!(known.narrow(&(3..4), 10..14, "..........a: b"), 13..14);
        let text = "a: {{ .x }}!";
        assert_eq!(known.narrow(&(8..9), 0..12, text), 3..11);
        assert_eq!(known.narrow(&(8..9), 0..4, "a: z"), 0..4);
        assert_eq!(known.narrow(&(50..60), 0..4, "a: z"), 0..4);
    }
}
