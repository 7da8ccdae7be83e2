//! Drives the protocols: does what a machine says is due and tells it what came of it.
//!
//! Every driver works on a state that can be stored. A step does one thing and returns; whoever calls it may
//! store the state, stop, and go on in another process. What a step does can be done twice.

mod attestation;
mod registration;
mod removal;

pub use attestation::{Attesting, PodVerdicts, Step as AttestationStep};
pub use registration::{Registering, Step as RegistrationStep, complete};
pub use removal::Removing;
