//! The flags that say where the gate keeps its databases.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use clap::Args;
use zeroize::Zeroizing;

use super::GateError;
use crate::database::{DatabaseError, Location};

/// Where databases are.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct StoreArgs {
    /// Keep the databases in PostgreSQL, which several gates may share: `postgres://USER@HOST/DATABASE`. A URL with a
    /// password is not for a command line: see --store-file.
    #[arg(long, value_name = "URL", conflicts_with = "store_file")]
    store: Option<String>,
    /// The same, with the URL in a file that only the gate can read.
    #[arg(long, value_name = "FILE")]
    store_file: Option<PathBuf>,
}

impl StoreArgs {
    /// Where the databases are to be.
    pub(super) fn location(&self) -> Result<Location, GateError> {
        match (&self.store, &self.store_file) {
            (None, None) => Ok(Location::Files),
            (Some(url), _) => {
                let location = Location::parse(url)?;
                if location.has_password() {
                    return Err(GateError::Password(
                        "everybody on this machine can read it in the list of processes: put the URL into a file that \
                         only the gate can read, and name that with `--store-file`"
                            .to_owned(),
                    ));
                }
                Ok(location)
            }
            (None, Some(file)) => from_file(file),
        }
    }
}

fn from_file(file: &Path) -> Result<Location, GateError> {
    let failed = |error| GateError::File {
        path: file.to_owned(),
        error,
    };
    let url = Zeroizing::new(std::fs::read_to_string(file).map_err(failed)?);
    let location = Location::parse(url.trim()).map_err(|error| match error {
        DatabaseError::Url(why) => DatabaseError::Url(format!("in `{}`: {why}", file.display())),
        other => other,
    })?;
    let rights = std::fs::metadata(file).map_err(failed)?.permissions();
    if location.has_password() && rights.mode() & 0o007 != 0 {
        return Err(GateError::Password(format!(
            "everybody on this machine can read `{0}`: `chmod o= {0}`",
            file.display()
        )));
    }
    Ok(location)
}

#[cfg(all(test, feature = "postgres"))]
mod tests {
    use std::fs::{Permissions, set_permissions, write};

    use super::*;

    fn args(store: Option<&str>, file: Option<&Path>) -> StoreArgs {
        StoreArgs {
            store: store.map(str::to_owned),
            store_file: file.map(Path::to_owned),
        }
    }

    #[test]
    fn a_password_is_for_nobody_else() {
        assert!(!args(None, None).location().unwrap().is_shared());
        let open = args(Some("postgres://locus@localhost/locus"), None);
        assert!(open.location().unwrap().is_shared());
        let secret = "postgres://locus:secret@localhost/locus";
        let told = args(Some(secret), None).location().unwrap_err().to_string();
        assert!(told.contains("--store-file"), "{told}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store");
        write(&file, format!("{secret}\n")).unwrap();
        set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        let told = args(None, Some(&file)).location().unwrap_err().to_string();
        assert!(told.contains("chmod o="), "{told}");
        set_permissions(&file, Permissions::from_mode(0o440)).unwrap();
        assert!(args(None, Some(&file)).location().unwrap().is_shared());
        write(&file, "http://secret").unwrap();
        let told = args(None, Some(&file)).location().unwrap_err().to_string();
        assert!(
            told.contains("postgres://") && !told.contains("secret"),
            "{told}"
        );
    }
}
