//! The installation's certificate authority: made on the spot, its keys never shipped.

use std::fs;
use std::io::Write as _;
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rcgen::string::Ia5String;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateSigningRequestParams, CidrSubnet,
    DistinguishedName, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, NameConstraints, PublicKeyData, SanType, SerialNumber,
};
use rustls::pki_types::CertificateSigningRequestDer;
use time::OffsetDateTime;
use uuid::Uuid;
use x509_cert::der::DecodePem as _;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use zeroize::Zeroizing;

use super::identity::{Role, attestation_key_uri, key_digest, worker_uri};
use crate::clock::Timestamp;

/// How long a certificate of a component is valid.
pub const COMPONENT_DAYS: i64 = 90;
/// How long a certificate bound to an attestation key is valid; it is rotated in time.
pub const AGENT_DAYS: i64 = 7;
const AUTHORITY_DAYS: i64 = 3650;
/// A clock that is a little behind should not refuse a fresh certificate.
const BACKDATE_SECS: i64 = 300;

/// Why a key or certificate could not be made, read or written.
#[derive(Debug, thiserror::Error)]
pub enum PkiError {
    /// A file.
    #[error("`{path}`: {error}")]
    File {
        /// Which.
        path: PathBuf,
        /// What happened.
        error: std::io::Error,
    },
    /// A key or certificate.
    #[error("certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// A name that cannot be in a certificate.
    #[error("`{0}` cannot be a name in a certificate")]
    Name(String),
    /// The request is not for who asks.
    #[error("the certificate request is not signed by its own key, or is malformed")]
    Request,
    /// The authority exists already.
    #[error("`{0}` holds an authority already; it is not overwritten")]
    Exists(PathBuf),
}

/// A certificate with its key, in PEM.
pub struct Issued {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: Zeroizing<String>,
}

/// The authority of one installation, or the one below it that is for agents.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// The installation's certificate.
    certificate: String,
    /// What stands between that and what is issued.
    chain: String,
}

fn date(now: Timestamp, seconds: i64) -> OffsetDateTime {
    let secs = now.secs().saturating_add(seconds);
    OffsetDateTime::from_unix_timestamp(secs).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

fn serial() -> SerialNumber {
    let bytes = *Uuid::new_v4().as_bytes();
    SerialNumber::from_slice(&bytes)
}

fn named(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::OrganizationName, "Locus");
    name.push(DnType::CommonName, common);
    name
}

fn dns(name: &str) -> Result<SanType, PkiError> {
    Ia5String::try_from(name.to_owned())
        .map(SanType::DnsName)
        .map_err(|_| PkiError::Name(name.to_owned()))
}

/// A host name or an address, as a client asks for it.
fn name_or_address(text: &str) -> Result<SanType, PkiError> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(SanType::IpAddress(address));
    }
    let host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    if text.is_empty() || !text.chars().all(host) {
        return Err(PkiError::Name(text.to_owned()));
    }
    dns(text)
}

/// The host names and addresses in a certificate in PEM.
pub fn names_in(certificate: &str) -> Result<Vec<String>, PkiError> {
    let certificate =
        x509_cert::Certificate::from_pem(certificate).map_err(|_| PkiError::Request)?;
    let body = certificate.tbs_certificate();
    let names = body
        .get_extension::<SubjectAltName>()
        .map_err(|_| PkiError::Request)?;
    let names = names.map_or_else(Vec::new, |(_, names)| names.0);
    Ok(names.iter().filter_map(name_of).collect())
}

fn name_of(name: &GeneralName) -> Option<String> {
    match name {
        GeneralName::DnsName(name) => Some(name.as_str().to_owned()),
        GeneralName::IpAddress(address) => {
            let bytes = address.as_bytes();
            let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
            let address = four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from));
            address.ok().map(|address| address.to_string())
        }
        _ => None,
    }
}

fn uri(text: String) -> Result<SanType, PkiError> {
    Ia5String::try_from(text.clone())
        .map(SanType::URI)
        .map_err(|_| PkiError::Name(text))
}

