//! The test suite of another analyzer, np-guard/netpol-analyzer: `NETPOL_ANALYZER` is a checkout of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::locus;

fn suite() -> Option<PathBuf> {
    let given = std::env::var_os("NETPOL_ANALYZER").map(PathBuf::from);
    if given.is_none() {
        eprintln!("not run: NETPOL_ANALYZER is not set");
    }
    given
}

/// Folders whose answer differs, and why.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "anp_and_banp_using_networks_with_ipv6_test",
        "it leaves IPv6 out, with a warning; here it is evaluated",
    ),
    (
        "anp_banp_test_multiple_warnings",
        "it leaves IPv6 out, with a warning; here it is evaluated",
    ),
    (
        "virtual_machines_example",
        "virtual machines of KubeVirt are no pods that Kubernetes knows, and are not read",
    ),
];

fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.is_empty()).collect()
}

/// The expected answers of a folder of outputs, by what the names say is asked.
fn expected(folder: &Path, prefix: &str, suffix: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let asked = name
            .strip_prefix(prefix)
            .and_then(|name| name.strip_suffix(suffix));
        if let Some(asked) = asked {
            found.push((asked.to_owned(), fs::read_to_string(&path).unwrap()));
        }
    }
    found.sort();
    found
}

/// Answers about several networks, which are not part of what policies of Kubernetes say.
fn is_about_networks(text: &str) -> bool {
    text.contains("Permitted connectivity analyzed in")
}

#[test]
fn connections_are_those_that_another_analyzer_lists() {
    let Some(suite) = suite() else { return };
    let (mut same, mut different) = (0, BTreeSet::new());
    for (name, text) in expected(
        &suite.join("test_outputs/connlist"),
        "",
        "_connlist_output.txt",
    ) {
        let folder = suite.join("tests").join(&name);
        if !folder.is_dir() || is_about_networks(&text) {
            continue;
        }
        let output = locus(&suite, &["reach", folder.to_str().unwrap()]);
        let found = String::from_utf8(output.stdout).unwrap();
        if lines(&found) == lines(&text) {
            same += 1;
        } else {
            println!("{name}: exit {:?}", output.status.code());
            different.insert(name);
        }
    }
    println!("{same} the same, {} different", different.len());
    let known: BTreeSet<String> = DIFFERENT
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    assert_eq!(different, known);
    assert!(same > 100, "{same}");
}

#[test]
fn differences_are_those_that_another_analyzer_finds() {
    let Some(suite) = suite() else { return };
    let (mut same, mut different) = (0, Vec::new());
    for (name, text) in expected(&suite.join("test_outputs/diff"), "diff_between_", ".txt") {
        let folders = name
            .split_once("_and_")
            .map(|(new, old)| (suite.join("tests").join(new), suite.join("tests").join(old)));
        let Some((new, old)) = folders.filter(|(new, old)| new.is_dir() && old.is_dir()) else {
            continue;
        };
        let args = [
            "reach",
            "--diff",
            old.to_str().unwrap(),
            new.to_str().unwrap(),
        ];
        let output = locus(&suite, &args);
        let found = String::from_utf8(output.stdout).unwrap();
        if lines(&found) == lines(&text) {
            same += 1;
        } else {
            different.push(name);
        }
    }
    println!("{same} the same; different: {different:?}");
    assert!(same > 10, "{same}");
}
