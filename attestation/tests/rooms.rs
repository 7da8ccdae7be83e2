//! What the documents and the manifest promise about the crate: which modules there are, and what an agent links.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests fail as tests do: by panicking"
)]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

fn crate_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Whether a path of a module (`tpm::esapi`, `protocol/drive`) is one: a file, a folder, or an item of the file above.
fn is_there(path: &str) -> bool {
    let source = crate_folder().join("src");
    let parts: Vec<&str> = path.split(['/', ':']).filter(|p| !p.is_empty()).collect();
    let file = |parts: &[&str]| {
        let base = parts
            .iter()
            .fold(source.clone(), |base, part| base.join(part));
        [base.with_extension("rs"), base.join("mod.rs"), base]
            .into_iter()
            .find(|candidate| candidate.exists())
    };
    if file(&parts).is_some() {
        return true;
    }
    let Some((item, module)) = parts.split_last() else {
        return false;
    };
    let text = file(module).filter(|found| found.is_file());
    let text = text.map(|found| std::fs::read_to_string(found).unwrap());
    text.is_some_and(|text| text.contains(&format!(" {item}")))
}

/// The words between backticks in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn the_crate_names_only_modules_that_exist() {
    let text = std::fs::read_to_string(crate_folder().join("src/lib.rs")).unwrap();
    let said: String = text
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .collect();
    let features = ["tpm", "gate", "kubernetes"];
    let named: Vec<&str> = quoted(&said).filter(|n| !features.contains(n)).collect();
    assert!(named.len() >= 5, "{said}");
    for name in named {
        assert!(is_there(name), "`{name}` is not a module of the crate");
    }
}

#[test]
fn the_documents_name_only_files_that_exist() {
    let house = crate_folder().join("..");
    let rooms = [house.clone(), crate_folder(), crate_folder().join("src")];
    let mut looked_at = 0;
    for document in ["architecture.md", "attestation.md", "gate.md"] {
        let text = std::fs::read_to_string(house.join("docs").join(document)).unwrap();
        for name in quoted(&text) {
            let written = |c: char| c.is_ascii_alphanumeric() || "/_-.".contains(c);
            let (first, rest) = name.split_once('/').unwrap_or((name, ""));
            // Media types, files of workers and the like begin with nothing that is in one of the rooms.
            let ours = !rest.is_empty()
                && !first.is_empty()
                && name.chars().all(written)
                && rooms.iter().any(|room| room.join(first).is_dir());
            if ours {
                let found = rooms.iter().any(|room| room.join(name).exists());
                assert!(found, "{document} names `{name}`, which does not exist");
                looked_at += 1;
            }
        }
    }
    assert!(looked_at > 20, "{looked_at} paths were looked at");
}

/// The crates that a build of the agent alone links.
fn crates_of_the_agent() -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .current_dir(crate_folder())
        .args(["tree", "--package", "locus-attestation", "--locked"])
        .args(["--no-default-features", "--features", "tpm"])
        .args(["--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

#[test]
fn an_agent_links_no_database_no_gate_and_no_reader_of_images() {
    let crates = crates_of_the_agent();
    assert!(crates.contains("tss-esapi"), "{crates:?}");
    for server in [
        "rusqlite",
        "libsqlite3-sys",
        "tokio-postgres",
        "tar",
        "flate2",
        "ruzstd",
        "toml",
        "miette",
        "mimalloc",
        "globset",
        "rsa",
        "p521",
        "locus-core",
        "locus",
    ] {
        assert!(!crates.contains(server), "the agent links `{server}`");
    }
}
