//! The worker's part of an appraisal: is the evidence genuine, and does the log explain the quote?

use super::node::{Node, Worker};
use crate::digest::{Digest, HashAlg};
use crate::evidence::{Evidence, EvidenceError, LogClaim, QuotePart};
use crate::ima::{
    Advance, Attributor, Boot, BootAggregate, Cursor, Ledger, Measured, Reader, ReplayPolicy,
    Resume, RuntimeProfile, Subject, Templates, TpmClock, advance,
};
use crate::protocol::{AttestationError, EvidenceRequest};
use crate::reference::Whitelist;
use crate::tpm::pcr::IMA_PCR;
use crate::tpm::{PcrValues, Quote, QuoteError, verify_quote};

/// What a verifier insists on, whatever a worker says.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The bank whose registers are quoted.
    pub bank: HashAlg,
    /// The templates of the logs.
    pub templates: Templates,
    /// How the container runtime is told from the host.
    pub profile: RuntimeProfile,
    /// Whether a violation (a file changed while it was measured) fails the worker.
    pub deny_violations: bool,
    /// How many quotes in a row may leave out entries that were shown before.
    pub max_behind: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            bank: HashAlg::Sha256,
            templates: Templates::default(),
            profile: RuntimeProfile::default(),
            deny_violations: true,
            max_behind: 1,
        }
    }
}

/// What a worker's evidence came to. Nothing is changed until it is committed.
#[derive(Clone, Debug)]
pub struct Appraisal {
    /// Where the log is taken up next.
    pub cursor: Cursor,
    /// What the new entries showed.
    pub delta: Ledger,
    /// Whether what was known before still counts.
    pub keeps_ledger: bool,
    /// Whether the worker was booted since.
    pub rebooted: bool,
    /// How many entries were verified.
    pub verified: u64,
    /// How many entries are newer than the quote.
    pub newer: u64,
}

impl Appraisal {
    /// Everything known of the worker, old and new.
    pub fn ledgers<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = &'a Ledger> {
        let old = self.keeps_ledger.then_some(&node.ledger);
        old.into_iter().chain([&self.delta])
    }

    /// The node as it is after the commit.
    pub fn apply(self, node: &mut Node) {
        if self.keeps_ledger {
            node.ledger.absorb(&self.delta);
        } else {
            node.ledger = self.delta;
        }
        node.cursor = Some(self.cursor);
    }
}

/// Appraises what a worker sent against what it was asked.
pub fn appraise_worker(
    worker: &Worker,
    node: &Node,
    request: &EvidenceRequest,
    bytes: &[u8],
    references: &Whitelist,
    policy: &Policy,
) -> Result<Appraisal, AttestationError> {
    let evidence = Evidence::decode(bytes)?;
    if let Some(claim) = request.foreign_claim(&evidence.claims) {
        return Err(AttestationError::Claim(claim));
    }
    let log = evidence.claims.log.ok_or(EvidenceError::Part("log"))?;
    let binding = evidence.binding(&request.nonce);
    let quote = quote_of(&evidence.quote)?;
    let quote = verify_quote(&worker.ak, &quote, binding.as_bytes(), &request.selection)?;
    let missing = || QuoteError::Values("a register of the boot or the log is missing".to_owned());
    let boot_values: Vec<Digest> = quote
        .pcrs
        .bank(policy.bank)
        .filter(|(pcr, _)| *pcr != IMA_PCR)
        .map(|(_, value)| value)
        .collect();
    let aggregate = BootAggregate::over(policy.bank, &boot_values).ok_or_else(missing)?;
    let quoted = quote.pcrs.get(policy.bank, IMA_PCR).ok_or_else(missing)?;
    check_boot(&worker.os, &aggregate, references)?;
    let tpm = TpmClock {
        clock: quote.clock_info.clock,
        boot: Boot {
            reset_count: quote.clock_info.reset_count,
            restart_count: quote.clock_info.restart_count,
        },
    };
    let resume = match &node.cursor {
        Some(cursor) => cursor.resume(log.first, tpm)?,
        None => Cursor::fresh(&[policy.bank], tpm).resume(log.first, tpm)?,
    };
    let (advanced, delta) = replay(&evidence, log, &resume, quoted, &aggregate, policy)?;
    let appraisal = Appraisal {
        cursor: advanced.cursor,
        delta,
        keeps_ledger: resume.keeps_ledger(),
        rebooted: matches!(resume, Resume::Rebooted(_)),
        verified: advanced.verified,
        newer: advanced.newer,
    };
    check_runtime(node, &appraisal, references)?;
    Ok(appraisal)
}

fn replay(
    evidence: &Evidence<'_>,
    log: LogClaim,
    resume: &Resume,
    quoted: Digest,
    aggregate: &BootAggregate,
    policy: &Policy,
) -> Result<(Advance, Ledger), AttestationError> {
    let column = log.column;
    let accepted = aggregate.accepted();
    let insist = ReplayPolicy {
        pcr: u32::from(IMA_PCR),
        boot_aggregates: &accepted,
        deny_violations: policy.deny_violations,
        max_behind: policy.max_behind,
    };
    let mut attributor = Attributor::new(&policy.profile);
    let mut delta = Ledger::new();
    let reader = Reader::new(evidence.log, column, &policy.templates);
    let advanced = advance(
        reader,
        column,
        resume.cursor(),
        &[quoted],
        &insist,
        |_, entry| {
            if !entry.is_violation() {
                delta.record(attributor.subject(entry), entry);
            }
        },
    )?;
    Ok((advanced, delta))
}

/// Whether a boot aggregate is one of an operating system's.
pub fn check_boot(
    os: &str,
    aggregate: &BootAggregate,
    references: &Whitelist,
) -> Result<(), AttestationError> {
    let mut refused = String::new();
    for accepted in aggregate.accepted() {
        match references.check_boot(os, accepted) {
            Ok(()) => return Ok(()),
            // The first is what current kernels compute; it is the one to show.
            Err(mismatch) if refused.is_empty() => refused = mismatch.to_string(),
            Err(_) => {}
        }
    }
    Err(AttestationError::Boot {
        os: os.to_owned(),
        reason: refused,
    })
}

/// The runtime is judged on everything it ran since the boot: reference values may have changed since.
fn check_runtime(
    node: &Node,
    appraisal: &Appraisal,
    references: &Whitelist,
) -> Result<(), AttestationError> {
    let ran: Vec<Measured<'_>> = appraisal
        .ledgers(node)
        .flat_map(|ledger| ledger.of(Subject::Runtime))
        .collect();
    // Where the template names no control group, the runtime cannot be told from the host.
    let unattributed = appraisal
        .ledgers(node)
        .any(|ledger| !ledger.of(Subject::Unknown).is_empty());
    if ran.is_empty() && unattributed {
        return Ok(());
    }
    let mismatches = references.check_runtime(&ran);
    if mismatches.is_empty() {
        return Ok(());
    }
    Err(AttestationError::Runtime(mismatches))
}

/// The quote of a message, with its registers where they belong.
fn quote_of(part: &QuotePart) -> Result<Quote, QuoteError> {
    let mut pcrs = PcrValues::default();
    for value in &part.pcrs {
        let index = u8::try_from(value.index)
            .map_err(|_| QuoteError::Values(format!("there is no register {}", value.index)))?;
        pcrs.set(index, value.value);
    }
    if pcrs.len() != part.pcrs.len() {
        return Err(QuoteError::Values("a register is given twice".to_owned()));
    }
    Ok(Quote {
        attest: part.attest.clone(),
        signature: part.signature.clone(),
        pcrs,
    })
}
