//! The status and effect that the faults of the gate's parts are answered with.

use axum::http::StatusCode;

use super::problem::Problem;
use crate::database::DatabaseError;
use crate::protocol::{AttestationError, Effect, RegistrationError};
use crate::{reference, verifier};

impl From<AttestationError> for Problem {
    fn from(error: AttestationError) -> Self {
        let effect = error.effect();
        let status = match (&error, effect) {
            (AttestationError::Changed(_), _) => StatusCode::CONFLICT,
            (_, Effect::Pending) => StatusCode::CONFLICT,
            (_, Effect::Inconclusive) => StatusCode::BAD_GATEWAY,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Problem {
            effect: Some(effect),
            code: Some(error.code()),
            ..Problem::new(status, error)
        }
    }
}

impl From<RegistrationError> for Problem {
    fn from(error: RegistrationError) -> Self {
        Problem {
            effect: Some(error.effect()),
            code: Some(error.code()),
            ..Problem::new(StatusCode::UNPROCESSABLE_ENTITY, error)
        }
    }
}

impl From<DatabaseError> for Problem {
    fn from(error: DatabaseError) -> Self {
        match error.is_passing() {
            true => Problem::new(StatusCode::SERVICE_UNAVAILABLE, error),
            false => Problem::internal(error),
        }
    }
}

impl From<verifier::StoreError> for Problem {
    fn from(error: verifier::StoreError) -> Self {
        match error {
            verifier::StoreError::NotFound { .. } => Problem::not_found(error),
            verifier::StoreError::Conflict(_) => Problem::new(StatusCode::CONFLICT, error),
            verifier::StoreError::Gone { .. } => Problem::new(StatusCode::GONE, error),
            verifier::StoreError::Database(error) => error.into(),
            other => Problem::internal(other),
        }
    }
}

impl From<reference::StoreError> for Problem {
    fn from(error: reference::StoreError) -> Self {
        match error {
            reference::StoreError::NotFound(_) => Problem::not_found(error),
            reference::StoreError::Rollback { .. } => Problem::new(StatusCode::CONFLICT, error),
            reference::StoreError::Database(error) => error.into(),
            other => Problem::internal(other),
        }
    }
}
