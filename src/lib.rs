//! Locus as a library: sessions about files, checks, and reports of what they find.
//!
//! The command `locus`, the server for editors ([`lsp`]) and the gate all ask a [`session`]; how what it finds is shown is up to
//! [`report`], which codes findings have stands in the [`catalogue`], and a [`certificate`] tells others what was found. The
//! command itself is [`cli`], so that a program with a language of its own
//! ([`register`](locus_frontends::language::register)) is the same command.

pub mod catalogue;
pub mod certificate;
pub mod cli;
pub mod lsp;
pub mod report;
pub mod session;
