//! The operator's commands: a running gate is asked over mutual TLS, so that nobody needs curl.

mod command;
mod connection;
mod show;

pub use command::{ClientCommand, SubjectArgs};
pub use connection::{ClientFault, Connection};
