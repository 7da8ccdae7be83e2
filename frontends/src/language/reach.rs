//! Who can talk to whom, as far as a configuration decides it.

use std::fmt;
use std::sync::Arc;

use locus_core::values::Address;
use locus_core::{Diagnostic, Span};

/// An end of connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// What it is called in every output: `shop/front[Deployment]`.
    pub text: String,
    /// What it is part of, such as a namespace.
    pub group: Option<String>,
    /// What it is.
    pub kind: PeerKind,
    /// Where it is written.
    pub span: Option<Span>,
}

/// What an end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerKind {
    /// Something that runs.
    Workload,
    /// Addresses outside, from one to another. Connections come from some ranges and go to others, as rules for the two
    /// directions split the addresses differently.
    Outside {
        /// The first.
        first: Address,
        /// The last.
        last: Address,
        /// Whether connections come from here, as opposed to going there.
        source: bool,
    },
    /// What forwards connections from outside.
    Forwarder,
    /// A machine that others run on.
    Host,
}

/// Why some connections are allowed or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Whether they are allowed.
    pub allowed: bool,
    /// The side that decides: `egress` of the source, `ingress` of the destination.
    pub side: &'static str,
    /// The connections.
    pub connections: String,
    /// What decides, as the end of a sentence: ``by NetworkPolicy `shop/api` ``.
    pub why: String,
    /// Where that is written.
    pub span: Option<Span>,
}

/// Who can talk to whom.
pub trait Relation: fmt::Debug {
    /// The ends, in the order of their texts.
    fn peers(&self) -> &[Peer];

    /// The ends that one can talk to, in order, each with the connections.
    fn reached(&self, from: usize) -> Vec<(usize, Arc<str>)>;

    /// Whether a pair is of ends that could talk to each other if nothing forbade it.
    fn is_pair(&self, from: usize, to: usize) -> bool;

    /// Why two ends can talk, and why not.
    fn reasons(&self, from: usize, to: usize) -> Vec<Reason>;

    /// The ends that a user means.
    ///
    /// # Errors
    /// Why none is meant, in words for the user.
    fn find(&self, text: &str) -> Result<Vec<usize>, String>;
}

/// Who can talk to whom in a configuration, and what is wrong with it.
#[derive(Debug)]
pub struct Reach {
    /// Who can talk to whom; none when that cannot be told.
    pub relation: Option<Box<dyn Relation>>,
    /// What is wrong with the configuration.
    pub diagnostics: Vec<Diagnostic>,
    /// What could not be checked, and why.
    pub unchecked: Vec<Diagnostic>,
}
