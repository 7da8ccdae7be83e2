//! Which events a boot may consist of.
//!
//! Whatever is not accepted is refused: an event of a judged register must be one of a rule's. Types of events are
//! no criterion, as no register covers them, and neither is what the log says of an event unless its digest proves it.

use std::collections::BTreeSet;

use super::content::Content;
use super::log::Event;
use super::pattern::TextPattern;
use super::replay::Explained;
use crate::digest::{Digest, HashAlg};

/// What firmware and boot loader do, as they say it; nothing is loaded by it. Each with its register.
const ACTIONS: [(u8, &str); 7] = [
    (2, "Start Option ROM Scan"),
    (4, "Calling EFI Application from Boot Option"),
    (4, "Returning from EFI Application from Boot Option"),
    (4, "Calling INT 19h"),
    (5, "Exit Boot Services Invocation"),
    (5, "Exit Boot Services Returned with Success"),
    (5, "Exit Boot Services Returned with Failure"),
];

/// The registers that firmware ends with a separator.
const CLOSED_BY_FIRMWARE: std::ops::RangeInclusive<u8> = 0..=7;
/// The register of Secure Boot.
const SECURE_BOOT_PCR: u8 = 7;
/// The variable that tells whether Secure Boot was on.
const SECURE_BOOT: &str = "SecureBoot";

/// The policy of a boot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BootPolicy {
    /// Whether Secure Boot must be on, must be off, or may be either.
    pub secure_boot: Option<bool>,
    /// Registers whose events are replayed but not judged.
    pub unjudged: BTreeSet<u8>,
    /// The events there may be.
    pub rules: Vec<EventRule>,
}

/// Some events that are accepted. At least one of the criteria is given; of several, all count.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRule {
    /// The register.
    pub pcr: u8,
    /// What it is, for people.
    pub what: String,
    /// The accepted digests.
    pub digests: BTreeSet<Digest>,
    /// The variable it must hold.
    pub variable: Option<String>,
    /// A pattern for the text it must be.
    pub text: Option<TextPattern>,
    /// Whether a boot without such an event is accepted, too.
    pub optional: bool,
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BootPolicyError {
    /// The pattern cannot be read.
    #[error("`{pattern}` is not a pattern: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why.
        reason: String,
    },
}

impl EventRule {
    /// A rule that accepts nothing yet.
    pub fn new(pcr: u8, what: impl Into<String>) -> Self {
        EventRule {
            pcr,
            what: what.into(),
            digests: BTreeSet::new(),
            variable: None,
            text: None,
            optional: false,
        }
    }

    /// Whether it says anything about events at all.
    pub fn is_empty(&self) -> bool {
        self.digests.is_empty() && self.variable.is_none() && self.text.is_none()
    }

    fn accepts(&self, pcr: u8, digest: &Digest, content: &Content<'_>) -> bool {
        if self.pcr != pcr || self.is_empty() {
            return false;
        }
        let variable = self.variable.as_ref().is_none_or(
            |name| matches!(content, Content::Variable(variable) if variable.name == *name),
        );
        let text = self
            .text
            .as_ref()
            .is_none_or(|pattern| matches!(content, Content::Text(text) if pattern.is_match(text)));
        let digests = self.digests.is_empty() || self.digests.contains(digest);
        variable && text && digests
    }
}

/// One thing that is wrong with a boot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unaccepted {
    /// An event that no rule accepts.
    #[error("PCR {pcr}: event {number} ({kind}), {content}, {digest}, is not accepted")]
    Event {
        /// Its place in the log.
        number: usize,
        /// Its register.
        pcr: u8,
        /// Its type, as the log says.
        kind: String,
        /// What it is about.
        content: String,
        /// Its digest.
        digest: Digest,
    },
    /// A rule that no event satisfied.
    #[error("PCR {pcr}: {what} was not measured")]
    Missing {
        /// The register.
        pcr: u8,
        /// What should have been.
        what: String,
    },
    /// Secure Boot is not as it should be.
    #[error("Secure Boot is {found}, the policy wants it {wanted}")]
    SecureBoot {
        /// What was found.
        found: &'static str,
        /// What is wanted.
        wanted: &'static str,
    },
    /// Firmware did not end a register.
    #[error("PCR {0}: the firmware did not end its measurements with a separator")]
    Open(u8),
    /// The policy has no digests of the bank.
    #[error("the boot policy has no {0} digests, but that bank is quoted")]
    Bank(HashAlg),
}

