//! What makes a finding the same after lines have moved.
//!
//! A fingerprint is made from the rule, the file, the text of the line and the things that break the rule together, but
//! not from positions. Findings that agree in all of it are numbered in the order of the text.

use locus_core::{Diagnostic, Sources};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use super::place::path;

/// The name under which formats give the fingerprint; another way to compute it gets another name.
pub const NAME: &str = "locus/v1";

/// The fingerprints of findings, in their order.
pub fn all<'a>(
    findings: impl IntoIterator<Item = &'a Diagnostic>,
    sources: &Sources,
) -> Vec<String> {
    all_renamed(findings, sources, |name| name)
}

/// The same, as if files had other names.
pub fn all_renamed<'a>(
    findings: impl IntoIterator<Item = &'a Diagnostic>,
    sources: &Sources,
    rename: impl Fn(String) -> String,
) -> Vec<String> {
    let mut seen: FxHashMap<[u8; 32], u32> = FxHashMap::default();
    findings
        .into_iter()
        .map(|finding| {
            let key = key(finding, sources, &rename);
            let count = seen.entry(key).or_default();
            *count += 1;
            let mut hash = Sha256::new();
            hash.update(key);
            hash.update(count.to_le_bytes());
            let digest = hash.finalize();
            let bytes = digest.iter().take(16);
            bytes.map(|byte| format!("{byte:02x}")).collect()
        })
        .collect()
}

fn key(finding: &Diagnostic, sources: &Sources, rename: &impl Fn(String) -> String) -> [u8; 32] {
    let mut hash = Sha256::new();
    // The length before each part, so that two parts are never one.
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    add(&finding.code);
    match finding.primary() {
        Some(span) => {
            add(&rename(path(sources.name(span.file))));
            let text = sources.text(span.file);
            let (before, after) = text
                .split_at_checked(span.start as usize)
                .unwrap_or((text, ""));
            add(before.rsplit('\n').next().unwrap_or("").trim_start());
            add(after.split('\n').next().unwrap_or("").trim_end());
        }
        None => add(&finding.message),
    }
    for member in &finding.members {
        add(&member.name);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use locus_core::Span;

    fn of(text: &str, at: &[&str]) -> Vec<String> {
        let mut sources = Sources::new();
        let file = sources.add("./a.yaml", text);
        let mut from = 0;
        let findings: Vec<Diagnostic> = at
            .iter()
            .map(|word| {
                let start = from + text[from..].find(word).unwrap();
                from = start + 1;
                Diagnostic::error("X001", "wrong").at(Span::new(file, start, start + word.len()))
            })
            .collect();
        all(&findings, &sources)
    }

    #[test]
    fn moved_lines_keep_their_fingerprints() {
        let before = of("a: 1\nb: 2\n", &["1", "2"]);
        let after = of("# new\n\na: 1\nc: 3\n  b: 2\r\n", &["1", "2"]);
        assert_eq!(before, after);
        assert_ne!(before[0], before[1]);
    }

    #[test]
    fn equal_lines_are_numbered() {
        let twice = of("- x\n- x\n", &["x", "x"]);
        assert_ne!(twice[0], twice[1]);
        assert_eq!(of("- x\n", &["x"]), twice[..1]);
        assert_ne!(of("- xy\n", &["x"]), twice[..1], "another line");
    }
}
