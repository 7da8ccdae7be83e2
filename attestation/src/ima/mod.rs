//! Linux measurement logs (IMA): parsing, replay, attribution, incremental verification.
//!
//! Nothing here does input or output. The order of use:
//!
//! 1. [`Reader`] yields the entries of a binary log; [`ascii::to_binary`] turns the ASCII form into it.
//! 2. [`Cursor::resume`] decides where a worker's answer may start.
//! 3. [`advance`] replays the entries against the quoted PCR values. The template hash is recomputed
//!    from the fields: what the log claims as its hash is only compared, never used.
//! 4. [`Attributor`] says of each entry whether it is the host's, the container runtime's or a pod's.
//! 5. [`Ledger`] keeps what each of them was measured to run, for as long as the worker is up.

pub mod ascii;
mod attribute;
mod boot;
mod cgroup;
mod cursor;
mod entry;
mod files;
mod ledger;
mod reader;
mod replay;
#[cfg(feature = "gate")]
mod signature;
mod template;
mod writer;

pub use attribute::{Attributor, RuntimeProfile, Subject};
pub use boot::{BOOT_AGGREGATE, BootAggregate, boot_aggregate, is_boot_aggregate};
pub use cgroup::{CgroupOwner, ContainerId, PodUid, owner_of};
pub use cursor::{Boot, Cursor, Resume, ResumeError, TpmClock};
pub use entry::{Entry, FileDigest};
pub use files::{LedgerError, Measured};
pub use ledger::Ledger;
pub(crate) use reader::skip_entry;
pub use reader::{LONGEST_PATH, LogError, LogErrorKind, Reader, template_names};
pub use replay::{
    Advance, BankValue, DEFAULT_PCR, Extend, ReplayError, ReplayPolicy, advance, template_hash,
};
#[cfg(feature = "gate")]
pub use signature::{Keyring, KeyringError};
pub use template::{Field, FieldFormat, Layout, MAX_FIELDS, TEMPLATES, TemplateError, Templates};
pub use writer::LogWriter;
