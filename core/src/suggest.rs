//! "Did you mean": the known name nearest to a mistyped one.

use crate::diagnostic::{Applicability, Diagnostic, Edit, Fix};
use crate::source::{Sources, Span};

/// The candidate nearest to `word`, when it is near enough to be a likely typo.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_of(word, &mut candidates.into_iter())
}

/// [`nearest`], built once for all kinds of candidates.
fn nearest_of<'a>(word: &str, candidates: &mut dyn Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let allowed = (word.chars().count() / 3).clamp(1, 4);
    let letters = Letters::of(&lower);
    candidates
        .filter(|candidate| *candidate != word && letters.changes(candidate) <= allowed)
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|&(distance, _)| distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How often each character of a text occurs, those beyond ASCII as one.
struct Letters([i32; 128]);

impl Letters {
    fn of(text: &str) -> Letters {
        let mut counts = [0; 128];
        for c in text.chars() {
            if let Some(count) = counts.get_mut(slot(c)) {
                *count += 1;
            }
        }
        Letters(counts)
    }

    /// At least so many changes lead to another text: what only one of the two has. Most names are too far away to
    /// be compared letter by letter.
    fn changes(&self, other: &str) -> usize {
        // Beyond ASCII a text may change its length with its case.
        if !other.is_ascii() {
            return 0;
        }
        let mut left = self.0;
        let (mut more, mut fewer): (i32, i32) = (0, self.0.iter().sum());
        for c in other.chars() {
            let Some(count) = left.get_mut(slot(c.to_ascii_lowercase())) else {
                continue;
            };
            *count -= 1;
            if *count < 0 {
                more += 1;
            } else {
                fewer -= 1;
            }
        }
        usize::try_from(more.max(fewer)).unwrap_or(0)
    }
}

fn slot(c: char) -> usize {
    if c.is_ascii() { c as usize } else { 0 }
}

/// The help line for a mistyped name: ``did you mean `x`?``.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates).map(|name| format!("did you mean `{name}`?"))
}

/// The change that follows a help line of [`did_you_mean`]: the mistyped word, and nothing around it, becomes the one that is
/// meant. None when the text at the place does not have the word exactly once.
pub fn respelling(diagnostic: &Diagnostic, sources: &Sources) -> Option<Fix> {
    let help = diagnostic.help.as_deref()?;
    let meant = help.strip_prefix("did you mean `")?.strip_suffix("`?")?;
    // A word that YAML could read as something else is better written by hand.
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '$');
    if !meant.chars().all(is_plain) {
        return None;
    }
    let span = diagnostic.primary()?;
    let text = sources.snippet(span);
    let place = |word: &str| {
        let mut places = whole_words(text, word);
        let first = places.next()?;
        places.next().is_none().then_some(first)
    };
    // Of the words in backticks, the mistyped one is the one that the other is near to, or has the last part of.
    let last = |name: &str| name.rsplit(['.', ':', '/']).next().map(str::to_owned);
    let is_near = |word: &str| nearest(word, [meant]).is_some() || last(word) == last(meant);
    let mut quoted = diagnostic.message.split('`').skip(1).step_by(2);
    let (at, written) =
        quoted.find_map(|word| Some((place(word)?, word)).filter(|_| is_near(word)))?;
    let start = span.start as usize + at;
    Some(Fix {
        title: format!("replace `{written}` with `{meant}`"),
        applicability: Applicability::Unsafe,
        edits: vec![Edit {
            span: Span::new(span.file, start, start + written.len()),
            text: meant.to_owned(),
        }],
    })
}

/// Where a word stands in a text by itself.
fn whole_words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| {
            let before = text.get(..*at).and_then(|text| text.chars().next_back());
            let after = text.get(at + word.len()..);
            let after = after.and_then(|text| text.chars().next());
            !word.is_empty() && !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn respelled(text: &str, at: &str, message: &str, help: &str) -> Option<String> {
        let mut sources = Sources::new();
        let file = sources.add("a.yaml", text);
        let start = text.find(at).expect("the place is in the text");
        let span = Span::new(file, start, start + at.len());
        let diagnostic = Diagnostic::error("x", message).at(span).help(help);
        let fix = respelling(&diagnostic, &sources)?;
        let [edit] = fix.edits.as_slice() else {
            panic!("one word is replaced");
        };
        let mut mended = text.to_owned();
        mended.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
        Some(mended)
    }

    #[test]
    fn the_mistyped_word_alone_is_replaced() {
        let message = "`services.web` cannot be `alway`";
        let help = "did you mean `always`?";
        let mend = |text: &str, at: &str| respelled(text, at, message, help);
        assert_eq!(
            mend("pull: \"alway\" # alway", "\"alway\"").as_deref(),
            Some("pull: \"always\" # alway"),
            "quotes stay"
        );
        assert_eq!(
            mend("[alway, 1]", "alway, 1").as_deref(),
            Some("[always, 1]"),
            "so does what else is at the place"
        );
        assert_eq!(mend("[alway, alway]", "alway, alway"), None, "which one?");
        assert_eq!(mend("alway-s", "alway-s"), None, "not a word by itself");
        assert_eq!(mend("other", "other"), None, "it is not there");
    }

    #[test]
    fn only_a_near_word_is_taken_for_another() {
        let wrong = |help| respelled("image: x", "image", "`image` is not `imgae`", help);
        assert_eq!(wrong("did you mean `volumes`?"), None);
        assert_eq!(wrong("write `imag`"), None);
        assert_eq!(wrong("did you mean `imag: e`?"), None, "not a plain word");
        assert_eq!(
            wrong("did you mean `my.types.image`?").as_deref(),
            Some("my.types.image: x")
        );
    }

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let names = ["get_param", "get_resource", "str_replace"];
        assert_eq!(nearest("get_parm", names), Some("get_param"));
        assert_eq!(nearest("Get_Param", names), Some("get_param"));
        assert_eq!(nearest("yaql", names), None);
        assert_eq!(nearest("a", ["b"]), Some("b"), "short names differ by one");
    }

    #[test]
    fn names_are_left_out_only_when_they_are_too_far() {
        let names = [
            "get_param",
            "get_rapam",
            "param_get",
            "GET_PARAMS",
            "gét_param",
            "g",
            "",
        ];
        for (word, name) in names.iter().flat_map(|&a| names.map(|b| (a, b))) {
            let lower = word.to_lowercase();
            let distance = strsim::damerau_levenshtein(&lower, &name.to_lowercase());
            assert!(
                Letters::of(&lower).changes(name) <= distance,
                "{word} {name}"
            );
        }
    }
}
