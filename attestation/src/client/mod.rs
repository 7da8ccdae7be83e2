//! What operators and tenants ask of a running gate, over mutual TLS, so that nobody needs curl.

mod command;
mod connection;
mod enter;
mod show;
mod tenant;

pub use command::{AttestNowArgs, ClientCommand};
pub use connection::{ClientFault, Connection};
pub use enter::EnterCommand;
pub(crate) use show::moment;
#[cfg(feature = "kubernetes")]
pub(crate) use show::table;
pub use tenant::TenantArgs;
