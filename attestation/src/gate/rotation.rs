//! Another key for the verifier, without touching workers by hand.

use std::path::Path;
use std::sync::Arc;

use p256::ecdsa::VerifyingKey;
use p256::pkcs8::DecodePublicKey as _;

use super::GateError;
use super::serve::{COMPONENTS, credentials_name};
use crate::clock::Clock;
use crate::evidence::jws::TokenKey;
use crate::net::pki::{names_in, public_key_of, read_file, write_file};
use crate::net::tls::Credentials;
use crate::net::{Authority, Role};
use crate::protocol::Succession;

/// The file with the keys that the verifier had, each with what follows it.
const FILE: &str = "verifier-succession.json";

/// Gives the verifier new keys, wherever it runs; what it had says what follows.
pub fn rotate_key(folder: &Path, clock: &dyn Clock) -> Result<(), GateError> {
    let authority = Authority::open(folder)?;
    let mut known = successions(folder)?.to_vec();
    let mut replaced = Vec::new();
    for roles in [vec![Role::Verifier], COMPONENTS.to_vec()] {
        let name = credentials_name(&roles);
        if !folder.join(format!("{name}.key")).exists() {
            continue;
        }
        let old = Credentials::read(folder, &name)?;
        let names = names_in(&old.certificate)?;
        let new = authority.issue_named((&name, &names), &roles, clock.now())?;
        let (from, to) = (public_key_of(&old.key)?, public_key_of(&new.key)?);
        // A change that was begun and not finished is void.
        known.retain(|before| before.from != from);
        known.push(Succession::sign(&TokenKey::from_pem(&old.key)?, &from, &to));
        replaced.push((name, Credentials::new(authority.certificate(), new)));
    }
    // The statements first: a key that nobody has leads nowhere, and one that nobody can follow to locks agents out.
    let text = serde_json::to_string_pretty(&known)
        .map_err(|error| GateError::Succession(error.to_string()))?;
    write_file(&folder.join(FILE), &text)?;
    for (name, credentials) in replaced {
        credentials.write(folder, &name)?;
    }
    Ok(())
}

/// Which key follows which.
pub(super) fn successions(folder: &Path) -> Result<Arc<[Succession]>, GateError> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Ok(Arc::default());
    }
    let text = read_file(&path)?;
    let known: Vec<Succession> =
        serde_json::from_str(&text).map_err(|error| GateError::Succession(error.to_string()))?;
    Ok(known.into())
}

/// The keys that the verifier had, whose results may still count.
pub(super) fn retired(successions: &[Succession]) -> Vec<VerifyingKey> {
    let keys = successions.iter().rev();
    keys.filter_map(|before| VerifyingKey::from_public_key_der(&before.from).ok())
        .collect()
}
