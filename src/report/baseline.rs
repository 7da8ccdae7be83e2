//! Findings that are known and not to be reported again.
//!
//! A baseline lists fingerprints, which survive moved lines. What keeps a file from being understood is never in it:
//! nothing in that file was checked.

use locus_core::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::fingerprint;
use super::place::{Place, path};
use crate::catalogue;
use crate::session::Batch;

const VERSION: u32 = 1;

/// Known findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Baseline {
    version: u32,
    findings: Vec<Known>,
}

/// A known finding; only the fingerprint counts, the rest is for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    fingerprint: String,
    rule: String,
    #[serde(default)]
    file: Option<String>,
    message: String,
}

impl Baseline {
    /// All findings of a check.
    pub fn of(batch: &Batch) -> Self {
        let prints = fingerprint::all(&batch.findings, &batch.sources);
        let can_be = can_be_known(&batch.findings);
        let findings = batch.findings.iter().zip(prints);
        let findings = findings.filter(|(finding, _)| can_be.contains(finding.code.as_str()));
        let findings = findings.map(|(finding, fingerprint)| {
            let place = Place::primary(finding, &batch.sources);
            Known {
                fingerprint,
                rule: finding.code.clone(),
                file: place.map(|place| path(place.file)),
                message: finding.message.clone(),
            }
        });
        Baseline {
            version: VERSION,
            findings: findings.collect(),
        }
    }

    /// Reads a baseline.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let baseline: Baseline = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if baseline.version == VERSION {
            Ok(baseline)
        } else {
            let version = baseline.version;
            Err(format!(
                "it has version {version}, and this program reads version {VERSION}"
            ))
        }
    }

    /// The text of the file.
    pub fn render(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Takes known findings out, and says how many known ones were not found.
    pub fn subtract(&self, batch: &mut Batch) -> usize {
        let mut known: FxHashMap<&str, bool> = FxHashMap::default();
        for one in &self.findings {
            known.insert(&one.fingerprint, false);
        }
        let prints = fingerprint::all(&batch.findings, &batch.sources);
        let before = batch.findings.len();
        let can_be: FxHashSet<String> = can_be_known(&batch.findings)
            .into_iter()
            .map(str::to_owned)
            .collect();
        let mut prints = prints.into_iter();
        batch.findings.retain(|finding| {
            let print = prints.next().unwrap_or_default();
            match known.get_mut(print.as_str()) {
                Some(found) if can_be.contains(&finding.code) => {
                    *found = true;
                    false
                }
                _ => true,
            }
        });
        batch.baselined += before - batch.findings.len();
        known.values().filter(|found| !**found).count()
    }
}

/// The codes that a project may turn off, and those of its own rules.
fn can_be_known(findings: &[Diagnostic]) -> FxHashSet<&str> {
    let fixed: FxHashSet<String> = catalogue::entries()
        .into_iter()
        .filter(|entry| !entry.optional)
        .map(|entry| entry.id)
        .collect();
    let codes = findings.iter().map(|finding| finding.code.as_str());
    codes.filter(|code| !fixed.contains(*code)).collect()
}
