//! The compiled schemas of languages.

use std::{fs, io};

use locus_frontends::{compose, kubernetes, tosca};

use crate::{about, root};

/// Compiles the schema of Compose files and stores it.
pub(crate) fn compose() -> io::Result<()> {
    let bytes = compose::schema::to_store()
        .ok_or_else(|| io::Error::other("`frontends/data/compose-spec.json` is not a schema"))?;
    store("compose-spec.postcard", &bytes)
}

/// Compiles the schema of the kinds of Kubernetes and stores it.
pub(crate) fn kubernetes() -> io::Result<()> {
    let read = |name: &str| -> io::Result<&'static str> {
        let path = root().join("frontends/data").join(name);
        Ok(fs::read_to_string(&path).map_err(about(&path))?.leak())
    };
    let types = read("kubernetes-types.json")?;
    let enums = read("kubernetes-enums.json")?;
    let schema = kubernetes::schema::compile(types, enums).map_err(io::Error::other)?;
    let bytes = kubernetes::schema::to_store(&schema)
        .ok_or_else(|| io::Error::other("the schema cannot be stored"))?;
    store("kubernetes.postcard", &bytes)
}

/// Reads the types of TOSCA that come with the program, and stores them as trees.
pub(crate) fn tosca() -> io::Result<()> {
    let trees = tosca::to_store()
        .ok_or_else(|| io::Error::other("a file in `frontends/data/tosca` cannot be stored"))?;
    let store = |(name, bytes): (String, Vec<u8>)| store(&format!("tosca/{name}"), &bytes);
    trees.into_iter().try_for_each(store)
}

fn store(name: &str, bytes: &[u8]) -> io::Result<()> {
    let path = root().join("frontends/data").join(name);
    fs::write(&path, bytes).map_err(about(&path))
}
