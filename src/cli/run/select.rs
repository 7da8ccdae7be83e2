//! Which commands the user wants.

use globset::{Glob, GlobMatcher};

/// The commands that `--command` names; all without one.
pub(super) struct Selection {
    wanted: Vec<Wanted>,
}

enum Wanted {
    Index(usize),
    Name(GlobMatcher),
}

impl Selection {
    pub(super) fn new(patterns: &[String]) -> Result<Self, String> {
        let wanted = patterns
            .iter()
            .map(|pattern| match pattern.parse() {
                Ok(index) => Ok(Wanted::Index(index)),
                Err(_) => Glob::new(pattern)
                    .map(|glob| Wanted::Name(glob.compile_matcher()))
                    .map_err(|error| {
                        format!("`{pattern}` is not a valid pattern: {}", error.kind())
                    }),
            })
            .collect::<Result<_, _>>()?;
        Ok(Selection { wanted })
    }

    pub(super) fn wants(&self, index: usize, label: &str) -> bool {
        self.wanted.is_empty()
            || self.wanted.iter().any(|wanted| match wanted {
                Wanted::Index(wanted) => *wanted == index,
                Wanted::Name(glob) => glob.is_match(label),
            })
    }

    /// What to say when nothing is wanted.
    pub(super) fn no_match<'a>(&self, labels: impl Iterator<Item = &'a str>) -> String {
        let labels: Vec<&str> = labels.collect();
        if labels.is_empty() {
            "there is no command to run".to_owned()
        } else {
            format!("no command matches; there are: {}", labels.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_chosen_by_index_name_or_pattern() {
        let selection = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|p| (*p).to_owned()).collect();
            Selection::new(&patterns).unwrap()
        };
        assert!(selection(&[]).wants(3, "any"));
        assert!(selection(&["3"]).wants(3, "any"));
        assert!(!selection(&["3"]).wants(2, "any"));
        assert!(selection(&["No*"]).wants(0, "NoCycle"));
        assert!(!selection(&["No*"]).wants(0, "Acyclic"));
        assert!(selection(&["x", "run$1"]).wants(0, "run$1"));
        assert!(Selection::new(&["[".to_owned()]).is_err());
    }
}
