//! Gives up privileges once the TPM and the log are open.

use nix::unistd::{Gid, Uid, User, geteuid, setgroups, setresgid, setresuid};

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
    let own = |path: &std::path::Path| {
        nix::unistd::chown(path, Some(user.uid), Some(user.gid)).map_err(failed)
    };
    own(folder)?;
    let files = std::fs::read_dir(folder)
        .map_err(|error| AgentError::Privileges(format!("the state folder: {error}")))?;
    for file in files.flatten() {
        own(&file.path())?;
    }
    Ok(())
}
