//! The compiled schema of Compose files.

use std::{fs, io};

use locus_frontends::compose::schema;

use crate::{about, root};

/// Compiles the schema and stores it.
pub(crate) fn write() -> io::Result<()> {
    let path = root().join("frontends/data/compose-spec.postcard");
    let bytes = schema::to_store()
        .ok_or_else(|| io::Error::other("`frontends/data/compose-spec.json` is not a schema"))?;
    fs::write(&path, bytes).map_err(about(&path))
}
