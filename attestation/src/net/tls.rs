//! TLS configurations: version 1.3, both sides with certificates of the installation's authority.

use std::path::Path;
use std::sync::{Arc, RwLock};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, ServerConfig, server::WantsServerCert};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use zeroize::Zeroizing;

use super::identity::Peer;
use super::pki::{Issued, PkiError, read_file, write_file, write_secret};
use crate::clock::Timestamp;

/// Why a TLS configuration could not be made.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// A PEM text.
    #[error("the {0} is not valid PEM")]
    Pem(&'static str),
    /// The TLS library's objection.
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The verifier of client certificates cannot be made.
    #[error("TLS: the authority's certificate cannot verify clients: {0}")]
    Verifier(String),
}

/// A component's own certificate and key, and the authority it trusts, in PEM.
#[derive(Clone)]
pub struct Credentials {
    /// The authority's certificate.
    pub authority: String,
    /// The component's certificate.
    pub certificate: String,
    /// The component's private key.
    pub key: Zeroizing<String>,
}

impl Credentials {
    /// From what an authority issued.
    pub fn new(authority: &str, issued: Issued) -> Self {
        Credentials {
            authority: authority.to_owned(),
            certificate: issued.certificate,
            key: issued.key,
        }
    }

    /// Reads `ca.pem`, `NAME.pem` and `NAME.key` from a folder.
    pub fn read(folder: &Path, name: &str) -> Result<Self, PkiError> {
        Ok(Credentials {
            authority: read_file(&folder.join("ca.pem"))?,
            certificate: read_file(&folder.join(format!("{name}.pem")))?,
            key: Zeroizing::new(read_file(&folder.join(format!("{name}.key")))?),
        })
    }

    /// Writes the three files to a folder; the key is readable by its owner alone.
    pub fn write(&self, folder: &Path, name: &str) -> Result<(), PkiError> {
        write_file(&folder.join("ca.pem"), &self.authority)?;
        write_secret(&folder.join(format!("{name}.key")), &self.key)?;
        write_file(&folder.join(format!("{name}.pem")), &self.certificate)
    }

    fn roots(&self) -> Result<Arc<RootCertStore>, TlsError> {
        let mut roots = RootCertStore::empty();
        let authority = CertificateDer::from_pem_slice(self.authority.as_bytes())
            .map_err(|_| TlsError::Pem("authority's certificate"))?;
        roots.add(authority)?;
        Ok(Arc::new(roots))
    }

    fn own(&self) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
        let certificates = CertificateDer::pem_slice_iter(self.certificate.as_bytes())
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| TlsError::Pem("certificate"))?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes())
            .map_err(|_| TlsError::Pem("private key"))?;
        Ok((certificates, key))
    }

    /// Whether the component's certificate counts at a time; one that cannot be read does not.
    pub fn count_at(&self, now: Timestamp) -> bool {
        let der = CertificateDer::from_pem_slice(self.certificate.as_bytes()).ok();
        let Some(certificate) = der.and_then(|der| Certificate::from_der(&der).ok()) else {
            return false;
        };
        let validity = certificate.tbs_certificate().validity();
        let seconds = |time: &x509_cert::time::Time| time.to_unix_duration().as_secs();
        let now = u64::try_from(now.secs()).unwrap_or(0);
        (seconds(&validity.not_before)..=seconds(&validity.not_after)).contains(&now)
    }

    /// For the side that accepts connections.
    pub fn server(&self) -> Result<Arc<ServerConfig>, TlsError> {
        server_of(&[self])
    }

    /// For the side that opens connections.
    pub fn client(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let (certificates, key) = self.own()?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(self.roots()?)
            .with_client_auth_cert(certificates, key)?;
        Ok(Arc::new(config))
    }
}

/// For a side that opens connections and shows nothing: it knows who answers by the authority (PEM).
pub fn client_of_everybody(authority: &str) -> Result<Arc<ClientConfig>, TlsError> {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(authority.as_bytes())
        .map_err(|_| TlsError::Pem("authority's certificate"))?;
    roots.add(authority)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// For a side that accepts connections under several names: who connects sees the certificate of the name that
/// it asks for, or the first.
pub fn server_of(credentials: &[&Credentials]) -> Result<Arc<ServerConfig>, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let first = credentials.first().ok_or(TlsError::Pem("certificate"))?;
    let clients = WebPkiClientVerifier::builder_with_provider(first.roots()?, provider.clone())
        .build()
        .map_err(|error| TlsError::Verifier(error.to_string()))?;
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_client_cert_verifier(clients);
    accepting(config, credentials)
}

/// The same for whoever connects, without a certificate.
pub fn open_server_of(credentials: &[&Credentials]) -> Result<Arc<ServerConfig>, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth();
    accepting(config, credentials)
}

fn accepting(
    config: ConfigBuilder<ServerConfig, WantsServerCert>,
    credentials: &[&Credentials],
) -> Result<Arc<ServerConfig>, TlsError> {
    let provider = config.crypto_provider().clone();
    let mut known = Vec::new();
    for own in credentials {
        let (certificates, key) = own.own()?;
        let names = certificates
            .first()
            .and_then(|certificate| Peer::from_certificate(certificate))
            .map_or_else(Vec::new, |peer| peer.names);
        let certified = CertifiedKey::from_der(certificates, key, &provider)?;
        known.push((names, Arc::new(certified)));
    }
    let mut config = config.with_cert_resolver(Arc::new(ByName(known)));
    config.max_early_data_size = 0;
    Ok(Arc::new(config))
}

/// Certificates by the names in them.
#[derive(Debug)]
struct ByName(Vec<(Vec<String>, Arc<CertifiedKey>)>);

impl ResolvesServerCert for ByName {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let asked = hello.server_name();
        let named = |names: &[String]| {
            asked.is_some_and(|asked| names.iter().any(|name| name.eq_ignore_ascii_case(asked)))
        };
        let found = self.0.iter().find(|(names, _)| named(names));
        found.or(self.0.first()).map(|(_, key)| key.clone())
    }
}

/// The configuration of a server that can be replaced while it runs: certificates are rotated.
#[derive(Clone)]
pub struct SharedServerConfig(Arc<RwLock<Arc<ServerConfig>>>);

impl SharedServerConfig {
    /// Starts with some configuration.
    pub fn new(config: Arc<ServerConfig>) -> Self {
        SharedServerConfig(Arc::new(RwLock::new(config)))
    }

    /// The configuration for the next connection.
    pub fn current(&self) -> Arc<ServerConfig> {
        match self.0.read() {
            Ok(current) => current.clone(),
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }

    /// Replaces it for all later connections.
    pub fn replace(&self, config: Arc<ServerConfig>) {
        match self.0.write() {
            Ok(mut current) => *current = config,
            Err(poisoned) => *poisoned.into_inner() = config,
        }
    }
}
