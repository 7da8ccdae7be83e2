//! Writes the compiled schema of Compose files: `cargo run -p locus-frontends --example compile-schema`.

use std::path::Path;
use std::{fs, io};

use locus_frontends::compose::schema;

fn main() -> io::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/compose-spec.postcard");
    let bytes = schema::to_store().ok_or(io::ErrorKind::InvalidData)?;
    fs::write(path, bytes)
}
