//! "Did you mean": the known name nearest to a mistyped one.

/// The candidate nearest to `word`, when it is near enough to be a likely typo.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let allowed = (word.chars().count() / 3).clamp(1, 4);
    let letters = Letters::of(&lower);
    candidates
        .into_iter()
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

#[cfg(test)]
mod tests {
    use super::*;

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