fn leaf(common: &str, days: i64, now: Timestamp) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(common);
    params.not_before = date(now, -BACKDATE_SECS);
    params.not_after = date(now, days.saturating_mul(86_400));
    params.serial_number = Some(serial());
    params.use_authority_key_identifier_extension = true;
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![
        ExtendedKeyUsagePurpose::ServerAuth,
        ExtendedKeyUsagePurpose::ClientAuth,
    ];
    params
}

/// The name of the authority for agents, by which what it issues is known.
pub(super) const AGENTS_AUTHORITY: &str = "Locus authority for agents";

fn make_authority(params: &mut CertificateParams, below: u8) {
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(below));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.extended_key_usages = Vec::new();
}

impl Authority {
    /// Makes a new authority.
    pub fn generate(now: Timestamp) -> Result<(Self, Zeroizing<String>), PkiError> {
        let key = KeyPair::generate()?;
        let mut params = leaf("Locus installation authority", AUTHORITY_DAYS, now);
        // Below it there is the authority for agents, and nothing else.
        make_authority(&mut params, 1);
        let certificate = params.self_signed(&key)?.pem();
        let secret = Zeroizing::new(key.serialize_pem());
        let issuer = Issuer::from_ca_cert_pem(&certificate, key)?;
        Ok((
            Authority {
                issuer,
                certificate,
                chain: String::new(),
            },
            secret,
        ))
    }

    /// Makes a new authority in a folder, which must not hold one.
    pub fn create(folder: &Path, now: Timestamp) -> Result<Self, PkiError> {
        let (key_path, path) = (folder.join("ca.key"), folder.join("ca.pem"));
        if key_path.exists() || path.exists() {
            return Err(PkiError::Exists(folder.to_owned()));
        }
        let (authority, key) = Authority::generate(now)?;
        write_secret(&key_path, &key)?;
        write_file(&path, &authority.certificate)?;
        let (certificate, key) = authority.delegate(now)?;
        write_secret(&folder.join("agents-ca.key"), &key)?;
        write_file(&folder.join("agents-ca.pem"), &certificate)?;
        Ok(authority)
    }

    /// Makes an authority for the certificates of agents alone. It cannot speak for a component: the names of those are
    /// excluded, and so are authorities below it; and [whoever it certifies](super::Peer) is an agent, whatever else
    /// the certificate says.
    fn delegate(&self, now: Timestamp) -> Result<(String, Zeroizing<String>), PkiError> {
        let key = KeyPair::generate()?;
        let mut params = leaf(AGENTS_AUTHORITY, AUTHORITY_DAYS, now);
        make_authority(&mut params, 0);
        let components = Role::ALL.into_iter().filter(|role| role.is_component());
        let names = components.map(Role::name).chain(["gate"]);
        let everywhere = [
            CidrSubnet::from_v4_prefix([0, 0, 0, 0], 0),
            CidrSubnet::from_v6_prefix([0; 16], 0),
        ];
        let excluded = names.map(|name| GeneralSubtree::DnsName(name.to_owned()));
        params.name_constraints = Some(NameConstraints {
            permitted_subtrees: Vec::new(),
            excluded_subtrees: excluded
                .chain(everywhere.map(GeneralSubtree::IpAddress))
                .collect(),
        });
        let certificate = params.signed_by(&key, &self.issuer)?.pem();
        Ok((certificate, Zeroizing::new(key.serialize_pem())))
    }

    /// Opens the authority for agents in a folder; an installation that was made before there was one uses its own.
    pub fn open_for_agents(folder: &Path) -> Result<Self, PkiError> {
        let key_path = folder.join("agents-ca.key");
        if !key_path.exists() {
            return Authority::open(folder);
        }
        let key = Zeroizing::new(read_file(&key_path)?);
        let chain = read_file(&folder.join("agents-ca.pem"))?;
        let issuer = Issuer::from_ca_cert_pem(&chain, KeyPair::from_pem(&key)?)?;
        Ok(Authority {
            issuer,
            certificate: read_file(&folder.join("ca.pem"))?,
            chain,
        })
    }

