//! Gives up privileges once the TPM and the log are open.

use std::os::unix::fs::MetadataExt as _;

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{Gid, Uid, User, fchownat, geteuid, setgroups, setresgid, setresuid};

use super::AgentError;

/// Becomes another user for good; without a name, insists on not being root already.
pub fn drop_to(user: Option<&str>) -> Result<(), AgentError> {
    let failed = |what: &str, error: nix::Error| AgentError::Privileges(format!("{what}: {error}"));
    let Some(name) = user else {
        if geteuid().is_root() {
            return Err(AgentError::Privileges(
                "the agent runs as root; name an unprivileged user with --user".to_owned(),
            ));
        }
        return Ok(());
    };
    let user = User::from_name(name)
        .map_err(|error| failed("the user cannot be looked up", error))?
        .ok_or_else(|| AgentError::Privileges(format!("there is no user `{name}`")))?;
    if user.uid.is_root() {
        return Err(AgentError::Privileges(format!(
            "the user `{name}` is root; name an unprivileged one"
        )));
    }
    become_user(user.uid, user.gid).map_err(|error| failed("privileges stay", error))?;
    nix::sys::prctl::set_no_new_privs().map_err(|error| failed("new privileges", error))?;
    // The proof is in trying: a process that can go back has dropped nothing.
    if setresuid(Uid::from_raw(0), Uid::from_raw(0), Uid::from_raw(0)).is_ok() {
        return Err(AgentError::Privileges(
            "root could be regained after it was given up".to_owned(),
        ));
    }
    Ok(())
}

fn become_user(uid: Uid, gid: Gid) -> nix::Result<()> {
    if geteuid() == uid {
        return Ok(());
    }
    setgroups(&[gid])?;
    setresgid(gid, gid, gid)?;
    setresuid(uid, uid, uid)
}

/// Gives the agent's state folder and the files in it to the user it will become.
pub fn hand_over(folder: &std::path::Path, user: Option<&str>) -> Result<(), AgentError> {
    let Some(name) = user else {
        return Ok(());
    };
    let failed = |error: nix::Error| AgentError::Privileges(format!("the state folder: {error}"));
    let Some(user) = User::from_name(name).map_err(failed)? else {
        return Err(AgentError::Privileges(format!("there is no user `{name}`")));
    };
    // As root, in a folder that the user can write to: what a link points to is none of its business.
    let own = |path: &std::path::Path| {
        let (uid, gid) = (Some(user.uid), Some(user.gid));
        fchownat(AT_FDCWD, path, uid, gid, AtFlags::AT_SYMLINK_NOFOLLOW).map_err(failed)
    };
    own(folder)?;
    let unread =
        |error: std::io::Error| AgentError::Privileges(format!("the state folder: {error}"));
    for file in std::fs::read_dir(folder).map_err(unread)? {
        let path = file.map_err(unread)?.path();
        // A second name for a file of somebody else would hand that over, too.
        if std::fs::symlink_metadata(&path).map_err(unread)?.nlink() == 1 {
            own(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_outside_of_the_state_folder_is_not_handed_over() {
        if !geteuid().is_root() {
            // Only root can hand anything over to another.
            let folder = tempfile::tempdir().unwrap();
            assert!(hand_over(folder.path(), Some("root")).is_err());
            return;
        }
        let outside = tempfile::tempdir().unwrap();
        let (linked, second) = (outside.path().join("linked"), outside.path().join("second"));
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("identity.json");
        for file in [&linked, &second, &own] {
            std::fs::write(file, "").unwrap();
        }
        symlink(&linked, folder.path().join("registered.json")).unwrap();
        std::fs::hard_link(&second, folder.path().join("other.json")).unwrap();
        hand_over(folder.path(), Some("nobody")).unwrap();
        let owner = |path: &std::path::Path| std::fs::metadata(path).unwrap().uid();
        assert_ne!(owner(folder.path()), 0);
        assert_ne!(owner(&own), 0);
        assert_eq!((owner(&linked), owner(&second)), (0, 0));
    }
}
