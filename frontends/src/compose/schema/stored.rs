//! The schema as it is stored: compiled, because compiling it would take a good part of the time of a small check.

use std::sync::LazyLock;

use super::compile::compile;
use super::node::Schema;

/// What is compiled.
pub(super) static DATA: &str = include_str!("../../../data/compose-spec.json");

static STORED: &[u8] = include_bytes!("../../../data/compose-spec.postcard");

/// The compiled schema. A test compares what is stored with what compiling gives now.
pub(crate) static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let stored = postcard::from_bytes(STORED).ok();
    stored.or_else(|| compile(DATA)).unwrap_or_default()
});

/// The compiled schema of Compose files, as it should be stored.
pub fn to_store() -> Option<Vec<u8>> {
    postcard::to_stdvec(&compile(DATA)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_schema_is_current() {
        assert!(
            to_store().is_some_and(|bytes| bytes == STORED),
            "run `cargo xtask compose-schema`"
        );
        let read: Schema = postcard::from_bytes(STORED).unwrap();
        assert_eq!(postcard::to_stdvec(&read).unwrap(), STORED);
    }
}
