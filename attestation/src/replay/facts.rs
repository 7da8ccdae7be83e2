//! What a recording comes to, in the terms of `facts.json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::folder::Recording;
use super::quoted::{ClockFacts, QuoteFacts};
use crate::digest::{Digest, HashAlg};
use crate::ima::{
    BOOT_AGGREGATE, DEFAULT_PCR, Entry, Extend, FileDigest, LogError, Reader, template_hash,
};
use crate::tpm::PcrValues;

/// What a recording comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// How many entries the log has.
    pub entries: usize,
    /// How many of each template.
    pub templates: BTreeMap<String, usize>,
    /// How many violations.
    pub violations: usize,
    /// For each bank and register, how much of the log its value covers.
    pub pcr_read_covers: BTreeMap<String, Covered>,
    /// Whether the quote is signed by the key and answers the nonce.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpm2_checkquote: Option<bool>,
    /// How many entries the quote covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote_sha256_covers: Option<Option<u64>>,
    /// The TPM's time in the quote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote_clock: Option<ClockFacts>,
    /// Each boot aggregate in the log; more than one after kexec.
    pub boot_aggregate: Vec<Aggregate>,
    /// Every quote, with the registers it covers and why a verifier would refuse it.
    pub quotes: BTreeMap<String, QuoteFacts>,
    /// Entries whose template hash is not that of their fields.
    pub wrong_template_hashes: usize,
}

/// How much of the log the value of a register covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Covered {
    /// After how many entries the value is reached; nothing if never.
    pub entries: Option<usize>,
    /// What the bank was extended with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<&'static str>,
}

/// A boot aggregate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Aggregate {
    /// Its algorithm.
    pub hash: String,
    /// The registers it is over, if they were recorded and it is.
    pub pcrs: Option<&'static str>,
    /// Whether it is zero: there was no TPM.
    pub zero: bool,
}

/// Works out everything about a recording.
pub fn facts(recording: &Recording) -> Result<Facts, LogError> {
    let reader = Reader::new(&recording.log, recording.column, &recording.templates);
    let entries = reader.collect::<Result<Vec<_>, _>>()?;
    let mut templates = BTreeMap::new();
    for entry in &entries {
        let name = String::from_utf8_lossy(entry.template_name()).into_owned();
        *templates.entry(name).or_insert(0) += 1;
    }
    let verified = recording
        .quotes
        .iter()
        .map(|(name, quote)| (name.clone(), quote.facts(&entries, &recording.pcrs)));
    let incomplete = recording
        .incomplete
        .iter()
        .map(|(name, missing)| (name.clone(), QuoteFacts::without(missing)));
    let quotes: BTreeMap<String, QuoteFacts> = verified.chain(incomplete).collect();
    let quote = quotes.get("quote");
    Ok(Facts {
        entries: entries.len(),
        templates,
        violations: entries.iter().filter(|entry| entry.is_violation()).count(),
        pcr_read_covers: registers(&entries, &recording.pcrs),
        tpm2_checkquote: quote.map(|quote| quote.genuine),
        quote_sha256_covers: quote.map(|quote| quote.covers),
        quote_clock: quote.and_then(|quote| quote.clock),
        boot_aggregate: entries
            .iter()
            .filter_map(|entry| aggregate(entry, &recording.pcrs))
            .collect(),
        wrong_template_hashes: wrong_hashes(recording, &entries)?,
        quotes,
    })
}

fn registers(entries: &[Entry<'_>], pcrs: &PcrValues) -> BTreeMap<String, Covered> {
    let mut found = BTreeMap::new();
    for bank in HashAlg::ALL {
        for (pcr, value) in pcrs.bank(bank) {
            // The kernel's own register is explained by nothing if the log has no entry of it.
            let measured = u32::from(pcr) == DEFAULT_PCR && !value.is_zero();
            if !measured && !entries.iter().any(|entry| entry.pcr() == u32::from(pcr)) {
                continue;
            }
            let reached = |extend| reached(entries, pcr, value, extend);
            let own = reached(Extend::Native);
            let padded = own.is_none().then(|| reached(Extend::PaddedSha1)).flatten();
            let covered = Covered {
                entries: own.or(padded),
                digest: match (own, padded) {
                    (Some(_), _) => Some("own hash of the template data"),
                    (None, Some(_)) => Some("SHA-1 template hash padded with zeros"),
                    (None, None) => None,
                },
            };
            found.insert(format!("{bank}:{pcr}"), covered);
        }
    }
    found
}

/// After how many entries a register has a value; the last such place.
fn reached(entries: &[Entry<'_>], pcr: u8, wanted: Digest, extend: Extend) -> Option<usize> {
    let alg = wanted.alg();
    let mut value = Digest::zero(alg);
    let mut found = None;
    for (number, entry) in (1..).zip(entries) {
        if entry.pcr() != u32::from(pcr) {
            continue;
        }
        let with = extend.measured(alg, entry);
        value = value.extend(with.as_bytes());
        if value == wanted {
            found = Some(number);
        }
    }
    found
}

fn aggregate(entry: &Entry<'_>, pcrs: &PcrValues) -> Option<Aggregate> {
    if entry.path() != BOOT_AGGREGATE {
        return None;
    }
    let FileDigest::Known(found) = entry.file_digest()? else {
        return None;
    };
    let alg = found.alg();
    let over = |count: u8| {
        let values = (0..count)
            .map(|pcr| pcrs.get(alg, pcr))
            .collect::<Option<Vec<_>>>()?;
        let parts: Vec<&[u8]> = values.iter().map(Digest::as_bytes).collect();
        Some(alg.hash(&parts))
    };
    let pcrs = [(10, "0-9"), (8, "0-7")]
        .into_iter()
        .find_map(|(count, name)| (over(count)? == found).then_some(name));
    Some(Aggregate {
        hash: alg.name().to_owned(),
        pcrs,
        zero: found.is_zero(),
    })
}

/// Entries of any form of the log whose template hash is wrong.
fn wrong_hashes(recording: &Recording, entries: &[Entry<'_>]) -> Result<usize, LogError> {
    let wrong = |alg, entry: &&Entry<'_>| {
        !entry.is_violation() && template_hash(alg, entry).as_bytes() != entry.claimed_hash()
    };
    let mut count = entries
        .iter()
        .filter(|entry| wrong(recording.column, entry))
        .count();
    for (alg, log) in &recording.bank_logs {
        let reader = Reader::new(log, *alg, &recording.templates);
        let bank = reader.collect::<Result<Vec<_>, _>>()?;
        count += bank.iter().filter(|entry| wrong(*alg, entry)).count();
        // The files differ in their hashes alone, which do not cover everything.
        let known = |entry: &Entry<'_>| (entry.pcr(), entry.is_violation());
        let alike = |(a, b): (&Entry<'_>, &Entry<'_>)| {
            a.data() == b.data() && a.template_name() == b.template_name() && known(a) == known(b)
        };
        let same = bank.len() == entries.len() && bank.iter().zip(entries).all(alike);
        count += usize::from(!same);
    }
    Ok(count)
}

impl Facts {
    /// Whether the log explains every register and quote that was recorded.
    pub fn explained(&self) -> bool {
        self.wrong_template_hashes == 0
            && self
                .pcr_read_covers
                .values()
                .all(|covered| covered.entries.is_some())
            && self.quotes.values().all(|quote| quote.refused.is_none())
    }
}
