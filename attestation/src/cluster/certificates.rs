//! The webhook's own certificates: made on the spot, and replaced long before they run out.
//!
//! The API server is told a new authority while the old certificate is still shown, and believes both: at no moment is a
//! request refused because of a rotation.

use std::sync::Arc;

use rustls::ServerConfig;

use crate::clock::Timestamp;
use crate::net::pki::COMPONENT_DAYS;
use crate::net::tls::{Credentials, TlsError, open_server_of};
use crate::net::{Authority, PkiError};

/// How long a certificate is shown: a third of its life is left then.
const SHOWN: i64 = COMPONENT_DAYS * 86_400 * 2 / 3;
/// How long the API servers may take to hear of a new authority, in seconds.
const HEARD: i64 = 60;

/// Why there are no certificates.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// They cannot be made.
    #[error(transparent)]
    Pki(#[from] PkiError),
    /// They cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

/// A certificate and the authority that vouches for it.
struct Pair {
    authority: String,
    server: Arc<ServerConfig>,
    made: Timestamp,
}

impl Pair {
    fn make(names: &[String], now: Timestamp) -> Result<Self, CertificateError> {
        let (authority, _) = Authority::generate(now)?;
        let issued = authority.issue_named(("locus-admission", names), &[], now)?;
        let credentials = Credentials::new(authority.certificate(), issued);
        Ok(Pair {
            authority: authority.certificate().to_owned(),
            server: open_server_of(&[&credentials])?,
            made: now,
        })
    }
}

/// The certificates of a webhook, over time.
pub struct Certificates {
    names: Vec<String>,
    shown: Pair,
    next: Option<Pair>,
    before: Option<String>,
}

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotated {
    /// Nothing.
    Nothing,
    /// There is one authority more to tell of.
    Announced,
    /// Another certificate is shown.
    Shown,
}

impl Certificates {
    /// The first, for the names by which the webhook is reached.
    pub fn new(names: &[String], now: Timestamp) -> Result<Self, CertificateError> {
        Ok(Certificates {
            names: names.to_vec(),
            shown: Pair::make(names, now)?,
            next: None,
            before: None,
        })
    }

    /// The authorities that the API server is to believe.
    pub fn bundle(&self) -> String {
        let next = self.next.as_ref().map(|pair| pair.authority.as_str());
        let all = [
            Some(self.shown.authority.as_str()),
            next,
            self.before.as_deref(),
        ];
        all.into_iter().flatten().collect()
    }

    /// What is shown to who connects.
    pub fn server(&self) -> Arc<ServerConfig> {
        self.shown.server.clone()
    }

    /// Does what is due. What it announces has to be told before the next call.
    pub fn rotate(&mut self, now: Timestamp) -> Result<Rotated, CertificateError> {
        let age = |pair: &Pair| now.millis_since(pair.made) / 1000;
        if let Some(next) = self.next.take_if(|next| age(next) >= HEARD) {
            self.before = Some(std::mem::replace(&mut self.shown, next).authority);
            return Ok(Rotated::Shown);
        }
        if self.next.is_none() && age(&self.shown) >= SHOWN {
            self.next = Some(Pair::make(&self.names, now)?);
            self.before = None;
            return Ok(Rotated::Announced);
        }
        Ok(Rotated::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_is_told_before_it_counts_and_believed_after_it_did() {
        let day = |days: i64| Timestamp::from_secs(1_800_000_000 + days * 86_400);
        let names = ["127.0.0.1".to_owned()];
        let mut own = Certificates::new(&names, day(0)).unwrap();
        let first = own.bundle();
        assert_eq!(own.rotate(day(59)).unwrap(), Rotated::Nothing);
        let shown = own.server();
        assert_eq!(own.rotate(day(60)).unwrap(), Rotated::Announced);
        assert!(own.bundle().starts_with(&first) && own.bundle().len() > first.len());
        assert!(
            Arc::ptr_eq(&shown, &own.server()),
            "not shown before it was told"
        );
        assert_eq!(own.rotate(day(60)).unwrap(), Rotated::Nothing);
        let told = own.bundle();
        let later = day(60).plus_secs(60);
        assert_eq!(own.rotate(later).unwrap(), Rotated::Shown);
        assert!(!Arc::ptr_eq(&shown, &own.server()));
        // Both are believed still, the new one first.
        assert_eq!(own.bundle().len(), told.len());
        assert!(own.bundle().ends_with(&first));
        // The one before the last is forgotten with the next rotation.
        assert_eq!(own.rotate(day(121)).unwrap(), Rotated::Announced);
        assert!(!own.bundle().contains(&first));
    }
}
