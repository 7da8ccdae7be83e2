//! Which of several gates acts: the one that holds the Lease.
//!
//! Clocks of machines are not compared: a Lease has run out when this process saw it unchanged for as long as it lasts.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::time::Instant;

use super::names::WEBHOOKS;

/// How long a Lease lasts that is not renewed.
const LASTS: Duration = Duration::from_secs(15);
/// How often it is renewed.
pub const RENEWED: Duration = Duration::from_secs(3);
/// How long the holder acts without having renewed it: it stops before another may begin.
const ACTS: Duration = Duration::from_secs(10);

/// What to do about a Lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Make it: there is none.
    Make,
    /// Renew it: it is ours.
    Renew,
    /// Take it: nobody holds it, or its holder is gone.
    Take,
    /// Another holds it.
    Wait,
}

/// What was seen of a Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    version: String,
    at: Instant,
}

/// Takes part in the election.
#[derive(Clone, Debug)]
pub struct Election {
    identity: String,
    seen: Option<Seen>,
    renewed: Option<Instant>,
}

impl Election {
    /// As somebody, who is the same after a restart.
    pub fn new(identity: &str) -> Self {
        Election {
            identity: identity.to_owned(),
            seen: None,
            renewed: None,
        }
    }

    /// Whether this process may act now.
    pub fn leads(&self, now: Instant) -> bool {
        self.renewed
            .is_some_and(|renewed| now.saturating_duration_since(renewed) < ACTS)
    }

    /// What to do about the Lease as it is now.
    fn turn(&mut self, lease: Option<&Lease>, now: Instant) -> Turn {
        let Some(lease) = lease else {
            return Turn::Make;
        };
        let spec = lease.spec.clone().unwrap_or_default();
        let holder = spec.holder_identity.unwrap_or_default();
        if holder == self.identity {
            return Turn::Renew;
        }
        if holder.is_empty() {
            return Turn::Take;
        }
        let version = lease.metadata.resource_version.clone().unwrap_or_default();
        match &self.seen {
            Some(seen) if seen.version == version => {
                match now.saturating_duration_since(seen.at) > LASTS {
                    true => Turn::Take,
                    false => Turn::Wait,
                }
            }
            _ => {
                self.seen = Some(Seen { version, at: now });
                Turn::Wait
            }
        }
    }

    /// The Lease as this process holds it.
    fn held(&self, lease: Option<Lease>, taken: bool, now: Timestamp) -> Lease {
        let mut lease = lease.unwrap_or_default();
        lease.metadata.name = Some(WEBHOOKS.to_owned());
        let before = lease.spec.unwrap_or_default();
        let transitions = before.lease_transitions.unwrap_or(0);
        lease.spec = Some(LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(LASTS.as_secs()).ok(),
            renew_time: Some(MicroTime(now)),
            acquire_time: match taken {
                true => Some(MicroTime(now)),
                false => before.acquire_time,
            },
            lease_transitions: Some(transitions + i32::from(taken)),
            ..LeaseSpec::default()
        });
        lease
    }

    /// Takes part once. Who writes the Lease at the same time as another loses to the version that was read.
    pub async fn take_part(&mut self, client: &Client, namespace: &str) -> Result<(), kube::Error> {
        let leases: Api<Lease> = Api::namespaced(client.clone(), namespace);
        // What is renewed counts from before it was asked for.
        let asked = Instant::now();
        let lease = leases.get_opt(WEBHOOKS).await?;
        let turn = self.turn(lease.as_ref(), asked);
        let held = self.held(lease, turn != Turn::Renew, Timestamp::now());
        let parameters = PostParams::default();
        let written = match turn {
            Turn::Wait => {
                self.renewed = None;
                return Ok(());
            }
            Turn::Make => leases.create(&parameters, &held).await,
            Turn::Renew | Turn::Take => leases.replace(WEBHOOKS, &parameters, &held).await,
        };
        match written {
            Ok(_) => {
                self.renewed = Some(asked);
                Ok(())
            }
            // Another was faster.
            Err(kube::Error::Api(status)) if status.code == 409 => {
                self.renewed = None;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Gives the Lease back, so that another need not wait.
    pub async fn give_back(&mut self, client: &Client, namespace: &str) -> Result<(), kube::Error> {
        if self.renewed.take().is_none() {
            return Ok(());
        }
        let leases: Api<Lease> = Api::namespaced(client.clone(), namespace);
        let Some(mut lease) = leases.get_opt(WEBHOOKS).await? else {
            return Ok(());
        };
        if let Some(spec) = lease.spec.as_mut()
            && spec.holder_identity.as_ref() == Some(&self.identity)
        {
            spec.holder_identity = Some(String::new());
            leases
                .replace(WEBHOOKS, &PostParams::default(), &lease)
                .await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(holder: &str, version: &str) -> Lease {
        let mut lease = Election::new(holder).held(None, true, Timestamp::UNIX_EPOCH);
        lease.metadata.resource_version = Some(version.to_owned());
        lease
    }

    #[test]
    fn a_lease_is_taken_when_its_holder_was_silent_for_as_long_as_it_lasts() {
        let begun = Instant::now();
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        let mut one = Election::new("one");
        assert_eq!(one.turn(None, at(0)), Turn::Make);
        assert_eq!(one.turn(Some(&lease("one", "1")), at(0)), Turn::Renew);
        assert_eq!(one.turn(Some(&lease("", "1")), at(0)), Turn::Take);
        // However old the time in it is: only what this process sees counts.
        assert_eq!(one.turn(Some(&lease("two", "1")), at(0)), Turn::Wait);
        assert_eq!(one.turn(Some(&lease("two", "1")), at(14)), Turn::Wait);
        assert_eq!(
            one.turn(Some(&lease("two", "2")), at(15)),
            Turn::Wait,
            "renewed"
        );
        assert_eq!(one.turn(Some(&lease("two", "2")), at(29)), Turn::Wait);
        assert_eq!(one.turn(Some(&lease("two", "2")), at(31)), Turn::Take);
    }

    #[test]
    fn who_cannot_renew_stops_before_another_begins() {
        let begun = Instant::now();
        let mut one = Election::new("one");
        assert!(!one.leads(begun));
        one.renewed = Some(begun);
        assert!(one.leads(begun + Duration::from_secs(9)));
        assert!(!one.leads(begun + Duration::from_secs(10)));
        const { assert!(ACTS.as_secs() < LASTS.as_secs()) };
    }

    #[test]
    fn a_lease_says_who_took_it_and_how_often() {
        let now = Timestamp::from_second(1).unwrap();
        let taken = Election::new("two").held(Some(lease("one", "7")), true, now);
        let spec = taken.spec.clone().unwrap();
        assert_eq!(spec.holder_identity.as_deref(), Some("two"));
        assert_eq!(spec.lease_transitions, Some(2));
        let renewed = Election::new("two").held(Some(taken), false, now);
        assert_eq!(renewed.spec.unwrap().lease_transitions, Some(2));
    }
}
