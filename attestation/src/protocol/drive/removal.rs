//! Drives a removal.

use crate::protocol::port::{Admissions, Fault, FaultKind, Registrations};
use crate::protocol::removal::{Action, Removal};

/// What a removal needs.
pub struct Removing<'a, R, V> {
    /// The registrar.
    pub registrar: &'a R,
    /// The verifier.
    pub verifier: &'a V,
}

impl<R: Registrations, V: Admissions> Removing<'_, R, V> {
    /// Goes on until the worker is removed.
    pub async fn run(&self, removal: &mut Removal) -> Result<(), Fault> {
        while self.step(removal).await? {}
        Ok(())
    }

    /// Does what is due, and no more; whether there is more to do.
    pub async fn step(&self, removal: &mut Removal) -> Result<bool, Fault> {
        let name = removal.name();
        let done = match removal.due() {
            Action::Begin => self.registrar.begin_removal(name).await,
            Action::Forget => self.verifier.forget(name).await,
            Action::Finish => self.registrar.finish_removal(name).await,
            Action::Done => return Ok(false),
            Action::Unknown => {
                let detail = format!("there is no worker `{name}`");
                return Err(Fault::new(FaultKind::NotFound, detail));
            }
        };
        match done {
            Ok(()) => removal.done(true),
            Err(fault) if fault.kind == FaultKind::NotFound => removal.done(false),
            Err(fault) => return Err(fault),
        }
        Ok(true)
    }
}
