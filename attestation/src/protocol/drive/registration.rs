//! Drives a registration: asks the agent and the registrar, and completes what was accepted.

use getrandom::SysRng;
use getrandom::rand_core::UnwrapErr;
use uuid::Uuid;

use crate::clock::Clock;
use crate::protocol::port::{
    Admissions, AgentPlace, Agents, Fault, FaultKind, Issuer, Registrations, Values,
};
use crate::protocol::record::Admission;
use crate::protocol::registration::{Action, Event, ProvenWorker};
use crate::protocol::{Registration, RegistrationError};
use crate::verifier::check_boot;

/// What a registration needs.
pub struct Registering<'a, A, R, V, W, I> {
    /// How agents are reached.
    pub agents: &'a A,
    /// The registrar.
    pub registrar: &'a R,
    /// The verifier.
    pub verifier: &'a V,
    /// The reference values.
    pub values: &'a W,
    /// Who issues certificates.
    pub issuer: &'a I,
    /// The time.
    pub clock: &'a dyn Clock,
}

/// What came of a step.
#[derive(Debug)]
pub enum Step {
    /// There is more to do.
    More,
    /// It could not be done now, and has to be done later: the agent counts on it.
    Later(Fault),
    /// It is over: the worker's identifier, or why it is refused.
    Over(Result<Uuid, RegistrationError>),
}

impl<A: Agents, R: Registrations, V: Admissions, W: Values, I: Issuer>
    Registering<'_, A, R, V, W, I>
{
    /// Goes on until it is over, or until it cannot be completed now.
    pub async fn run(&self, registration: &mut Registration) -> Step {
        loop {
            match self.step(registration).await {
                Step::More => {}
                end => return end,
            }
        }
    }

    /// Does what is due, and no more.
    pub async fn step(&self, registration: &mut Registration) -> Step {
        let mut rng = UnwrapErr(SysRng);
        // Time may have passed since the last step.
        let mut action = registration.handle(Event::Tick, self.clock.now(), &mut rng);
        if matches!(action, Action::Wait) {
            action = registration.due();
        }
        let event = match self.act(registration, action).await {
            Ok(event) => event,
            Err(step) => return step,
        };
        match registration.handle(event, self.clock.now(), &mut rng) {
            Action::Refuse { error, proposed } => self.refuse(error, proposed).await,
            Action::Done => Step::Over(registration.registered().ok_or_else(no_worker)),
            _ => Step::More,
        }
    }

    async fn act(&self, registration: &Registration, action: Action) -> Result<Event, Step> {
        let agent = AgentPlace {
            name: registration.name(),
            address: registration.address(),
        };
        let failed = |fault: Fault| Event::AgentFailed(fault.detail);
        Ok(match action {
            Action::AskIdentity => match self.agents.identity(agent).await {
                Ok(identity) => Event::Identity(Box::new(identity)),
                Err(fault) => failed(fault),
            },
            Action::CheckEndorsement(endorsements) => {
                let mut judged = Ok(());
                for endorsement in &endorsements {
                    let found = self.registrar.check_endorsement(endorsement).await;
                    judged = judged.and(found);
                }
                Event::Endorsement(judged.map_err(|fault| fault.detail))
            }
            Action::SendChallenge(challenge) => {
                match self.agents.challenge(agent, &challenge).await {
                    Ok(proof) => Event::Proof(Box::new(proof)),
                    Err(fault) => failed(fault),
                }
            }
            Action::CheckBoot { .. } if registration.terms().boot_by_events => Event::Boot(Ok(())),
            Action::CheckBoot { os, aggregate } => {
                let list = self.values.whitelist().await;
                Event::Boot(list.map_err(|fault| fault.detail).and_then(|list| {
                    check_boot(&os, &aggregate, &list).map_err(|error| error.to_string())
                }))
            }
            Action::Propose {
                registration: session,
                worker,
            } => {
                let address = registration.address();
                let proposed = self.propose(session, &worker, address).await;
                Event::Proposed(proposed.map_err(|fault| fault.detail))
            }
            Action::SendAcknowledgement(message) => {
                match self.agents.acknowledge(agent, &message).await {
                    Ok(()) => Event::Acknowledged,
                    Err(fault) => failed(fault),
                }
            }
            Action::Accept(session) => match self.registrar.accept(session).await {
                Ok(()) => Event::Accepted(Ok(())),
                Err(fault) if fault.kind == FaultKind::Unavailable => {
                    return Err(Step::Later(fault));
                }
                Err(fault) => Event::Accepted(Err(fault.detail)),
            },
            Action::Admit(admission) => {
                self.verifier.admit(&admission).await.map_err(Step::Later)?;
                Event::Admitted
            }
            Action::Confirm(session) => match self.registrar.confirm(session).await {
                Ok(()) => Event::Confirmed(Ok(())),
                // Somebody removed the worker meanwhile: the verifier must not keep it.
                Err(fault) if fault.kind == FaultKind::NotFound => {
                    let forgotten = self.verifier.forget(registration.name()).await;
                    forgotten.map_err(Step::Later)?;
                    Event::Confirmed(Err(fault.detail))
                }
                Err(fault) => return Err(Step::Later(fault)),
            },
            Action::Wait => Event::Tick,
            Action::Done => {
                return Err(Step::Over(registration.registered().ok_or_else(no_worker)));
            }
            Action::Refuse { error, proposed } => return Err(self.refuse(error, proposed).await),
        })
    }

    async fn propose(
        &self,
        session: Uuid,
        worker: &ProvenWorker,
        address: &str,
    ) -> Result<Box<(String, crate::protocol::record::WorkerRecord)>, Fault> {
        let issued = self.issuer.issue(worker, address, self.clock.now())?;
        self.registrar.propose(session, &issued.1).await?;
        Ok(Box::new(issued))
    }

    async fn refuse(&self, error: RegistrationError, proposed: Option<Uuid>) -> Step {
        if let Some(session) = proposed
            && let Err(fault) = self.registrar.withdraw(session).await
        {
            // A proposal counts for nothing, and the next one takes its place.
            tracing::warn!(%fault, "a proposal was not taken back");
        }
        Step::Over(Err(error))
    }
}

fn no_worker() -> RegistrationError {
    RegistrationError::Store("the worker has no identifier".to_owned())
}

/// Completes a registration that was accepted before whoever drove it died.
pub async fn complete(
    registrar: &impl Registrations,
    verifier: &impl Admissions,
    admission: &Admission,
) -> Result<(), Fault> {
    verifier.admit(admission).await?;
    registrar.confirm(admission.registration).await
}
