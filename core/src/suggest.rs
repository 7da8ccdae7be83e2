//! "Did you mean": the known name nearest to a mistyped one.

/// The candidate nearest to `word`, when it is near enough to be a likely typo.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let allowed = (word.chars().count() / 3).clamp(1, 4);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != word)
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|&(distance, _)| distance <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
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
}