    /// Opens the authority in a folder.
    pub fn open(folder: &Path) -> Result<Self, PkiError> {
        let key = Zeroizing::new(read_file(&folder.join("ca.key"))?);
        let certificate = read_file(&folder.join("ca.pem"))?;
        let issuer = Issuer::from_ca_cert_pem(&certificate, KeyPair::from_pem(&key)?)?;
        Ok(Authority {
            issuer,
            certificate,
            chain: String::new(),
        })
    }

    /// The installation's certificate, in PEM.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Issues a key and certificate for a component with some roles.
    pub fn issue(&self, name: &str, roles: &[Role], now: Timestamp) -> Result<Issued, PkiError> {
        self.issue_named((name, &[]), roles, now)
    }

    /// The same with further names or addresses by which it is reached.
    pub fn issue_named(
        &self,
        names: (&str, &[String]),
        roles: &[Role],
        now: Timestamp,
    ) -> Result<Issued, PkiError> {
        self.certify(KeyPair::generate()?, names, roles, now)
    }

    /// Issues another certificate for a component that has a key (PEM).
    pub fn issue_for(
        &self,
        key: &str,
        names: (&str, &[String]),
        roles: &[Role],
        now: Timestamp,
    ) -> Result<Issued, PkiError> {
        self.certify(KeyPair::from_pem(key)?, names, roles, now)
    }

    fn certify(
        &self,
        key: KeyPair,
        (name, others): (&str, &[String]),
        roles: &[Role],
        now: Timestamp,
    ) -> Result<Issued, PkiError> {
        for name in others.iter().map(String::as_str).chain([name]) {
            let reserved = Role::ALL.iter().find(|role| role.name() == name);
            if reserved.is_some_and(|role| role.is_component() && !roles.contains(role)) {
                return Err(PkiError::Name(name.to_owned()));
            }
        }
        let mut params = self.component(name, roles, now)?;
        for other in others {
            let other = name_or_address(other)?;
            if !params.subject_alt_names.contains(&other) {
                params.subject_alt_names.push(other);
            }
        }
        let certificate = params.signed_by(&key, &self.issuer)?.pem() + &self.chain;
        Ok(Issued {
            certificate,
            key: Zeroizing::new(key.serialize_pem()),
        })
    }

    fn component(
        &self,
        name: &str,
        roles: &[Role],
        now: Timestamp,
    ) -> Result<CertificateParams, PkiError> {
        let mut params = leaf(name, COMPONENT_DAYS, now);
        params.subject_alt_names = vec![dns(name)?];
        for role in roles {
            params.subject_alt_names.push(uri(role.uri())?);
            if role.is_component() && role.name() != name {
                // Components find each other by the name of their role.
                params.subject_alt_names.push(dns(role.name())?);
            }
        }
        Ok(params)
    }

    /// Issues the certificate of a registered agent: for the key in its request, and nothing else of
    /// the request, bound to its worker and attestation key.
    pub fn issue_agent(
        &self,
        request: &[u8],
        name: &str,
        worker: Uuid,
        ak_name: &[u8],
        now: Timestamp,
    ) -> Result<String, PkiError> {
        let request = CertificateSigningRequestDer::from(request.to_vec());
        let request =
            CertificateSigningRequestParams::from_der(&request).map_err(|_| PkiError::Request)?;
        let mut params = leaf(name, AGENT_DAYS, now);
        params.subject_alt_names = vec![
            dns(name)?,
            uri(Role::Agent.uri())?,
            uri(worker_uri(worker))?,
            uri(attestation_key_uri(ak_name))?,
        ];
        Ok(params.signed_by(&request.public_key, &self.issuer)?.pem() + &self.chain)
    }
}

