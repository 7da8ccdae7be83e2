//! Types that a language describes by name to those who write rules.

use std::collections::BTreeMap;

/// Types that rules can be about, beside what the vocabulary of the language declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// A page for each type of the name that was asked for: what rules see of it, and an example.
    pub pages: Vec<String>,
    /// The names of all types, each with what it is.
    pub names: BTreeMap<String, String>,
}

impl Described {
    /// Adds a page that is not there yet.
    pub fn page(&mut self, page: String) {
        if !self.pages.contains(&page) {
            self.pages.push(page);
        }
    }
}
