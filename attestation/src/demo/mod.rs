//! The three verdicts of pod attestation, on software TPMs, in one command.

pub mod swtpm;
