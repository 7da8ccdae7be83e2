//! The gate and the agent from end to end, over mutual TLS.
//!
//! Without the feature `tpm` the TPMs are emulated; with it they are `swtpm` processes behind libtss2.

mod attacks;
mod common;
#[cfg(feature = "tpm")]
mod demo;
mod faults;
mod protocols;
