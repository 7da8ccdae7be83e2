//! What a check found, as a statement that others can carry and verify: an in-toto statement in a DSSE envelope.
//!
//! [`Certificate::of`] states what was checked and what came of it, [`Certificate::seal`] makes a file of it, and [`verify`]
//! reads the file again: without a solver, from the files it is about, the public key and the proofs it carries.

pub mod drat;
mod envelope;
mod key;
mod state;
mod statement;
mod verify;

pub use key::{PublicKey, SigningKey};
pub use state::Obligation;
pub use statement::{
    Certificate, Evidence, Finding, InputGiven, Listing, PREDICATE, Predicate, ProjectChecked,
    RuleChecked, STATEMENT, Statement, Subject, Tool, Verdict,
};
pub use verify::{Trust, Unverified, Verified, verify, verify_at};

use sha2::{Digest as _, Sha256};

/// The SHA-256 digest of some bytes, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
