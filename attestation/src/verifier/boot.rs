//! The boot, judged by the events of the firmware's log.

use crate::boot::EventLog;
use crate::evidence::EvidenceError;
use crate::policy::WorkerPolicy;
use crate::protocol::{AttestationError, BootError};
use crate::tpm::PcrValues;

/// Judges the boot by its events, if the policy has rules for them; says whether it does.
pub(super) fn judged_by_events(
    log: Option<&[u8]>,
    quoted: &PcrValues,
    policy: &WorkerPolicy,
) -> Result<bool, AttestationError> {
    let Some(rules) = &policy.boot else {
        return Ok(false);
    };
    let log = log.ok_or(EvidenceError::Part("boot-log"))?;
    let log = EventLog::parse(log).map_err(BootError::Log)?;
    let boot = log
        .explain(policy.bank(), quoted)
        .map_err(BootError::Unexplained)?;
    let found = rules.judge(&boot);
    if found.is_empty() {
        Ok(true)
    } else {
        Err(BootError::Unaccepted(found).into())
    }
}
