//! Quotes of a recording: are they genuine, and how much of the log do they cover?

use std::collections::BTreeMap;

use serde::Serialize;

use crate::digest::{Digest, HashAlg};
use crate::ima::{Entry, template_hash};
use crate::tpm::attest::QuoteAttest;
use crate::tpm::{PcrSelection, PcrValues, Public, Signature};

/// A quote as it was recorded.
#[derive(Clone, Debug)]
pub struct RecordedQuote {
    /// What was signed.
    pub attest: Vec<u8>,
    /// The signature.
    pub signature: Vec<u8>,
    /// The key.
    pub key: Public,
    /// What it answers; not compared if empty.
    pub nonce: Vec<u8>,
}

/// What is found out about a quote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QuoteFacts {
    /// Whether key and nonce are right.
    pub genuine: bool,
    /// The registers, such as `sha256:0-10`; empty if it covers none.
    pub selection: String,
    /// How many entries of the log it covers.
    pub covers: Option<u64>,
    /// The TPM's time.
    pub clock: Option<ClockFacts>,
    /// Why a verifier would refuse it.
    pub refused: Option<String>,
}

/// The TPM's time in a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClockFacts {
    /// Milliseconds that it was powered.
    pub clock: u64,
    /// How often it was reset.
    pub reset_count: u32,
    /// How often it was restarted or resumed since.
    pub restart_count: u32,
    /// Whether the clock was stored since.
    pub safe: bool,
}

impl RecordedQuote {
    /// Verifies it, and finds the part of the log that it covers.
    pub fn facts(&self, entries: &[Entry<'_>], pcrs: &PcrValues) -> QuoteFacts {
        let mut facts = QuoteFacts {
            genuine: false,
            selection: String::new(),
            covers: None,
            clock: None,
            refused: None,
        };
        let signature = match Signature::parse(&self.signature) {
            Ok(signature) => signature,
            Err(error) => return refused(facts, error.to_string()),
        };
        if let Err(error) = self.key.verify(&self.attest, &signature) {
            return refused(facts, error.to_string());
        }
        let attest = match QuoteAttest::parse(&self.attest) {
            Ok(attest) => attest,
            Err(error) => return refused(facts, error.to_string()),
        };
        facts.selection = describe(&attest.selection);
        facts.clock = Some(ClockFacts {
            clock: attest.clock_info.clock,
            reset_count: attest.clock_info.reset_count,
            restart_count: attest.clock_info.restart_count,
            safe: attest.clock_info.safe,
        });
        if !self.nonce.is_empty() && attest.extra_data != self.nonce {
            return refused(facts, "it answers another nonce".to_owned());
        }
        facts.genuine = true;
        if attest.selection.registers().next().is_none() {
            let why = "it covers no register: the TPM does not have the bank that was asked for";
            return refused(facts, why.to_owned());
        }
        match covered(&attest, signature.hash, entries, pcrs) {
            Ok(covers) => QuoteFacts {
                covers: Some(covers),
                ..facts
            },
            Err(why) => refused(facts, why.to_owned()),
        }
    }
}

impl QuoteFacts {
    /// Of a quote that cannot be verified, as a file is missing.
    pub(super) fn without(missing: &str) -> Self {
        let facts = QuoteFacts {
            genuine: false,
            selection: String::new(),
            covers: None,
            clock: None,
            refused: None,
        };
        refused(
            facts,
            format!("it cannot be verified: `{missing}` is missing"),
        )
    }
}

fn refused(facts: QuoteFacts, why: String) -> QuoteFacts {
    QuoteFacts {
        refused: Some(why),
        ..facts
    }
}

/// After how many entries the registers have the quoted digest; the last such place. Otherwise, why there is none.
fn covered(
    attest: &QuoteAttest,
    alg: HashAlg,
    entries: &[Entry<'_>],
    pcrs: &PcrValues,
) -> Result<u64, &'static str> {
    let mut values = pcrs.clone();
    let mut running: BTreeMap<(HashAlg, u8), Digest> = BTreeMap::new();
    for (bank, pcr) in attest.selection.registers() {
        if entries.iter().any(|entry| entry.pcr() == u32::from(pcr)) {
            running.insert((bank, pcr), Digest::zero(bank));
            values.set(pcr, Digest::zero(bank));
        }
    }
    if running.is_empty() {
        return Err("it covers no register that the log has entries of");
    }
    if values.digest(&attest.selection, alg).is_none() {
        return Err("it covers registers whose values were not recorded");
    }
    let mut found = None;
    for (number, entry) in (1..).zip(entries) {
        let mut changed = false;
        for ((bank, pcr), value) in &mut running {
            if entry.pcr() == u32::from(*pcr) {
                let with = if entry.is_violation() {
                    Digest::ones(*bank)
                } else {
                    template_hash(*bank, entry)
                };
                *value = value.extend(with.as_bytes());
                values.set(*pcr, *value);
                changed = true;
            }
        }
        let digest = changed
            .then(|| values.digest(&attest.selection, alg))
            .flatten();
        if digest.is_some_and(|digest| digest.as_bytes() == attest.pcr_digest) {
            found = Some(number);
        }
    }
    found.ok_or(
        "no part of the log leads to the quoted value: entries are missing, as after kexec without a carried log; \
         the machine needs a reboot",
    )
}

/// A selection as tools write it: `sha1:10+sha256:0-10`.
fn describe(selection: &PcrSelection) -> String {
    let banks = selection
        .banks()
        .iter()
        .filter(|bank| !bank.pcrs.is_empty());
    let words = banks.map(|bank| {
        let numbers: Vec<u8> = bank.pcrs.iter().copied().collect();
        let ranges = numbers
            .chunk_by(|a, b| a + 1 == *b)
            .map(|range| match range {
                [first, .., last] => format!("{first}-{last}"),
                [one] => one.to_string(),
                [] => String::new(),
            });
        format!("{}:{}", bank.bank, ranges.collect::<Vec<_>>().join(","))
    });
    words.collect::<Vec<_>>().join("+")
}
