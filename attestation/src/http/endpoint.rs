//! One table of endpoints, from which the router, the access rules and the
//! [OpenAPI document](super::openapi) are made.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::MethodRouter;

use super::openapi::Body;
use super::problem::Problem;
use crate::net::{Peer, Role};

/// One endpoint.
pub struct Endpoint<S> {
    /// The method, upper case.
    pub method: &'static str,
    /// The path, with parameters in braces.
    pub path: &'static str,
    /// Who may use it; empty for every holder of a certificate.
    pub roles: &'static [Role],
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// The parameters of its query, each with what it means.
    pub query: &'static [(&'static str, &'static str)],
    /// What it takes.
    pub request: Body,
    /// The longest body that it takes, in bytes.
    pub limit: usize,
    /// What it gives.
    pub response: Body,
    /// What does it.
    pub handler: MethodRouter<S>,
}

/// The longest body that an endpoint takes unless it [says otherwise](Endpoint::up_to).
pub const SMALL: usize = 64 * 1024;

impl<S> Endpoint<S> {
    /// Takes longer bodies than others.
    #[must_use]
    pub fn up_to(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// With parameters of its query.
    #[must_use]
    pub fn with_query(mut self, query: &'static [(&'static str, &'static str)]) -> Self {
        self.query = query;
        self
    }
}

/// One row of the table.
macro_rules! endpoint {
    ($method:literal $path:expr, $roles:expr, $summary:literal, $request:expr => $response:expr, $handler:expr) => {
        Endpoint {
            method: $method,
            path: $path,
            roles: $roles,
            summary: $summary,
            query: &[],
            request: $request,
            limit: crate::http::endpoint::SMALL,
            response: $response,
            handler: $handler,
        }
    };
}
pub(crate) use endpoint;

/// The router of some endpoints, each behind its access rule.
pub fn router<S: Clone + Send + Sync + 'static>(endpoints: Vec<Endpoint<S>>) -> Router<S> {
    let routes = endpoints
        .into_iter()
        .fold(Router::new(), |router, endpoint| {
            let roles = endpoint.roles;
            let guarded = endpoint
                .handler
                .layer(DefaultBodyLimit::max(endpoint.limit))
                .layer(from_fn(move |request: Request, next: Next| {
                    guard(roles, request, next)
                }));
            router.route(endpoint.path, guarded)
        });
    // Only the routes that are there already learn what to say to a method they do not have.
    routes
        .fallback(|| async { Problem::not_found("there is no such endpoint") })
        .method_not_allowed_fallback(|| async {
            let status = StatusCode::METHOD_NOT_ALLOWED;
            Problem::new(status, "the endpoint has no such method")
        })
}

async fn guard(roles: &'static [Role], request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<Peer>();
    let allowed = peer.is_some_and(|peer| roles.is_empty() || peer.has_any(roles));
    if allowed {
        return next.run(request).await;
    }
    let who = peer.map_or_else(|| "nobody".to_owned(), Peer::label);
    let names: Vec<&str> = roles.iter().map(|role| role.name()).collect();
    tracing::warn!(
        peer = who,
        path = request.uri().path(),
        "access was refused"
    );
    Problem::forbidden(format!("this is for {}, not for {who}", names.join(" or "))).into_response()
}
