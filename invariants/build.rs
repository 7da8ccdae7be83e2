//! Lists the files of the rule library, so that adding a rule touches no code.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    let library = Path::new(&root).join("library");
    println!("cargo::rerun-if-changed={}", library.display());
    let mut code = String::from(
        "/// The modules of the library and their texts.\nconst FILES: &[(&str, &str)] = &[\n",
    );
    let mut files = Vec::new();
    let mut examples = Vec::new();
    let mut compiled = Vec::new();
    for folder in sorted(&library)? {
        // The reference models are no rules.
        if folder.file_name().is_some_and(|name| name == "models") {
            continue;
        }
        if folder.is_file() {
            files.push(folder);
            continue;
        }
        if folder.file_name().is_some_and(|name| name == "compiled") {
            compiled.extend(sorted(&folder)?);
            continue;
        }
        for path in sorted(&folder)? {
            if path.is_file() {
                files.push(path);
            } else if path.file_name().is_some_and(|name| name == "examples") {
                let language = folder.file_name().unwrap_or_default().to_string_lossy();
                let listed = sorted(&path)?.into_iter();
                examples.extend(listed.map(|example| (language.clone().into_owned(), example)));
            }
        }
    }
    let mut modules = Vec::new();
    for path in files {
        if path.extension().is_some_and(|extension| extension == "als") {
            let module = path
                .strip_prefix(&library)
                .unwrap_or(&path)
                .with_extension("");
            let module = module.to_string_lossy().replace('\\', "/");
            let _ = writeln!(code, "    ({module:?}, include_str!({path:?})),");
            modules.push((module, fs::read(path)?));
        }
    }
    code.push_str(
        "];\n\n/// The examples: language, name and text.\nconst EXAMPLES: &[(&str, &str, &str)] = &[\n",
    );
    for (language, path) in examples {
        if let Some(name) = path.file_name().map(|name| name.to_string_lossy()) {
            let _ = writeln!(
                code,
                "    ({language:?}, {name:?}, include_str!({path:?})),"
            );
        }
    }
    code.push_str(
        "];\n\n/// The compiled rules by language.\nconst COMPILED: &[(&str, &[u8])] = &[\n",
    );
    for path in compiled {
        if let Some(language) = path.file_stem().map(|name| name.to_string_lossy()) {
            let _ = writeln!(code, "    ({language:?}, include_bytes!({path:?})),");
        }
    }
    code.push_str(
        "];\n\n/// Of the texts that the rules of a language are compiled from.\nconst FINGERPRINTS: &[(&str, u64)] = &[\n",
    );
    let folders = modules.iter().filter_map(|(module, _)| folder(module));
    for language in BTreeSet::from_iter(folders) {
        let fingerprint = fingerprint(&modules, language);
        let _ = writeln!(code, "    ({language:?}, {fingerprint:#x}),");
    }
    code.push_str("];\n");
    fs::write(Path::new(&out).join("library.rs"), code)
}

/// The folder of a module; none for one that rules of every language may open.
fn folder(module: &str) -> Option<&str> {
    module.split_once('/').map(|(folder, _)| folder)
}

/// The texts that the rules of a language are compiled from, as one number (FNV-1a).
fn fingerprint(modules: &[(String, Vec<u8>)], language: &str) -> u64 {
    let relevant = modules
        .iter()
        .filter(|(module, _)| folder(module).is_none_or(|folder| folder == language));
    let bytes = relevant.flat_map(|(module, text)| module.bytes().chain([0]).chain(text.clone()));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn sorted(folder: &Path) -> io::Result<Vec<std::path::PathBuf>> {
    let mut paths: Vec<_> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}
