//! The three verdicts of pod attestation, on software TPMs, in one command.

mod kernel;
mod run;
pub mod swtpm;

pub use kernel::{Kernel, cgroup_of};
pub use run::{DemoArgs, DemoError, Verdict};