/// A key of the agent's own and the request for its certificate (DER).
pub fn agent_request(name: &str) -> Result<(Zeroizing<String>, Vec<u8>), PkiError> {
    let key = KeyPair::generate()?;
    let request = request_for(name, &key)?;
    Ok((Zeroizing::new(key.serialize_pem()), request))
}

/// A request for a certificate of an existing key (DER).
pub fn request_with(name: &str, key: &str) -> Result<Vec<u8>, PkiError> {
    request_for(name, &KeyPair::from_pem(key)?)
}

fn request_for(name: &str, key: &KeyPair) -> Result<Vec<u8>, PkiError> {
    let mut params = CertificateParams::default();
    params.distinguished_name = named(name);
    params.subject_alt_names = vec![dns(name)?];
    Ok(params.serialize_request(key)?.der().to_vec())
}

/// The public key (`SubjectPublicKeyInfo`, DER) of a private key in PEM.
pub fn public_key_of(key: &str) -> Result<Vec<u8>, PkiError> {
    Ok(KeyPair::from_pem(key)?.subject_public_key_info())
}

/// The digest of the public key in a certificate request (DER).
pub fn request_key(request: &[u8]) -> Result<String, PkiError> {
    let request = CertificateSigningRequestDer::from(request.to_vec());
    let request =
        CertificateSigningRequestParams::from_der(&request).map_err(|_| PkiError::Request)?;
    Ok(key_digest(&request.public_key.subject_public_key_info()))
}

/// Reads a text file.
pub fn read_file(path: &Path) -> Result<String, PkiError> {
    fs::read_to_string(path).map_err(|error| PkiError::File {
        path: path.to_owned(),
        error,
    })
}

/// Writes a file that others may read.
pub fn write_file(path: &Path, text: &str) -> Result<(), PkiError> {
    write(path, text, 0o644)
}

/// Writes a file that only its owner may read.
pub fn write_secret(path: &Path, text: &str) -> Result<(), PkiError> {
    write(path, text, 0o600)
}

