//! Keys and certificates that the policy denies open no connection.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};

use super::problem::Problem;
use crate::digest::Digest;
use crate::net::Peer;

/// The router for everybody but the holders of denied keys and certificates.
pub(super) fn without_denied(router: Router, denied: &[Digest]) -> Router {
    if denied.is_empty() {
        return router;
    }
    let denied: Arc<[Digest]> = denied.into();
    router.layer(from_fn(move |request: Request, next: Next| {
        refuse(denied.clone(), request, next)
    }))
}

async fn refuse(denied: Arc<[Digest]>, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<Peer>();
    let found = peer.and_then(|peer| {
        let has = [&peer.key, &peer.certificate].map(|text| text.parse::<Digest>().ok());
        denied.iter().find(|digest| has.contains(&Some(**digest)))
    });
    let Some(found) = found else {
        return next.run(request).await;
    };
    let who = peer.map_or_else(String::new, Peer::label);
    tracing::warn!(peer = who, denied = %found, "access was refused");
    Problem::forbidden(format!("the policy denies `{found}`")).into_response()
}
