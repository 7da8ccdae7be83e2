//! One table of endpoints, from which the router, the access rules and the OpenAPI document are made.

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::MethodRouter;
use serde_json::{Map, Value, json};

use super::problem::Problem;
use crate::net::{Peer, Role};

/// What an endpoint takes or gives.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Nothing.
    None,
    /// JSON, in words.
    Json(&'static str),
    /// Plain text, in words.
    Text(&'static str),
    /// Bytes of some media type, in words.
    Bytes(&'static str, &'static str),
}

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
    /// What it takes.
    pub request: Body,
    /// What it gives.
    pub response: Body,
    /// What does it.
    pub handler: MethodRouter<S>,
}

/// One row of the table.
macro_rules! endpoint {
    ($method:literal $path:expr, $roles:expr, $summary:literal, $request:expr => $response:expr, $handler:expr) => {
        Endpoint {
            method: $method,
            path: $path,
            roles: $roles,
            summary: $summary,
            request: $request,
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

/// The OpenAPI document of some endpoints.
pub fn openapi<S>(title: &str, endpoints: &[Endpoint<S>]) -> Value {
    let mut paths = Map::new();
    for endpoint in endpoints {
        let item = paths
            .entry(endpoint.path)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(item) = item.as_object_mut() {
            item.insert(endpoint.method.to_lowercase(), operation(endpoint));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Every connection is mutual TLS 1.3 with certificates of the \
                installation's authority; the roles in the client's certificate decide.",
        },
        "paths": paths,
        "components": { "securitySchemes": { "mutualTLS": { "type": "mutualTLS" } } },
        "security": [{ "mutualTLS": [] }],
    })
}

fn operation<S>(endpoint: &Endpoint<S>) -> Value {
    let parameters: Vec<Value> = endpoint
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| {
            json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } })
        })
        .collect();
    let roles: Vec<&str> = endpoint.roles.iter().map(|role| role.name()).collect();
    let mut operation = json!({
        "summary": endpoint.summary,
        "operationId": operation_id(endpoint.method, endpoint.path),
        "x-locus-roles": roles,
        "parameters": parameters,
        "responses": {
            "2XX": response(endpoint.response),
            "4XX": problem("The request was refused."),
            "5XX": problem("The gate or an agent failed."),
        },
    });
    if let (Some(content), Some(object)) = (content(endpoint.request), operation.as_object_mut()) {
        object.insert(
            "requestBody".to_owned(),
            json!({ "required": true, "content": content }),
        );
    }
    operation
}

fn operation_id(method: &str, path: &str) -> String {
    let words = path
        .split(['/', '{', '}', '.'])
        .filter(|word| !word.is_empty());
    words.fold(method.to_lowercase(), |id, word| format!("{id}-{word}"))
}

fn content(body: Body) -> Option<Value> {
    match body {
        Body::None => None,
        Body::Json(words) => {
            Some(json!({ "application/json": { "schema": { "description": words } } }))
        }
        Body::Text(words) => {
            Some(json!({ "text/plain": { "schema": { "type": "string", "description": words } } }))
        }
        Body::Bytes(kind, words) => {
            let schema =
                json!({ "schema": { "type": "string", "format": "binary", "description": words } });
            Some(json!({ kind: schema }))
        }
    }
}

fn response(body: Body) -> Value {
    match (body, content(body)) {
        (Body::Json(words) | Body::Text(words) | Body::Bytes(_, words), Some(content)) => {
            json!({ "description": words, "content": content })
        }
        _ => json!({ "description": "Done." }),
    }
}

fn problem(words: &str) -> Value {
    json!({
        "description": words,
        "content": { "application/problem+json": { "schema": {
            "type": "object",
            "properties": {
                "status": { "type": "integer" },
                "title": { "type": "string" },
                "detail": { "type": "string" },
                "effect": { "type": ["string", "null"] },
            },
        } } },
    })
}
