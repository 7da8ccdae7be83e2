//! The endpoints for agents that come by themselves.

use std::time::Duration;

use axum::Json;
use axum::body::Body as RequestBody;
use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use serde::Deserialize;

use super::super::endpoint::{Endpoint, endpoint};
use super::super::mailbox::Task;
use super::super::openapi::{Body, json};
use super::super::problem::{Problem, QueryOf};
use super::{AGENT, Answer, Done, Shared, Table};
use crate::net::{IntakeError, Peer};
use crate::protocol::Received;

/// How many seconds a request for a task waits at most.
const MAX_WAIT: u64 = 30;

/// For agents that come by themselves: who they are follows from their certificate.
pub(super) fn push() -> Table {
    vec![
        endpoint!("GET" "/v1/push/next", AGENT,
            "What there is to do for the agent that asks; null if there is nothing.",
            Body::None => json::<Option<Task>>("the task"), get(next))
            .with_query(&[("wait", "How many seconds to wait for a task, 30 at most; 0 if absent.")]),
        endpoint!("POST" "/v1/push/answers/{id}", AGENT, "Takes the answer to a task.",
            Body::Bytes("application/octet-stream", "the body of the answer") => Body::None, post(answer))
            .with_query(&[("status", "The status of the answer; 200 if absent.")]),
    ]
}

/// How long is waited.
#[derive(Deserialize)]
struct Wait {
    #[serde(default)]
    wait: u64,
}

async fn next(
    State(gate): Shared,
    Extension(peer): Extension<Peer>,
    QueryOf(Wait { wait }): QueryOf<Wait>,
) -> Answer<Option<Task>> {
    let wait = Duration::from_secs(wait.min(MAX_WAIT));
    Ok(Json(gate.mailbox.next(&peer, wait).await?))
}

/// What an answer was.
#[derive(Deserialize)]
struct Answered {
    status: Option<u16>,
}

fn not_taken(error: IntakeError) -> Problem {
    match error {
        IntakeError::TooLong(_) => Problem::new(StatusCode::PAYLOAD_TOO_LARGE, error),
        IntakeError::Broken(_) => Problem::bad(error),
    }
}

async fn answer(
    State(gate): Shared,
    Extension(peer): Extension<Peer>,
    Path(id): Path<String>,
    QueryOf(Answered { status }): QueryOf<Answered>,
    body: RequestBody,
) -> Done {
    let status = StatusCode::from_u16(status.unwrap_or(200)).map_err(Problem::bad)?;
    // How long it may be is what whoever asked says; what nobody waits for is not read at all.
    let most = gate.mailbox.expects(&peer, &id)?;
    let taken = gate.intake.take(body, most).await.map_err(not_taken)?;
    let body = match taken.room {
        Some(room) => Received::in_room(taken.bytes, room),
        None => taken.bytes.into(),
    };
    gate.mailbox.answer(&peer, &id, (status, body))?;
    Ok(StatusCode::NO_CONTENT)
}
