//! The snapshots of what examples of rules say, beside the examples.

use std::io;
use std::process::Command;

use crate::root;

/// Runs the test that compares the snapshots, and lets it write them.
pub(crate) fn write() -> io::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir(root())
        .args(["test", "--quiet", "--package", "locus-invariants"])
        .args(["--test", "examples"])
        .env("INSTA_UPDATE", "always")
        .env("INSTA_FORCE_PASS", "1")
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other("an example is not what its marks say"))
    }
}