impl BootPolicy {
    /// Everything about a boot that is not accepted.
    pub fn judge(&self, boot: &Explained<'_, '_>) -> Vec<Unaccepted> {
        let mut found = Vec::new();
        let mut satisfied = vec![false; self.rules.len()];
        let mut closed: BTreeSet<u8> = BTreeSet::new();
        let mut secure_boot: Vec<(bool, bool)> = Vec::new();
        if self.wrong_bank(boot.bank()) {
            found.push(Unaccepted::Bank(boot.bank()));
        }
        for (event, digest) in boot.events() {
            let content = Content::of(event, &digest);
            if content == Content::Separator
                && CLOSED_BY_FIRMWARE.contains(&event.pcr)
                && closed.insert(event.pcr)
            {
                continue;
            }
            let mut accepted = self.unjudged.contains(&event.pcr) || is_action(event, &content);
            if let Content::Variable(variable) = &content
                && variable.name == SECURE_BOOT
                && event.pcr == SECURE_BOOT_PCR
            {
                // Whoever runs later can extend the register, but not before the separator.
                secure_boot.push((variable.value == [1], closed.contains(&SECURE_BOOT_PCR)));
                // The setting judges it.
                accepted |= self.secure_boot.is_some();
            }
            for (rule, done) in self.rules.iter().zip(&mut satisfied) {
                if rule.accepts(event.pcr, &digest, &content) {
                    *done = true;
                    accepted = true;
                }
            }
            if !accepted {
                found.push(Unaccepted::Event {
                    number: event.number,
                    pcr: event.pcr,
                    kind: event.kind.to_string(),
                    content: content.to_string(),
                    digest,
                });
            }
        }
        found.extend(
            self.secure_boot
                .and_then(|wanted| judge_secure_boot(wanted, &secure_boot)),
        );
        let open = CLOSED_BY_FIRMWARE.filter(|pcr| !closed.contains(pcr));
        found.extend(open.map(Unaccepted::Open));
        for (rule, done) in self.rules.iter().zip(satisfied) {
            if !done && !rule.optional {
                let what = rule.what.clone();
                found.push(Unaccepted::Missing {
                    pcr: rule.pcr,
                    what,
                });
            }
        }
        found
    }

    /// Whether there are digests, but none of the bank that is quoted.
    fn wrong_bank(&self, bank: HashAlg) -> bool {
        let mut digests = self.rules.iter().flat_map(|rule| &rule.digests).peekable();
        digests.peek().is_some() && digests.all(|digest| digest.alg() != bank)
    }
}

fn is_action(event: &Event<'_>, content: &Content<'_>) -> bool {
    matches!(content, Content::Text(text) if ACTIONS.contains(&(event.pcr, text.as_str())))
}

/// `seen`: each time the variable was measured, whether it was on, and whether that was after the separator.
fn judge_secure_boot(wanted: bool, seen: &[(bool, bool)]) -> Option<Unaccepted> {
    let word = |on| if on { "on" } else { "off" };
    let wrong = |found| {
        Some(Unaccepted::SecureBoot {
            found,
            wanted: word(wanted),
        })
    };
    match seen {
        [(on, false)] if *on == wanted => None,
        [(on, false)] => wrong(word(*on)),
        [] if wanted => wrong("not measured"),
        // A machine without UEFI has none.
        [] => None,
        _ => wrong("measured more than once, or after the firmware ended"),
    }
}
