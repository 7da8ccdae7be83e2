//! Who is on the other side of a connection.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use uuid::Uuid;
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

use super::pki::AGENTS_AUTHORITY;
use crate::digest::{HashAlg, decode_hex, encode_hex};

/// The attribute `commonName` (X.520).
const COMMON_NAME: &str = "2.5.4.3";
const ROLE: &str = "urn:locus:role:";
const ATTESTATION_KEY: &str = "urn:locus:ak:";
const WORKER: &str = "urn:uuid:";

/// What the holder of a certificate may do.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Runs the installation.
    Operator,
    /// The registrar.
    Registrar,
    /// The store of reference values.
    Reference,
    /// The verifier: the only one an agent shows evidence to.
    Verifier,
    /// Registers workers.
    WorkerHandler,
    /// Takes tenants' requests.
    PodHandler,
    /// An agent on a worker.
    Agent,
    /// A tenant; its requests are signed as well.
    Tenant,
    /// Looks at metrics and health, and at nothing else.
    Observer,
    /// A cluster's controller: declares pods, registers and removes workers, and watches the trust in them.
    Controller,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 10] = [
        Role::Operator,
        Role::Registrar,
        Role::Reference,
        Role::Verifier,
        Role::WorkerHandler,
        Role::PodHandler,
        Role::Agent,
        Role::Tenant,
        Role::Observer,
        Role::Controller,
    ];

    /// The name in certificates and documents.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Operator => "operator",
            Role::Registrar => "registrar",
            Role::Reference => "reference",
            Role::Verifier => "verifier",
            Role::WorkerHandler => "worker-handler",
            Role::PodHandler => "pod-handler",
            Role::Agent => "agent",
            Role::Tenant => "tenant",
            Role::Observer => "observer",
            Role::Controller => "controller",
        }
    }

    /// Whether this is a part of the gate, which others connect to by the name of the role.
    pub const fn is_component(self) -> bool {
        matches!(
            self,
            Role::Registrar
                | Role::Reference
                | Role::Verifier
                | Role::WorkerHandler
                | Role::PodHandler
        )
    }

    /// How it is written in a certificate.
    pub fn uri(self) -> String {
        format!("{ROLE}{}", self.name())
    }

    fn from_uri(uri: &str) -> Option<Self> {
        let name = uri.strip_prefix(ROLE)?;
        Role::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// The holder of a certificate that the authority issued.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// The host names in the certificate.
    pub names: Vec<String>,
    /// What it may do.
    pub roles: BTreeSet<Role>,
    /// The digest of its public key.
    pub key: String,
    /// The digest of the certificate.
    pub certificate: String,
    /// For a registered agent: the name of the attestation key it is bound to.
    pub attestation_key: Option<Vec<u8>>,
    /// For a registered agent: the worker.
    pub worker: Option<Uuid>,
}

impl Peer {
    /// Reads a certificate; the TLS stack has verified it before.
    pub fn from_certificate(der: &[u8]) -> Option<Self> {
        let certificate = Certificate::from_der(der).ok()?;
        let body = certificate.tbs_certificate();
        let key = body.subject_public_key_info().to_der().ok()?;
        let mut peer = Peer {
            key: key_digest(&key),
            certificate: HashAlg::Sha256.hash(&[der]).to_string(),
            ..Peer::default()
        };
        let names = body.get_extension::<SubjectAltName>().ok()?;
        for name in names.iter().flat_map(|(_, names)| &names.0) {
            match name {
                GeneralName::DnsName(name) => peer.names.push(name.as_str().to_owned()),
                GeneralName::UniformResourceIdentifier(uri) => {
                    let uri = uri.as_str();
                    peer.roles.extend(Role::from_uri(uri));
                    if let Some(hex) = uri.strip_prefix(ATTESTATION_KEY) {
                        peer.attestation_key = Some(decode_hex(hex.as_bytes())?);
                    }
                    if let Some(uuid) = uri.strip_prefix(WORKER) {
                        peer.worker = Some(uuid.parse().ok()?);
                    }
                }
                _ => {}
            }
        }
        // Whatever the authority for agents says, it speaks of agents.
        let issuer = body.issuer().iter();
        let of_agents = issuer
            .filter(|part| part.oid.to_string() == COMMON_NAME)
            .any(|part| part.value.value() == AGENTS_AUTHORITY.as_bytes());
        if of_agents {
            peer.roles.retain(|role| *role == Role::Agent);
        }
        Some(peer)
    }

    /// Whether it has one of some roles.
    pub fn has_any(&self, roles: &[Role]) -> bool {
        roles.iter().any(|role| self.roles.contains(role))
    }

    /// How it is called in logs.
    pub fn label(&self) -> String {
        let roles: Vec<&str> = self.roles.iter().map(|role| role.name()).collect();
        let name = self.names.first().map_or("without a name", String::as_str);
        format!("{name} ({})", roles.join(", "))
    }
}

/// The digest of a public key (`SubjectPublicKeyInfo`, DER) by which it is known.
pub fn key_digest(spki: &[u8]) -> String {
    HashAlg::Sha256.hash(&[spki]).to_string()
}

/// How the binding to an attestation key is written in a certificate.
pub fn attestation_key_uri(name: &[u8]) -> String {
    format!("{ATTESTATION_KEY}{}", encode_hex(name))
}

/// How a worker is written in a certificate.
pub fn worker_uri(worker: Uuid) -> String {
    format!("{WORKER}{worker}")
}
