//! Mutual TLS: the installation's own authority, who is on the other side, client and server.
//!
//! There is no plain connection and no connection without a client certificate. What a peer may do
//! follows from the roles in its certificate, which only the installation's authority issues.

pub mod client;
pub mod identity;
pub mod intake;
pub mod limits;
mod pace;
pub mod pki;
pub mod rate;
pub mod server;
pub mod signal;
pub mod tls;

pub use client::{Client, ClientError};
pub use identity::{Peer, Role};
pub use intake::{Intake, IntakeError, Taken};
pub use limits::Limits;
pub use pki::{Authority, Issued, PkiError};
pub use server::{serve, serve_everybody, serve_within};
