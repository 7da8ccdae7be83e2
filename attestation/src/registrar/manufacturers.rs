//! Manufacturers of TPMs, kept with their certificates and revocation lists.

use super::certificate::Certificate;
use super::chain::{EkIdentity, TrustStore};
use super::record::{CaKind, Manufacturer, RegistrarError, StoredCertificate};
use super::revocation::RevocationList;
use super::store::{Registrar, found};
use crate::clock::Timestamp;
use crate::database::{Transaction, params};
use crate::digest::HashAlg;

impl Registrar {
    /// Adds a manufacturer of TPMs.
    pub fn create_manufacturer(
        &self,
        id: &str,
        name: &str,
    ) -> Result<Manufacturer, RegistrarError> {
        let manufacturer = Manufacturer {
            id: id.to_ascii_lowercase(),
            name: name.to_owned(),
        };
        self.change("manufacturer", |transaction| {
            transaction.execute(
                "INSERT INTO manufacturer (id, name) VALUES (?1, ?2)",
                params![manufacturer.id, manufacturer.name],
            )?;
            Ok(())
        })?;
        Ok(manufacturer)
    }

    /// All manufacturers.
    pub fn manufacturers(&self) -> Result<Vec<Manufacturer>, RegistrarError> {
        let all = "SELECT id, name FROM manufacturer ORDER BY id";
        let rows = self.lock().query(all, &[])?;
        let found = rows.iter().map(|row| {
            Ok(Manufacturer {
                id: row.get(0)?,
                name: row.get(1)?,
            })
        });
        found.collect()
    }

    /// Removes a manufacturer with all its certificates: its TPMs cannot register any more.
    pub fn delete_manufacturer(&self, id: &str) -> Result<(), RegistrarError> {
        self.delete(
            "manufacturer",
            "DELETE FROM manufacturer WHERE id = ?1",
            &id.to_ascii_lowercase(),
        )
    }

    /// Adds a certificate of a manufacturer's certification authority, DER.
    pub fn add_certificate(
        &self,
        manufacturer: &str,
        kind: CaKind,
        der: &[u8],
    ) -> Result<StoredCertificate, RegistrarError> {
        let certificate = Certificate::from_der(der)?;
        let stored = StoredCertificate {
            digest: certificate.digest().to_string(),
            manufacturer: manufacturer.to_ascii_lowercase(),
            kind,
        };
        let kind = match kind {
            CaKind::Root => "root",
            CaKind::Intermediate => "intermediate",
        };
        self.change("certificate", |transaction| {
            known_manufacturer(transaction, &stored.manufacturer)?;
            transaction.execute(
                "INSERT INTO ca_certificate (digest, manufacturer, kind, der)
                 VALUES (?1, ?2, ?3, ?4)",
                params![stored.digest, stored.manufacturer, kind, der],
            )?;
            Ok(())
        })?;
        Ok(stored)
    }

    /// The certificates of a manufacturer.
    pub fn certificates(
        &self,
        manufacturer: &str,
    ) -> Result<Vec<StoredCertificate>, RegistrarError> {
        let manufacturer = manufacturer.to_ascii_lowercase();
        self.change("manufacturer", |transaction| {
            known_manufacturer(transaction, &manufacturer)?;
            let rows = transaction.query(
                "SELECT digest, kind FROM ca_certificate WHERE manufacturer = ?1 ORDER BY kind, digest",
                params![manufacturer],
            )?;
            let found = rows.iter().map(|row| {
                Ok(StoredCertificate {
                    digest: row.get(0)?,
                    manufacturer: manufacturer.clone(),
                    kind: match row.get::<String>(1)?.as_str() {
                        "root" => CaKind::Root,
                        _ => CaKind::Intermediate,
                    },
                })
            });
            found.collect()
        })
    }

    /// Removes a certificate by its digest.
    pub fn delete_certificate(&self, digest: &str) -> Result<(), RegistrarError> {
        self.delete(
            "certificate",
            "DELETE FROM ca_certificate WHERE digest = ?1",
            digest,
        )
    }

    /// Adds a revocation list of a manufacturer, DER.
    pub fn add_revocation_list(
        &self,
        manufacturer: &str,
        der: &[u8],
    ) -> Result<String, RegistrarError> {
        RevocationList::from_der(der)?;
        let digest = HashAlg::Sha256.hash(&[der]).to_string();
        let manufacturer = manufacturer.to_ascii_lowercase();
        self.change("revocation list", |transaction| {
            known_manufacturer(transaction, &manufacturer)?;
            transaction.execute(
                "INSERT INTO revocation_list (digest, manufacturer, der) VALUES (?1, ?2, ?3)",
                params![digest, manufacturer, der],
            )?;
            Ok(())
        })?;
        Ok(digest)
    }

    /// Removes a revocation list by its digest, when a newer one has taken its place.
    pub fn delete_revocation_list(&self, digest: &str) -> Result<(), RegistrarError> {
        self.delete(
            "revocation list",
            "DELETE FROM revocation_list WHERE digest = ?1",
            digest,
        )
    }

    /// Everything that decides about EK certificates.
    pub fn trust_store(&self) -> Result<TrustStore, RegistrarError> {
        self.lock().read(|on| {
            let mut store = TrustStore::new();
            let all = "SELECT manufacturer, kind, der FROM ca_certificate";
            for row in on.query(all, &[])? {
                let (manufacturer, kind): (String, String) = (row.get(0)?, row.get(1)?);
                match kind.as_str() {
                    "root" => store.add_root(&manufacturer, row.bytes(2)?)?,
                    _ => store.add_intermediate(row.bytes(2)?)?,
                }
            }
            for row in on.query("SELECT der FROM revocation_list", &[])? {
                store.add_revocation_list(row.bytes(0)?)?;
            }
            Ok(store)
        })
    }

    /// Validates an EK certificate with the certificates and lists kept here.
    pub fn validate_ek(
        &self,
        certificate: &[u8],
        chain: &[Vec<u8>],
        now: Timestamp,
    ) -> Result<EkIdentity, RegistrarError> {
        Ok(self.trust_store()?.validate_ek(certificate, chain, now)?)
    }
}

fn known_manufacturer(transaction: &Transaction<'_>, id: &str) -> Result<(), RegistrarError> {
    let known = transaction.first("SELECT 1 FROM manufacturer WHERE id = ?1", params![id])?;
    found("manufacturer", id, usize::from(known.is_some()))
}
