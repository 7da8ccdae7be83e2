//! The webhooks: reviews in, decisions out, over TLS.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;

use super::admission::{Ask, Decision, Gatekeeper, answer, asked};
use super::control::created;
use super::known::Known;
use super::object::text;
use super::watch::Watching;
use crate::clock::Clock;
use crate::gate::Verifier;
use crate::net::Limits;
use crate::net::rate::Rate;
use crate::verifier::Trust;

/// The longest review: an object as it is and as it was, each as long as a server takes it.
const LONGEST: usize = 8 * 1024 * 1024;

/// What the webhooks decide by.
#[derive(Clone)]
pub struct Admission {
    /// Who decides.
    pub gatekeeper: Arc<Gatekeeper>,
    /// By what.
    pub watching: Watching,
    /// Who knows how far workers are trusted at this moment.
    pub verifier: Arc<Verifier>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// The API servers ask much and keep connections open; who else connects takes no place from them for long.
pub fn limits() -> Limits {
    Limits {
        // Longer than a client keeps a connection that it does not use: it never asks on one that is just closed.
        head: Duration::from_secs(120),
        connections: 1024,
        rate: Rate {
            burst: 100_000,
            per_second: 20_000,
        },
        ..Limits::everybody()
    }
}

/// The endpoints.
pub fn router(admission: Admission) -> Router {
    Router::new()
        .route("/mutate", post(mutate))
        .route("/validate", post(validate))
        .layer(DefaultBodyLimit::max(LONGEST))
        .with_state(admission)
}

async fn mutate(State(admission): State<Admission>, body: Bytes) -> Response {
    review(admission, body, |admission, ask, known| {
        admission.gatekeeper.mutate(ask, known)
    })
    .await
}

async fn validate(State(admission): State<Admission>, body: Bytes) -> Response {
    review(admission, body, Admission::decide).await
}

/// Answers a review. What cannot be answered is an error, which the API server takes for a refusal.
async fn review(
    admission: Admission,
    body: Bytes,
    decide: impl FnOnce(&Admission, &Ask, &Known) -> Decision + Send + 'static,
) -> Response {
    let (request, ask) = match asked(&body) {
        Ok(asked) => asked,
        Err(why) => return (StatusCode::BAD_REQUEST, why).into_response(),
    };
    // A check takes its time, and others are asked meanwhile.
    let decided = tokio::task::spawn_blocking(move || {
        let known = admission.watching.known();
        let decision = decide(&admission, &ask, &known);
        if !decision.allowed() {
            let user = &ask.user;
            tracing::info!(user, message = decision.message(&ask), "refused");
        }
        answer(&request, &ask, decision)
    })
    .await;
    match decided {
        Ok(review) => axum::Json(review).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

impl Admission {
    fn decide(&self, ask: &Ask, known: &Known) -> Decision {
        let now = self.clock.now();
        let decision = self.gatekeeper.validate(ask, known, now);
        let binds = matches!(
            (ask.resource.as_str(), ask.subresource.as_str()),
            ("pods", "binding") | ("bindings", "")
        );
        if !binds || !decision.allowed() {
            return decision;
        }
        // The Agent says what was known when it was written; the verifier knows what is.
        let node = text(&ask.object, &["target", "name"]);
        let joined = known.get("Node", "", node).and_then(|node| created(node));
        // What was proven before the node joined is not proven of it: another machine may have taken the name.
        let proven = self.verifier.worker_status(node).is_ok_and(|worker| {
            let since = joined.is_some_and(|joined| worker.checked >= joined);
            worker.trust == Trust::Trusted && since
        });
        if proven || !known.trusts(node) {
            return decision;
        }
        let mut known = known.clone();
        if let Some(agent) = known.get("Agent", "", node).cloned() {
            let mut agent = agent.as_ref().clone();
            if let Some(fields) = agent.as_object_mut() {
                fields.remove("status");
            }
            known.put("Agent", agent);
        }
        self.gatekeeper.validate(ask, &known, now)
    }
}
