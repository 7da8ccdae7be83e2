//! What the registrar's endpoints take, free of any transport.
//!
//! The endpoints are those of the source document with their actions in the method instead of the path. A
//! request that fails has a status of its own, never a success with an error inside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::{CaKind, RegistrarError};
use super::store::Registrar;

/// A tenant to be enrolled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateTenant {
    /// Its name.
    pub name: String,
    /// Its public key (P-256), in PEM.
    pub public_key: String,
}

/// A manufacturer of TPMs to be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateManufacturer {
    /// The TCG's identifier, such as `id:49465800`.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// Certificates of a manufacturer to be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddCertificate {
    /// Whether they are roots.
    pub kind: CaKind,
    /// One certificate or more, in PEM.
    pub certificate: String,
}

/// A revocation list of a manufacturer to be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddRevocationList {
    /// The list, in PEM.
    pub revocation_list: String,
}

/// The HTTP status of a failure.
pub fn status_of(error: &RegistrarError) -> u16 {
    match error {
        RegistrarError::NotFound { .. } => 404,
        RegistrarError::Exists { .. }
        | RegistrarError::SameTpm { .. }
        | RegistrarError::SameSubject { .. }
        | RegistrarError::Unsettled { .. } => 409,
        RegistrarError::Key
        | RegistrarError::Certificate(_)
        | RegistrarError::Revocation(_)
        | RegistrarError::Ek(_) => 422,
        RegistrarError::Database(_) | RegistrarError::Unreadable(_) => 500,
    }
}

impl Registrar {
    /// `POST /v1/manufacturers/{id}/certificates`: the certificates in the PEM text.
    pub fn add_certificates_pem(
        &self,
        manufacturer: &str,
        request: &AddCertificate,
    ) -> Result<usize, RegistrarError> {
        let malformed = |error: der::Error| {
            RegistrarError::Certificate(super::CertificateError::Malformed(error.to_string()))
        };
        let certificates = x509_cert::Certificate::load_pem_chain(request.certificate.as_bytes())
            .map_err(malformed)?;
        let mut added = 0;
        for certificate in certificates {
            let der = der::Encode::to_der(&certificate).map_err(malformed)?;
            match self.add_certificate(manufacturer, request.kind, &der) {
                Ok(_) => added += 1,
                // What is there already is as good as added.
                Err(RegistrarError::Exists { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(added)
    }

    /// `POST /v1/manufacturers/{id}/revocation-lists`: the list in the PEM text; gives its digest.
    pub fn add_revocation_list_pem(
        &self,
        manufacturer: &str,
        request: &AddRevocationList,
    ) -> Result<String, RegistrarError> {
        let (_, der) = der::pem::decode_vec(request.revocation_list.trim().as_bytes())
            .map_err(|_| super::RevocationError::Malformed)?;
        self.add_revocation_list(manufacturer, &der)
    }
}
