//! Writes the pages of all rules: `cargo run -p locus-invariants --example rule-pages`.

use std::fs;
use std::path::Path;

use locus_invariants::explain::{identifiers, page, table};
use locus_invariants::rules::Library;

fn main() -> std::io::Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    fs::create_dir_all(docs.join("rules"))?;
    let library = Library::builtin();
    fs::write(docs.join("rules.md"), table(library))?;
    for id in identifiers(library) {
        if let Some(text) = page(library, id) {
            fs::write(docs.join("rules").join(format!("{id}.md")), text)?;
        }
    }
    Ok(())
}
