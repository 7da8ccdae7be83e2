//! The pages in `docs/` are those that the library gives.

use std::fs;
use std::path::Path;

use locus_invariants::explain::{explain, identifiers, page, table};
use locus_invariants::library;

#[test]
fn the_pages_are_current() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let library = library::builtin();
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let again = "run `cargo xtask rules`";
    assert_eq!(read(&docs.join("rules.md")), table(library), "{again}");
    for id in identifiers(library) {
        let path = docs.join("rules").join(format!("{id}.md"));
        assert_eq!(
            Some(read(&path)),
            page(library, id),
            "{}: {again}",
            path.display()
        );
    }
}

#[test]
fn a_rule_is_explained_by_any_of_its_names() {
    let text = explain("hot237").expect("an alias");
    assert!(text.starts_with("# HOT223"), "{text}");
    assert!(text.contains("HOT237"), "{text}");
    let text = explain("Port-Shared").expect("a name");
    assert!(text.starts_with("# HOT221 port-shared\n"), "{text}");
    assert_eq!(explain("HOT999"), None);
}
