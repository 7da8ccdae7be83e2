//! A recording and what it comes to, for people.

use std::io::{self, Write};

use super::facts::Facts;
use super::folder::Recording;
use crate::ima::{Attributor, Reader, RuntimeProfile, Subject};
use crate::logs::shown;

/// Writes every entry with its attribution, and what the registers and quotes cover.
pub(super) fn write(out: &mut impl Write, recording: &Recording, facts: &Facts) -> io::Result<()> {
    let profile = RuntimeProfile::default();
    let mut attributor = Attributor::new(&profile);
    let reader = Reader::new(&recording.log, recording.column, &recording.templates);
    for (number, entry) in (1..).zip(reader.flatten()) {
        let subject = if entry.is_violation() {
            "violation".to_owned()
        } else {
            describe(attributor.subject(&entry))
        };
        let digest = entry.file_digest().map(|digest| digest.to_string());
        let path = printable(entry.path());
        writeln!(
            out,
            "{number:>6}  PCR {:<2}  {subject:<12}  {path}  {}",
            entry.pcr(),
            digest.unwrap_or_default()
        )?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "{} entries, {} violations",
        facts.entries, facts.violations
    )?;
    for (template, count) in &facts.templates {
        writeln!(out, "template {template}: {count} entries")?;
    }
    for format in &recording.formats {
        writeln!(
            out,
            "note: `{format}` is a format in place of a name; a gate reads it only if its policy names it"
        )?;
    }
    if facts.wrong_template_hashes > 0 {
        let count = facts.wrong_template_hashes;
        writeln!(
            out,
            "WRONG: {count} entries do not have the template hash they claim"
        )?;
    }
    for (register, covered) in &facts.pcr_read_covers {
        match (covered.entries, covered.digest) {
            (Some(entries), Some(digest)) => {
                let all = facts.entries;
                writeln!(
                    out,
                    "{register}: reached after {entries} of {all} entries ({digest})"
                )?;
            }
            _ => writeln!(
                out,
                "{register}: never reached; entries are missing, as after kexec without a carried log"
            )?,
        }
    }
    for aggregate in &facts.boot_aggregate {
        let over = match (aggregate.zero, aggregate.pcrs) {
            (true, _) => "zero: the kernel found no TPM".to_owned(),
            (false, Some(pcrs)) => format!("over PCR {pcrs}"),
            (false, None) => "of registers that were not recorded".to_owned(),
        };
        writeln!(out, "boot aggregate: {}, {over}", aggregate.hash)?;
    }
    if facts.boot_aggregate.len() > 1 {
        writeln!(
            out,
            "note: several boot aggregates: the machine was restarted with kexec"
        )?;
    }
    for (name, quote) in &facts.quotes {
        let selection = if quote.selection.is_empty() {
            "no register"
        } else {
            &quote.selection
        };
        let covers = quote
            .covers
            .map_or_else(|| "nothing".to_owned(), |n| format!("{n} entries"));
        writeln!(out, "{name}: {selection}, covers {covers}")?;
        if let Some(why) = &quote.refused {
            writeln!(out, "{name}: REFUSED: {why}")?;
        }
    }
    Ok(())
}

fn describe(subject: Subject) -> String {
    match subject {
        Subject::Host => "host".to_owned(),
        Subject::Runtime => "runtime".to_owned(),
        Subject::Pod { uid, container } => match container {
            Some(id) => format!("pod {uid} container {id}"),
            None => format!("pod {uid}"),
        },
        Subject::Container(id) => format!("container {id}"),
        Subject::Unknown => "unrecognised".to_owned(),
        Subject::Unattributed => "-".to_owned(),
        Subject::Buffer => "buffer".to_owned(),
    }
}

/// A path on one line: whatever does something else than to show itself is escaped.
fn printable(path: &[u8]) -> String {
    shown(&crate::reference::PathText::new(path).to_string())
}
