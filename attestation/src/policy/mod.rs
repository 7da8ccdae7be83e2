//! What an operator insists on, for each worker or group of workers: one file, read and checked whole.
//!
//! ```toml
//! [defaults]                       # every worker
//! templates = ["ima-cgpath", "ima-buf"]
//! exclude = ["/var/lib/site/cache/**"]
//!
//! [[group]]                        # the first group that names a worker counts
//! name = "edge"
//! workers = ["edge-*"]
//! host = "unjudged"
//! ```
//!
//! Nothing in here is ever taken from a worker: neither registers nor banks, and of templates only the names
//! that were recorded when it was first attested, where the operator names none.

mod boot;
mod errors;
mod keys;
mod paths;
mod read;
mod settings;
mod signed;
mod table;
mod units;

pub use errors::PolicyErrors;
pub use keys::{EndorsementPolicy, KeyLists};
pub use paths::Patterns;
pub use read::parse;
pub use settings::{
    Buffers, GraceTimes, Group, Limits, Mode, PolicySet, SignedFiles, WorkerPolicy,
};
pub use units::{parse_duration, parse_size};

/// The name of the file in an installation's folder.
pub const FILE: &str = "policy.toml";

/// The policy of an installation: its file if there is one, the defaults otherwise.
pub fn of_installation(folder: &std::path::Path) -> Result<PolicySet, PolicyErrors> {
    let path = folder.join(FILE);
    if path.exists() {
        read_file(&path)
    } else {
        Ok(PolicySet::default())
    }
}

/// Reads and checks a file.
pub fn read_file(path: &std::path::Path) -> Result<PolicySet, PolicyErrors> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| PolicyErrors::unreadable(&name, &error.to_string()))?;
    parse(&name, &text)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
