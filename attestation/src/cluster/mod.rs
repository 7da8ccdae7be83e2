//! The gate of a Kubernetes cluster: nothing runs that was not checked, and nothing is ready that was not attested.
//!
//! What is decided stands in functions of plain data ([`admission`]): they are given a request and what is [`known`] of the
//! cluster, which is to be watched: nothing is fetched while a request waits.

pub mod admission;
pub mod certificates;
pub mod cli;
pub mod connect;
pub mod control;
pub mod covered;
pub mod deploy;
pub mod install;
pub mod join;
pub mod known;
pub mod lease;
pub mod names;
pub mod object;
pub mod resources;
pub mod rights;
pub mod serve;
pub mod server;
pub mod told;
pub mod watch;
pub mod webhooks;
