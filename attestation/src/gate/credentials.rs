//! The keys that a process of the gate uses: those of its own components, and no others.

use std::path::Path;
use std::sync::Arc;

use rustls::{ClientConfig, ServerConfig};

use super::GateError;
use super::serve::{COMPONENTS, credentials_name};
use crate::net::Role;
use crate::net::tls::{self, Credentials};

/// The credentials of the components of a process.
///
/// A process with all components has one certificate with all their roles. One with some of them has a
/// certificate for each, and acts as each with its own: a verifier that also keeps reference values cannot
/// register workers, and is the same verifier to agents wherever it runs.
pub(super) struct OwnCredentials {
    of: Vec<(Role, Credentials)>,
}

impl OwnCredentials {
    /// Reads what the components need.
    pub(super) fn read(folder: &Path, roles: &[Role]) -> Result<Self, GateError> {
        if let Some(role) = roles.iter().find(|role| !role.is_component()) {
            return Err(GateError::NotAComponent(role.name()));
        }
        let all = COMPONENTS.iter().all(|role| roles.contains(role));
        let read = |role: &Role| {
            let name = if all {
                credentials_name(&COMPONENTS)
            } else {
                role.name().to_owned()
            };
            Ok((*role, Credentials::read(folder, &name)?))
        };
        let of = roles
            .iter()
            .map(read)
            .collect::<Result<Vec<_>, GateError>>()?;
        Ok(OwnCredentials { of })
    }

    /// Those of a component that runs here.
    pub(super) fn of(&self, role: Role) -> Result<&Credentials, GateError> {
        let found = self.of.iter().find(|(known, _)| *known == role);
        let found = found.map(|(_, credentials)| credentials);
        found.ok_or(GateError::NotAComponent(role.name()))
    }

    /// How a component opens connections.
    pub(super) fn client(&self, role: Role) -> Result<Arc<ClientConfig>, GateError> {
        Ok(self.of(role)?.client()?)
    }

    /// How the process accepts connections of everybody.
    pub(super) fn open_server(&self) -> Result<Arc<ServerConfig>, GateError> {
        let all: Vec<&Credentials> = self.of.iter().map(|(_, own)| own).collect();
        Ok(tls::open_server_of(&all)?)
    }

    /// How the process accepts them: each client sees the certificate of the component that it asks for.
    pub(super) fn server(&self) -> Result<Arc<ServerConfig>, GateError> {
        let all: Vec<&Credentials> = self.of.iter().map(|(_, own)| own).collect();
        Ok(tls::server_of(&all)?)
    }
}
