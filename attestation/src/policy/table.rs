//! A table of the file while it is read: keys that nobody asked for are errors.

use locus_core::suggest::nearest;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::errors::Finding;

/// A value with its place.
pub(super) type Value<'t> = &'t Spanned<DeValue<'t>>;

/// The errors found so far.
#[derive(Default)]
pub(super) struct Findings(pub(super) Vec<Finding>);

impl Findings {
    /// Something is wrong with a value.
    pub(super) fn at<T>(&mut self, place: &Spanned<T>, message: impl Into<String>) {
        self.with_help(place, message, None);
    }

    /// The same, with what to do about it.
    pub(super) fn with_help<T>(
        &mut self,
        place: &Spanned<T>,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.0.push(Finding {
            span: place.span(),
            message: message.into(),
            help,
        });
    }

    /// A text.
    pub(super) fn text<'t>(&mut self, value: Value<'t>) -> Option<&'t str> {
        let text = value.get_ref().as_str();
        if text.is_none() {
            self.wrong_type(value, "a string");
        }
        text
    }

    /// A whole number within a range.
    pub(super) fn number(
        &mut self,
        value: Value<'_>,
        range: std::ops::RangeInclusive<u64>,
    ) -> Option<u64> {
        let DeValue::Integer(number) = value.get_ref() else {
            self.wrong_type(value, "a whole number");
            return None;
        };
        let number = u64::from_str_radix(&number.as_str().replace('_', ""), number.radix()).ok();
        let found = number.filter(|number| range.contains(number));
        if found.is_none() {
            let (from, to) = range.into_inner();
            self.at(value, format!("expected a number from {from} to {to}"));
        }
        found
    }

    /// A truth value.
    pub(super) fn boolean(&mut self, value: Value<'_>) -> Option<bool> {
        let found = value.get_ref().as_bool();
        if found.is_none() {
            self.wrong_type(value, "`true` or `false`");
        }
        found
    }

    /// A list, each element read by itself; what cannot be read is left out.
    pub(super) fn list<'t, T>(
        &mut self,
        value: Value<'t>,
        mut read: impl FnMut(&mut Self, Value<'t>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Some(elements) = value.get_ref().as_array() else {
            self.wrong_type(value, "a list");
            return None;
        };
        Some(
            elements
                .iter()
                .filter_map(|element| read(self, element))
                .collect(),
        )
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(&mut self, value: Value<'_>, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(value)?;
        if let Some((_, found)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*found);
        }
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let help =
            nearest(text, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        self.with_help(
            value,
            format!("`{text}` is not one of {}", quoted.join(", ")),
            help,
        );
        None
    }

    /// A table.
    pub(super) fn table<'t>(&mut self, value: Value<'t>) -> Option<Table<'t>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(value, "a table");
        }
        table.map(Table::new)
    }

    fn wrong_type(&mut self, value: Value<'_>, expected: &str) {
        let found = value.get_ref().type_str();
        self.at(value, format!("expected {expected}, found {found}"));
    }
}

/// A table that is being read.
pub(super) struct Table<'t> {
    entries: Vec<(&'t Spanned<DeString<'t>>, Value<'t>)>,
    asked: Vec<&'static str>,
}

impl<'t> Table<'t> {
    pub(super) fn new(table: &'t DeTable<'t>) -> Self {
        Table {
            entries: table.iter().collect(),
            asked: Vec::new(),
        }
    }

    /// The value of a key, which is known from now on.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Value<'t>> {
        self.asked.push(key);
        let place = self
            .entries
            .iter()
            .position(|(name, _)| name.get_ref() == key)?;
        Some(self.entries.swap_remove(place).1)
    }

    /// All entries, of a table whose keys are free.
    pub(super) fn into_entries(self) -> Vec<(&'t Spanned<DeString<'t>>, Value<'t>)> {
        self.entries
    }

    /// Reports the keys that nobody asked for.
    pub(super) fn finish(self, findings: &mut Findings) {
        for (key, _) in &self.entries {
            let name = key.get_ref();
            let help = nearest(name, self.asked.iter().copied())
                .map(|near| format!("did you mean `{near}`?"));
            let help = help.or_else(|| {
                let known: Vec<String> = self.asked.iter().map(|key| format!("`{key}`")).collect();
                Some(format!("known here: {}", known.join(", ")))
            });
            findings.with_help(key, format!("unknown key `{name}`"), help);
        }
    }
}
