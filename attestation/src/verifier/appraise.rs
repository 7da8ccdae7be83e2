//! The worker's part of an appraisal: is the evidence genuine, and does the log explain the quote?

use std::collections::BTreeSet;

use super::accepted::{Accepted, PodTerms};
use super::boot::judged_by_events;
use super::history::Removed;
use super::node::{Node, Worker};
use super::own;
use super::signed::Signatures;
use crate::digest::{Digest, DigestRef};
use crate::evidence::{Evidence, EvidenceError, LogClaim, QuotePart};
use crate::ima::{
    Advance, Attributor, BOOT_AGGREGATE, Boot, BootAggregate, Cursor, FileDigest, Ledger, Measured,
    Reader, ReplayError, ReplayPolicy, Resume, ResumeError, Templates, TpmClock, advance,
    is_boot_aggregate,
};
use crate::policy::{Mode, WorkerPolicy};
use crate::protocol::{AttestationError, EvidenceRequest};
use crate::reference::Whitelist;
use crate::tpm::pcr::BOOT_PCRS;
use crate::tpm::{PcrValues, Quote, QuoteError, verify_quote};

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
    /// What belongs to nobody and waits for somebody to declare it.
    pub strangers: Vec<String>,
    /// Everything that waits to be explained, in worker and pods.
    pub pending: BTreeSet<String>,
    /// How much of what is attributed to nobody is explained.
    pub explained: usize,
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

    /// Whether the log says whom entries are measured for.
    pub fn attributes(&self, node: &Node) -> bool {
        let mut ledgers = self.ledgers(node);
        ledgers.any(|(ledger, _)| ledger.attributes())
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
    policy: &WorkerPolicy,
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
    let mut aggregates = Vec::new();
    let mut quoted = Vec::new();
    for bank in &policy.banks {
        let boot = BOOT_PCRS.map(|pcr| quote.pcrs.get(*bank, pcr));
        let boot: Vec<Digest> = boot.into_iter().flatten().collect();
        aggregates.push(BootAggregate::over(*bank, &boot).ok_or_else(missing)?);
        for pcr in &policy.pcrs {
            quoted.push(quote.pcrs.get(*bank, *pcr).ok_or_else(missing)?);
        }
    }
    if !judged_by_events(evidence.boot_log, &quote.pcrs, policy)? {
        check_boots(&worker.os, &aggregates, references)?;
    }
    let tpm = TpmClock {
        clock: quote.clock_info.clock,
        boot: Boot {
            reset_count: quote.clock_info.reset_count,
            restart_count: quote.clock_info.restart_count,
        },
    };
    let before = node.cursor_for(policy);
    let anew = node.reads_anew(policy);
    if anew && log.first > 0 {
        return Err(AttestationError::Resume(ResumeError::WrongStart {
            asked: 0,
            answered: log.first,
        }));
    }
    let resume = match before {
        Some(cursor) => cursor.resume(log.first, tpm)?,
        None => Cursor::fresh_in(&policy.banks, &policy.registers(), tpm).resume(log.first, tpm)?,
    };
    let (mut advanced, delta, templates) = replay(
        &evidence,
        log,
        (&resume, before, anew.then_some(&node.history.removed)),
        &quoted,
        &aggregates,
        &policy.accepted_templates(worker.templates.as_deref()),
        policy,
    )?;
    // The names are in no hash: the bytes of an entry must say which template it is of.
    if let Some((one, other)) = policy.formats.confusable(&templates) {
        return Err(AttestationError::Templates(one, other));
    }
    let same_boot = match resume {
        Resume::Continue(_) | Resume::Resumed(_) => before.is_some(),
        Resume::Restart(_) if !advanced.passed => return Err(ReplayError::Restarted.into()),
        Resume::Restart(_) => true,
        Resume::Restarted(_) => advanced.passed,
        Resume::Rebooted(_) => false,
    };
    let keeps_ledger = same_boot && !anew;
    advanced.cursor.read_by = Some(policy.terms());
    let appraisal = Appraisal {
        cursor: advanced.cursor,
        delta,
        keeps_ledger,
        rebooted: !same_boot && before.is_some(),
        strangers: Vec::new(),
        pending: BTreeSet::new(),
        explained: 0,
        verified: advanced.verified,
        newer: advanced.newer,
        list: references.id(),
    };
    let found = appraisal
        .ledgers(node)
        .map(|(ledger, _)| ledger.weight())
        .sum();
    let limit = policy.limits.ledger;
    if found > limit {
        return Err(AttestationError::TooMuch { found, limit });
    }
    own::check(node, &appraisal, references, policy)?;
    Ok(appraisal)
}

