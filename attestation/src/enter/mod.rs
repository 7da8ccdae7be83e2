//! What an operator enters into a running gate, and what a tenant asks of it: manufacturers, reference values,
//! tenants, pods; the attestation of a tenant's own pod.

mod command;
mod connection;
mod tenant;

pub use command::EnterCommand;
pub use connection::EnterError;
pub use tenant::TenantArgs;
