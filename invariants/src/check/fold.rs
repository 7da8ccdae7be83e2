//! What is wrong with every member of a group is said once.
//!
//! The members of a group are written once and exist many times: `group[0]`, `group[1]`, and so on. What breaks a
//! rule in one breaks it in all, on the same lines.

use locus_core::{Diagnostic, Severity, Span};
use rustc_hash::FxHashMap;

/// What findings have in common that differ only in the members they are about.
type Key = (String, Severity, String, Vec<Span>);

/// Keeps the first of the findings that differ only in members of groups, and says how many there are.
pub(super) fn fold_members(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut first: FxHashMap<Key, usize> = FxHashMap::default();
    let mut kept: Vec<(Diagnostic, usize)> = Vec::with_capacity(findings.len());
    for finding in findings {
        let Some(message) = without_members(&finding.message) else {
            kept.push((finding, 0));
            continue;
        };
        let spans = finding.labels.iter().chain(&finding.related);
        let spans: Vec<Span> = spans.map(|label| label.span).collect();
        let key = (finding.code.clone(), finding.severity, message, spans);
        match first.get(&key).and_then(|&at| kept.get_mut(at)) {
            Some((first, more)) => {
                *more += 1;
                for member in finding.members {
                    if !first.members.contains(&member) {
                        first.members.push(member);
                    }
                }
            }
            None => {
                first.insert(key, kept.len());
                kept.push((finding, 0));
            }
        }
    }
    let told = |(mut finding, more): (Diagnostic, usize)| {
        if more > 0 {
            finding.message = format!("{} (and {more} more like it)", finding.message);
        }
        finding
    };
    kept.into_iter().map(told).collect()
}

/// A message without the numbers of members; none when it names no member.
fn without_members(message: &str) -> Option<String> {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    let mut found = false;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        out.push('[');
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, tail) = after.split_at(digits);
        if !number.is_empty() && tail.starts_with(']') {
            found = true;
        } else {
            out.push_str(number);
        }
        rest = tail;
    }
    out.push_str(rest);
    found.then_some(out)
}

#[cfg(test)]
mod tests {
    use locus_core::{Diagnostic, Sources, Span};

    use super::fold_members;

    fn finding(message: &str, start: usize) -> Diagnostic {
        let file = Sources::new().add("t.yaml", "resources: {}");
        Diagnostic::error("HOT014", message).at(Span::new(file, start, start + 1))
    }

    fn messages(findings: Vec<Diagnostic>) -> Vec<String> {
        let folded = fold_members(findings);
        folded.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn members_of_one_group_are_told_of_once() {
        let findings = vec![
            finding("`g[0]` lacks `x`", 1),
            finding("`g[1]` lacks `x`", 1),
            finding("`g[2]` lacks `x`", 1),
        ];
        assert_eq!(
            messages(findings),
            ["`g[0]` lacks `x` (and 2 more like it)"]
        );
    }

    #[test]
    fn what_is_said_of_others_stays() {
        let findings = vec![
            finding("`g[0]` lacks `x`", 1),
            finding("`g[0]` lacks `y`", 1),
            finding("`g[1]` lacks `x`", 2),
            finding("`a` lacks `x`", 1),
            finding("`b` lacks `x`", 1),
            finding("the pattern `[0-9]` is wrong", 1),
            finding("the pattern `[1-9]` is wrong", 1),
        ];
        let before: Vec<String> = findings.iter().map(|one| one.message.clone()).collect();
        assert_eq!(messages(findings), before);
    }
}
