//! Errors as the clients of gate and agent see them (RFC 9457).

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::logs::shown;
use crate::net::{ClientError, PkiError};
use crate::protocol::{Effect, ReasonCode};

/// An answer that is no success: never a success status with an error inside.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Problem {
    /// The status.
    pub status: StatusCode,
    /// What is wrong, in words.
    pub detail: String,
    /// What follows for worker or pod, if something does.
    pub effect: Option<Effect>,
    /// The code of the reason, if it has one.
    pub code: Option<ReasonCode>,
    /// The refusal as a signed result, if there is one.
    pub result: Option<String>,
}

impl Problem {
    /// A problem with a status.
    pub fn new(status: StatusCode, detail: impl ToString) -> Self {
        Problem {
            status,
            // It holds names that others chose, and ends up in logs and on terminals.
            detail: shown(&detail.to_string()),
            effect: None,
            code: None,
            result: None,
        }
    }

    /// The request makes no sense.
    pub fn bad(detail: impl ToString) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, detail)
    }

    /// Not for this peer.
    pub fn forbidden(detail: impl ToString) -> Self {
        Problem::new(StatusCode::FORBIDDEN, detail)
    }

    /// There is no such thing.
    pub fn not_found(detail: impl ToString) -> Self {
        Problem::new(StatusCode::NOT_FOUND, detail)
    }

    /// The gate's own fault.
    pub fn internal(detail: impl ToString) -> Self {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    }
}

/// Why a request had no success (RFC 9457).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
#[schemars(extend("required" = ["type", "status", "title", "detail", "effect"]))]
pub(super) struct ProblemBody {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[serde(rename = "type")]
    #[schemars(extend("const" = "about:blank"))]
    kind: &'static str,
    /// The status code of the answer.
    #[schemars(range(min = 400, max = 599))]
    status: u16,
    /// The status in words.
    title: &'static str,
    /// What is wrong, in words.
    detail: String,
    /// What follows for worker or pod; null if nothing does.
    effect: Option<Effect>,
    /// The code of the reason; null if it has none.
    code: Option<ReasonCode>,
    /// The refusal as a signed attestation result (a token), where the verifier made one.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = ProblemBody {
            kind: "about:blank",
            status: self.status.as_u16(),
            title: self.status.canonical_reason().unwrap_or("error"),
            detail: self.detail,
            effect: self.effect,
            code: self.code,
            result: self.result,
        };
        let mut response = (self.status, Json(body)).into_response();
        response.headers_mut().insert(
            axum::http::header::CONTENT_TYPE,
            axum::http::HeaderValue::from_static("application/problem+json"),
        );
        response
    }
}

/// A JSON body of a request; what cannot be read is answered with a problem like any other.
pub struct JsonBody<T>(pub T);

impl<T, S> FromRequest<S> for JsonBody<T>
where
    Json<T>: FromRequest<S, Rejection = JsonRejection>,
    S: Send + Sync,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match Json::from_request(request, state).await {
            Ok(Json(body)) => Ok(JsonBody(body)),
            Err(rejection) => Err(Problem::new(rejection.status(), rejection.body_text())),
        }
    }
}

/// The parameters of a query; what cannot be read is answered with a problem like any other.
pub struct QueryOf<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryOf<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(query)) => Ok(QueryOf(query)),
            Err(rejection) => Err(Problem::new(rejection.status(), rejection.body_text())),
        }
    }
}

impl From<ClientError> for Problem {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Refused {
                status,
                message,
                effect,
                code,
                result,
            } => Problem {
                status: StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY),
                detail: message,
                effect: effect.and_then(|name| serde_json::from_value(name.into()).ok()),
                code: code.and_then(|name| ReasonCode::parse(&name)),
                result,
            },
            other => Problem::new(StatusCode::BAD_GATEWAY, other),
        }
    }
}

impl From<PkiError> for Problem {
    fn from(error: PkiError) -> Self {
        match error {
            PkiError::Request | PkiError::Name(_) => Problem::bad(error),
            other => Problem::internal(other),
        }
    }
}
