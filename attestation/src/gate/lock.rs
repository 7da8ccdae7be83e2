//! One process for each component of an installation.
//!
//! Two verifiers on one database would each believe what the other forgot. The lock is the operating system's:
//! it ends with the process, however that ends, and what is left of the file locks nobody out.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::GateError;
use crate::net::Role;

/// The locks of the components that run in this process, until it is dropped.
pub(super) struct Locks {
    _held: Vec<Flock<File>>,
}

impl Locks {
    /// Takes the lock of each component, or none.
    pub(super) fn take(folder: &Path, roles: &[Role]) -> Result<Self, GateError> {
        let mut roles = roles.to_vec();
        roles.sort_unstable();
        roles.dedup();
        let held = roles.into_iter().map(|role| lock(folder, role));
        Ok(Locks {
            _held: held.collect::<Result<_, _>>()?,
        })
    }
}

fn lock(folder: &Path, role: Role) -> Result<Flock<File>, GateError> {
    let path = folder.join(format!("{}.lock", role.name()));
    let failed = |error: std::io::Error| GateError::File {
        path: path.clone(),
        error,
    };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    let file = options.open(&path).map_err(failed)?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(mut locked) => {
            // Only for whoever is refused: the lock is not in the content.
            let process = std::process::id().to_string();
            locked.set_len(0).map_err(failed)?;
            locked.rewind().map_err(failed)?;
            locked.write_all(process.as_bytes()).map_err(failed)?;
            Ok(locked)
        }
        Err((mut file, Errno::EWOULDBLOCK)) => {
            let mut process = String::new();
            // Without the number it is said without the number.
            let _ = file.read_to_string(&mut process);
            Err(GateError::Running {
                component: role.name(),
                folder: folder.to_owned(),
                process: process.parse().ok(),
            })
        }
        Err((_, error)) => Err(failed(error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_runs_once_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let first = Locks::take(folder.path(), &[Role::Verifier, Role::Registrar]).unwrap();
        let second = Locks::take(folder.path(), &[Role::Reference, Role::Verifier]);
        let message = second.err().unwrap().to_string();
        let process = std::process::id();
        assert!(message.contains("the verifier of"), "{message}");
        assert!(message.contains(&format!("process {process}")), "{message}");
        // What was refused holds nothing, and neither does what has ended.
        drop(Locks::take(folder.path(), &[Role::Reference]).unwrap());
        drop(first);
        Locks::take(folder.path(), &[Role::Verifier, Role::Reference]).unwrap();
    }

    #[test]
    fn what_a_killed_process_left_locks_nobody_out() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("verifier.lock"), "999999 nonsense").unwrap();
        let held = Locks::take(folder.path(), &[Role::Verifier]).unwrap();
        let left = std::fs::read_to_string(folder.path().join("verifier.lock")).unwrap();
        assert_eq!(left, std::process::id().to_string());
        drop(held);
    }
}
