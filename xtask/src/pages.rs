//! The pages of the rules in `docs/`.

use std::collections::BTreeSet;
use std::{fs, io};

use locus_frontends::language::{Registry, schema};
use locus_invariants::explain::{identifiers, page, table};
use locus_invariants::library;

use crate::{about, root};

/// The schema of settings.
const SETTINGS: &str = "schemas/settings-1.json";

/// Writes the table of all rules, a page for each and the schema of settings, and removes pages of rules that are gone.
pub(crate) fn write() -> io::Result<()> {
    let docs = root().join("docs");
    let folder = docs.join("rules");
    fs::create_dir_all(&folder).map_err(about(&folder))?;
    let library = library::builtin();
    let mut current = BTreeSet::new();
    current.insert(docs.join("rules.md"));
    update(&docs.join("rules.md"), &table(library))?;
    for id in identifiers(library) {
        if let Some(text) = page(library, id) {
            let path = folder.join(format!("{id}.md"));
            update(&path, &text)?;
            current.insert(path);
        }
    }
    for entry in fs::read_dir(&folder).map_err(about(&folder))? {
        let path = entry?.path();
        if !current.contains(&path) {
            println!("removed {}", path.display());
            fs::remove_file(&path).map_err(about(&path))?;
        }
    }
    let schema = schema::settings(&Registry::builtin());
    update(&docs.join(SETTINGS), &format!("{schema:#}\n"))
}

/// Writes a file that has another text.
fn update(path: &std::path::Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    println!("wrote {}", path.display());
    fs::write(path, text).map_err(about(path))
}