/// Writes beside and renames, so that a loss of power leaves the old file or the new one.
fn write(path: &Path, text: &str, mode: u32) -> Result<(), PkiError> {
    let failed = |error| PkiError::File {
        path: path.to_owned(),
        error,
    };
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .open(&beside)
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    fs::rename(&beside, path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, SystemClock};
    use crate::net::Peer;
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;

    fn peer(pem: &str) -> Peer {
        let der = CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
        Peer::from_certificate(&der).unwrap()
    }

    #[test]
    fn a_component_has_its_roles_and_no_others() {
        let now = SystemClock.now();
        let (authority, _) = Authority::generate(now).unwrap();
        let issued = authority.issue("verifier", &[Role::Verifier], now).unwrap();
        let peer = peer(&issued.certificate);
        assert_eq!(peer.names, ["verifier"]);
        assert!(matches!(
            authority.issue("registrar", &[Role::Agent], now),
            Err(PkiError::Name(_))
        ));
        assert!(peer.has_any(&[Role::Verifier]));
        assert!(!peer.has_any(&[Role::Operator, Role::Agent]));
        let key = public_key_of(&issued.key).unwrap();
        assert_eq!(peer.key, crate::net::identity::key_digest(&key));
    }

    #[test]
    fn an_agent_gets_what_it_proved_and_not_what_it_asked_for() {
        let now = SystemClock.now();
        let (authority, _) = Authority::generate(now).unwrap();
        let (key, _) = agent_request("worker-1").unwrap();
        let pair = KeyPair::from_pem(&key).unwrap();
        let mut greedy = CertificateParams::default();
        greedy.subject_alt_names = vec![uri(Role::Operator.uri()).unwrap()];
        let request = greedy.serialize_request(&pair).unwrap().der().to_vec();
        let worker = Uuid::new_v4();
        let pem = authority
            .issue_agent(&request, "worker-1", worker, &[0, 11, 5], now)
            .unwrap();
        let peer = peer(&pem);
        assert_eq!(peer.names, ["worker-1"]);
        assert_eq!(peer.roles.into_iter().collect::<Vec<_>>(), [Role::Agent]);
        assert_eq!(peer.worker, Some(worker));
        assert_eq!(peer.attestation_key, Some(vec![0, 11, 5]));
        let broken = authority.issue_agent(b"x", "worker-1", worker, &[], now);
        assert!(matches!(broken, Err(PkiError::Request)));
    }

    /// What an attacker makes with the key of the authority for agents.
    #[test]
    fn the_authority_for_agents_makes_agents_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemClock.now();
        Authority::create(folder.path(), now).unwrap();
        let agents = Authority::open_for_agents(folder.path()).unwrap();
        let chain = |pem: &str| -> Vec<CertificateDer<'static>> {
            CertificateDer::pem_slice_iter(pem.as_bytes())
                .collect::<Result<_, _>>()
                .unwrap()
        };
        let root = chain(agents.certificate()).remove(0);
        let mut roots = rustls::RootCertStore::empty();
        roots.add(root).unwrap();
        let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
        let clients = rustls::server::WebPkiClientVerifier::builder_with_provider(
            std::sync::Arc::new(roots),
            provider,
        )
        .build()
        .unwrap();
        let verified = |pem: &str| {
            let certificates = chain(pem);
            let (leaf, rest) = certificates.split_first().unwrap();
            let time = rustls::pki_types::UnixTime::now();
            clients.verify_client_cert(leaf, rest, time).is_ok()
        };
        let issued = agents.issue("worker-1", &[Role::Agent], now).unwrap();
        assert!(verified(&issued.certificate));
        assert!(peer(&issued.certificate).has_any(&[Role::Agent]));
        let greedy = [Role::Agent, Role::Operator, Role::Verifier];
        let params = agents.component("worker-1", &greedy, now).unwrap();
        let key = KeyPair::generate().unwrap();
        let pem = params.signed_by(&key, &agents.issuer).unwrap().pem();
        let roles: Vec<Role> = peer(&pem).roles.into_iter().collect();
        assert_eq!(roles, [Role::Agent], "an operator is not made by it");
        assert!(
            !verified(&(pem + &agents.chain)),
            "it has the verifier's name"
        );
        for name in ["gate", "verifier", "registrar", "a.verifier"] {
            let mut params = leaf(name, 1, now);
            params.subject_alt_names = vec![dns(name).unwrap(), uri(Role::Agent.uri()).unwrap()];
            let pem = params.signed_by(&key, &agents.issuer).unwrap().pem();
            assert!(!verified(&(pem + &agents.chain)), "{name}");
        }
        let mut params = leaf("x", 1, now);
        params.subject_alt_names = vec![SanType::IpAddress([127, 0, 0, 1].into())];
        let pem = params.signed_by(&key, &agents.issuer).unwrap().pem();
        assert!(
            !verified(&(pem + &agents.chain)),
            "no address is an agent's"
        );
        // An authority below it is none.
        let mut params = leaf("below", 1, now);
        make_authority(&mut params, 0);
        let below = params.signed_by(&key, &agents.issuer).unwrap().pem();
        let issuer = Issuer::from_ca_cert_pem(&below, &key).unwrap();
        let mut params = leaf("worker-2", 1, now);
        params.subject_alt_names =
            vec![dns("worker-2").unwrap(), uri(Role::Operator.uri()).unwrap()];
        let other = KeyPair::generate().unwrap();
        let pem = params.signed_by(&other, &issuer).unwrap().pem();
        assert!(!verified(&(pem + &below + &agents.chain)));
    }

    #[test]
    fn an_authority_is_not_overwritten_and_its_key_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemClock.now();
        Authority::create(folder.path(), now).unwrap();
        assert!(matches!(
            Authority::create(folder.path(), now),
            Err(PkiError::Exists(_))
        ));
        let mode = fs::metadata(folder.path().join("ca.key"))
            .unwrap()
            .permissions();
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777,
            0o600
        );
        Authority::open(folder.path()).unwrap();
    }
}