fn replay(
    evidence: &Evidence<'_>,
    log: LogClaim,
    (resume, before, anew): (&Resume, Option<&Cursor>, Option<&Removed>),
    quoted: &[Digest],
    aggregates: &[BootAggregate],
    templates: &Templates,
    policy: &WorkerPolicy,
) -> Result<(Advance, Ledger, Vec<String>), AttestationError> {
    let column = log.column;
    let accepted: Vec<Digest> = aggregates
        .iter()
        .flat_map(BootAggregate::accepted)
        .collect();
    let waypoint = before.filter(|_| resume.repeats());
    let insist = ReplayPolicy {
        boot_aggregates: &accepted,
        deny_violations: policy.violations == Mode::Enforced,
        max_behind: policy.limits.behind,
        allow_kexec: policy.kexec,
        waypoint,
    };
    // What was recorded before stays as it was recorded, however an agent shows it again.
    let known = waypoint.map_or(0, |cursor| cursor.next_entry);
    let mut attributor = Attributor::new(&policy.profile);
    let mut signatures = Signatures::new(policy);
    let (mut again, mut delta) = (Ledger::new(), Ledger::new());
    let mut used: Vec<&[u8]> = Vec::new();
    let longest = usize::try_from(policy.limits.path).unwrap_or(usize::MAX);
    let reader = Reader::new(evidence.log, column, templates).with_longest_path(longest);
    let advanced = advance(
        reader,
        column,
        resume.cursor(),
        quoted,
        &insist,
        |number, entry| {
            let name = entry.template_name();
            if used.last() != Some(&name) && !used.contains(&name) {
                used.push(name);
            }
            if entry.is_violation() || entry.is_users_key() {
                return;
            }
            let ledger = if number < known {
                &mut again
            } else {
                &mut delta
            };
            // Whoever invents control groups has them counted, and not kept: it is refused for them below.
            if ledger.weight_of_subjects() > policy.limits.ledger {
                return;
            }
            let subject = attributor.subject(entry);
            if let Some((content, key)) = signatures.of(subject, entry) {
                ledger.record_signature(content, key);
            }
            if number > 0 && entry.path() == BOOT_AGGREGATE && !is_boot_aggregate(entry, &accepted)
            {
                // A file may be called so, too: nobody overlooks it for that.
                let digest = entry.file_digest().and_then(FileDigest::known);
                ledger.insert(
                    subject,
                    Measured {
                        path: b"./boot_aggregate",
                        digest: digest.as_ref().map(DigestRef::from),
                    },
                );
            } else {
                ledger.record(subject, entry);
            }
        },
    )?;
    if let Some(removed) = anew.filter(|_| advanced.passed) {
        // Up to here it is the log that was judged while they were there.
        again.forget(|subject| removed.has(subject));
    }
    if known > 0 && (anew.is_some() || !advanced.passed) {
        again.absorb(&delta);
        delta = again;
    }
    let used = used
        .into_iter()
        .map(|name| String::from_utf8_lossy(name).into_owned());
    Ok((advanced, delta, used.collect()))
}

/// Whether one of the boot aggregates, of any bank, is one of an operating system's.
fn check_boots(
    os: &str,
    aggregates: &[BootAggregate],
    references: &Whitelist,
) -> Result<(), AttestationError> {
    let mut refused = None;
    for aggregate in aggregates {
        match check_boot(os, aggregate, references) {
            Ok(()) => return Ok(()),
            Err(error) => _ = refused.get_or_insert(error),
        }
    }
    refused.map_or(Ok(()), Err)
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
