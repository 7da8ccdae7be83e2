//! The worker's part of an appraisal: is the evidence genuine, and does the log explain the quote?

use super::accepted::{Accepted, PodTerms};
use super::node::{Node, Worker};
use crate::digest::{Digest, HashAlg};
use crate::evidence::{Evidence, EvidenceError, LogClaim, QuotePart};
use crate::ima::{
    Advance, Attributor, Boot, BootAggregate, Cursor, Ledger, Measured, Reader, ReplayPolicy,
    Resume, RuntimeProfile, Subject, Templates, TpmClock, advance,
};
use crate::protocol::{AttestationError, EvidenceRequest};
use crate::reference::{Mismatch, Whitelist};
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
    /// Whether what the host itself runs must be in the reference values, too.
    pub check_hosts: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            bank: HashAlg::Sha256,
            templates: Templates::default(),
            profile: RuntimeProfile::default(),
            deny_violations: true,
            max_behind: 1,
            check_hosts: false,
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
    /// By which list.
    list: u64,
}

impl Appraisal {
    /// Everything known of the worker: what was known before, if it still counts, and what is new; each
    /// with whether it was known before.
    pub fn ledgers<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = (&'a Ledger, bool)> {
        let old = self.keeps_ledger.then_some((&node.ledger, true));
        old.into_iter().chain([(&self.delta, false)])
    }

    /// The node as it is after the commit; `pods` are those that were accepted.
    pub fn apply(self, node: &mut Node, pods: impl IntoIterator<Item = PodTerms>) {
        if self.keeps_ledger {
            node.ledger.absorb(&self.delta);
        } else {
            node.ledger = self.delta;
            node.accepted = Accepted::default();
        }
        node.cursor = Some(self.cursor);
        node.accepted.accept_worker(self.list, &node.ledger);
        for terms in pods {
            node.accepted.accept_pod(terms, &node.ledger);
        }
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
        list: references.id(),
    };
    check_runtime(node, &appraisal, references)?;
    if policy.check_hosts {
        check_host(node, &appraisal, references)?;
    }
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

/// The entries of one of the worker's own subjects that no list accepted yet.
fn unaccepted<'a>(
    node: &'a Node,
    appraisal: &'a Appraisal,
    references: &Whitelist,
    subject: Subject,
) -> Vec<Measured<'a>> {
    let accepted = node.accepted.of_worker(references, subject);
    let mut files = Vec::new();
    for (ledger, old) in appraisal.ledgers(node) {
        files.extend(ledger.of_after(subject, if old { accepted } else { 0 }));
    }
    files
}

/// The runtime is judged on everything it ran since the boot whenever the reference values changed, and
/// on what is new otherwise.
fn check_runtime(
    node: &Node,
    appraisal: &Appraisal,
    references: &Whitelist,
) -> Result<(), AttestationError> {
    let known = appraisal.keeps_ledger && node.accepted.of_worker(references, Subject::Runtime) > 0;
    let has = |subject| {
        let mut ledgers = appraisal.ledgers(node);
        ledgers.any(|(ledger, _)| ledger.size(subject) > 0)
    };
    // Where the template names no control group, the runtime cannot be told from the host.
    if !has(Subject::Runtime) && has(Subject::Unknown) {
        return Ok(());
    }
    let ran = unaccepted(node, appraisal, references, Subject::Runtime);
    let mut mismatches = references.check_runtime(&ran);
    if known {
        // It was measured before.
        mismatches.retain(|mismatch| *mismatch != Mismatch::NoRuntime);
    }
    if mismatches.is_empty() {
        return Ok(());
    }
    Err(AttestationError::Runtime(mismatches))
}

/// The host, where the operator wants it held to reference values.
fn check_host(
    node: &Node,
    appraisal: &Appraisal,
    references: &Whitelist,
) -> Result<(), AttestationError> {
    let ran = unaccepted(node, appraisal, references, Subject::Host);
    let mismatches = references.check_host(&ran);
    if mismatches.is_empty() {
        return Ok(());
    }
    Err(AttestationError::Host(mismatches))
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
