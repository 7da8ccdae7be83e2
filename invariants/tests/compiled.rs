//! The rules that are stored in compiled form are those of the library.

use std::fs;
use std::path::Path;

use locus_invariants::check::Checker;

#[test]
fn the_compiled_rules_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("library/compiled");
    let mut languages = 0;
    for (language, bytes) in Checker::to_store() {
        let stored = fs::read(folder.join(format!("{language}.postcard")));
        assert!(
            stored.is_ok_and(|stored| stored == bytes),
            "{language}: run `cargo run -p locus-invariants --example compile-rules`"
        );
        languages += 1;
    }
    assert_eq!(languages, fs::read_dir(folder).map_or(0, Iterator::count));
}
