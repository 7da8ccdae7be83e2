//! Writes the compiled rules that come with the program: `cargo run -p locus-invariants --example compile-rules`.

use std::fs;
use std::path::Path;

use locus_invariants::check::Checker;

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("library/compiled");
    fs::create_dir_all(&folder)?;
    for (language, bytes) in Checker::to_store() {
        fs::write(folder.join(format!("{language}.postcard")), bytes)?;
    }
    Ok(())
}
