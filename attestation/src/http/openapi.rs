//! The OpenAPI document of a table of endpoints, with the schemas of all JSON that they take and give.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::endpoint::Endpoint;
use super::problem::ProblemBody;
use crate::ima::PodUid;

/// Where the schemas of types are in the document.
const SCHEMAS: &str = "#/components/schemas";

/// What an endpoint takes or gives.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// Nothing.
    None,
    /// JSON, in words and by its schema; see [`json()`].
    Json(&'static str, fn(&mut SchemaGenerator) -> Schema),
    /// Plain text, in words.
    Text(&'static str),
    /// Bytes of some media type, in words.
    Bytes(&'static str, &'static str),
}

/// JSON of a type.
pub fn json<T: JsonSchema>(words: &'static str) -> Body {
    Body::Json(words, SchemaGenerator::subschema_for::<T>)
}

/// The OpenAPI document of some endpoints.
pub fn openapi<S>(title: &str, endpoints: &[Endpoint<S>]) -> Value {
    // What is answered is described as it is read: nothing is answered that would not be taken.
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let mut schemas = settings
        .with(|settings| settings.definitions_path = SCHEMAS.into())
        .into_generator();
    let mut paths = Map::new();
    for endpoint in endpoints {
        let item = paths
            .entry(endpoint.path)
            .or_insert_with(|| Value::Object(Map::new()));
        if let Some(item) = item.as_object_mut() {
            let operation = operation(endpoint, &mut schemas);
            item.insert(endpoint.method.to_lowercase(), operation);
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
        "components": {
            "schemas": schemas.take_definitions(true),
            "securitySchemes": { "mutualTLS": { "type": "mutualTLS" } },
        },
        "security": [{ "mutualTLS": [] }],
    })
}

fn operation<S>(endpoint: &Endpoint<S>, schemas: &mut SchemaGenerator) -> Value {
    let names = endpoint.path.split('/');
    let mut parameters: Vec<Value> = names
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| parameter(name, schemas))
        .collect();
    parameters.extend(endpoint.query.iter().map(|(name, words)| {
        let schema = json!({ "type": "string" });
        json!({ "name": name, "in": "query", "required": false, "description": words, "schema": schema })
    }));
    let roles: Vec<&str> = endpoint.roles.iter().map(|role| role.name()).collect();
    let mut operation = json!({
        "summary": endpoint.summary,
        "operationId": operation_id(endpoint.method, endpoint.path),
        "x-locus-roles": roles,
        "parameters": parameters,
        "responses": {
            "2XX": response(endpoint.response, schemas),
            "4XX": problem("The request was refused.", schemas),
            "5XX": problem("The gate or an agent failed.", schemas),
        },
    });
    let content = content(endpoint.request, schemas);
    if let (Some(content), Some(object)) = (content, operation.as_object_mut()) {
        object.insert(
            "requestBody".to_owned(),
            json!({ "required": true, "content": content }),
        );
    }
    operation
}

fn parameter(name: &str, schemas: &mut SchemaGenerator) -> Value {
    let schema = match name {
        "uid" => schemas.subschema_for::<PodUid>(),
        // Names are any text; one that nothing has is not found.
        _ => schemas.subschema_for::<String>(),
    };
    json!({ "name": name, "in": "path", "required": true, "schema": schema })
}

fn operation_id(method: &str, path: &str) -> String {
    let words = path
        .split(['/', '{', '}', '.'])
        .filter(|word| !word.is_empty());
    words.fold(method.to_lowercase(), |id, word| format!("{id}-{word}"))
}

fn content(body: Body, schemas: &mut SchemaGenerator) -> Option<Value> {
    match body {
        Body::None => None,
        Body::Json(words, schema) => {
            let mut schema = schema(schemas);
            schema.insert("description".to_owned(), words.into());
            Some(json!({ "application/json": { "schema": schema } }))
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

fn response(body: Body, schemas: &mut SchemaGenerator) -> Value {
    match (body, content(body, schemas)) {
        (Body::Json(words, _) | Body::Text(words) | Body::Bytes(_, words), Some(content)) => {
            json!({ "description": words, "content": content })
        }
        _ => json!({ "description": "Done." }),
    }
}

fn problem(words: &str, schemas: &mut SchemaGenerator) -> Value {
    let schema = schemas.subschema_for::<ProblemBody>();
    json!({
        "description": words,
        "content": { "application/problem+json": { "schema": schema } },
    })
}
