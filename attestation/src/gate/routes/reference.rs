//! The endpoints of the reference values.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{delete, get, post, put};

use super::super::endpoint::{Endpoint, endpoint};
use super::super::openapi::{Body, json};
use super::super::problem::{JsonBody, Problem};
use super::{Answer, Done, Gate, OPERATOR, READ_VALUES, Shared, Table, running};
use crate::evidence::jws::{TrustedKeys, public_key_or_certificate};
use crate::reference::{
    FileSet, HostReference, ImageReference, ImportError, Kind, OsReference, PathText,
    ReferenceValues, RuntimeReference, export, import,
};

/// The files of a large image, in one request.
const FILES: usize = 64 * 1024 * 1024;

/// The reference values.
pub(super) fn reference() -> Table {
    vec![
        endpoint!("GET" "/v1/reference", READ_VALUES, "All reference values.",
            Body::None => json::<ReferenceValues>("operating systems, images, runtimes and hosts"), get(values)),
        endpoint!("GET" "/v1/reference/generation", READ_VALUES,
            "A number that changes with every change of the values.",
            Body::None => json::<u64>("the number"), get(generation)),
        endpoint!("GET" "/v1/reference/export", OPERATOR,
            "All reference values, signed with this component's key.",
            Body::None => Body::Text("a signed token (JWS)"), get(signed_values)),
        endpoint!("POST" "/v1/reference/import", OPERATOR,
            "Replaces everything by signed values that are newer than the last import, if their signer's \
             public key or certificate is in the installation's folder `reference-keys`.",
            Body::Text("a signed token (JWS)") => Body::None, post(import_values)).up_to(FILES),
        endpoint!("PUT" "/v1/reference/os/{name}", OPERATOR,
            "Sets the accepted boot aggregates of an operating system.",
            json::<OsReference>("boot_aggregates") => Body::None, put(put_os)),
        endpoint!("PUT" "/v1/reference/images/{name}", OPERATOR,
            "Sets digests and files of an image.",
            json::<ImageReference>("digests and files") => Body::None, put(put_image)).up_to(FILES),
        endpoint!("DELETE" "/v1/reference/os/{name}", OPERATOR, "Removes an operating system.",
            Body::None => Body::None, delete(remove_os)),
        endpoint!("DELETE" "/v1/reference/images/{name}", OPERATOR, "Removes an image.",
            Body::None => Body::None, delete(remove_image)),
        endpoint!("DELETE" "/v1/reference/runtimes/{name}", OPERATOR,
            "Removes a container runtime.",
            Body::None => Body::None, delete(remove_runtime)),
        endpoint!("DELETE" "/v1/reference/hosts/{name}", OPERATOR, "Removes a root file system.",
            Body::None => Body::None, delete(remove_host)),
        endpoint!("POST" "/v1/reference/images/{name}/files", OPERATOR,
            "Adds files to an image.",
            json::<FileSet>("files with their digests") => Body::None, post(add_files)).up_to(FILES),
        endpoint!("DELETE" "/v1/reference/images/{name}/files", OPERATOR,
            "Removes files of an image.",
            json::<Vec<PathText>>("a list of paths") => Body::None, delete(remove_files)).up_to(FILES),
        endpoint!("PUT" "/v1/reference/runtimes/{name}", OPERATOR,
            "Sets the files of a container runtime.",
            json::<RuntimeReference>("files") => Body::None, put(put_runtime)).up_to(FILES),
        endpoint!("PUT" "/v1/reference/hosts/{name}", OPERATOR,
            "Sets the files of a worker's root file system.",
            json::<HostReference>("files") => Body::None, put(put_host)).up_to(FILES),
    ]
}

async fn values(State(gate): Shared) -> Answer<ReferenceValues> {
    Ok(Json(running(gate.references.as_ref())?.values()?))
}

async fn generation(State(gate): Shared) -> Answer<u64> {
    Ok(Json(running(gate.references.as_ref())?.generation()?))
}

async fn signed_values(State(gate): Shared) -> Result<String, Problem> {
    let store = running(gate.references.as_ref())?;
    let values = store.values()?;
    // Every change counts up, so that what is exported later is newer.
    let sequence = store.generation()?;
    let signer = running(gate.reference_signer.as_ref())?;
    export(&values, sequence, signer, gate.clock.now()).map_err(Problem::internal)
}

async fn import_values(State(gate): Shared, token: String) -> Done {
    let store = running(gate.references.as_ref())?;
    let keys = trusted_keys(&gate.reference_keys)?;
    let imported = import(&token, &keys, store.imported()?).map_err(|error| match error {
        ImportError::Rollback { .. } => Problem::new(StatusCode::CONFLICT, error),
        ImportError::Token(_) => Problem::forbidden(error),
    })?;
    store.replace_all(&imported)?;
    Ok(StatusCode::NO_CONTENT)
}

/// The public keys and certificates in a folder, each in a PEM file; none if there is no such folder.
fn trusted_keys(folder: &std::path::Path) -> Result<TrustedKeys, Problem> {
    let mut keys = TrustedKeys::new();
    let Ok(files) = std::fs::read_dir(folder) else {
        return Ok(keys);
    };
    for file in files {
        let path = file.map_err(Problem::internal)?.path();
        let wrong = |error: &dyn std::fmt::Display| {
            Problem::internal(format!("`{}`: {error}", path.display()))
        };
        let pem = std::fs::read_to_string(&path).map_err(|error| wrong(&error))?;
        keys = keys.with(public_key_or_certificate(&pem).map_err(|error| wrong(&error))?);
    }
    Ok(keys)
}

async fn put_os(
    State(gate): Shared,
    Path(name): Path<String>,
    JsonBody(value): JsonBody<OsReference>,
) -> Done {
    running(gate.references.as_ref())?.put_os(&name, &value)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn put_image(
    State(gate): Shared,
    Path(name): Path<String>,
    JsonBody(value): JsonBody<ImageReference>,
) -> Done {
    running(gate.references.as_ref())?.put_image(&name, &value)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn add_files(
    State(gate): Shared,
    Path(name): Path<String>,
    JsonBody(files): JsonBody<FileSet>,
) -> Done {
    running(gate.references.as_ref())?.add_image_files(&name, &files)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove_files(
    State(gate): Shared,
    Path(name): Path<String>,
    JsonBody(paths): JsonBody<Vec<PathText>>,
) -> Done {
    running(gate.references.as_ref())?.remove_image_files(&name, &paths)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn put_runtime(
    State(gate): Shared,
    Path(name): Path<String>,
    JsonBody(value): JsonBody<RuntimeReference>,
) -> Done {
    running(gate.references.as_ref())?.put_runtime(&name, &value)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn put_host(
    State(gate): Shared,
    Path(name): Path<String>,
    JsonBody(value): JsonBody<HostReference>,
) -> Done {
    running(gate.references.as_ref())?.put_host(&name, &value)?;
    Ok(StatusCode::NO_CONTENT)
}

fn remove_value(gate: &Gate, kind: Kind, name: &str) -> Done {
    running(gate.references.as_ref())?.remove(kind, name)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove_os(State(gate): Shared, Path(name): Path<String>) -> Done {
    remove_value(&gate, Kind::Os, &name)
}

async fn remove_image(State(gate): Shared, Path(name): Path<String>) -> Done {
    remove_value(&gate, Kind::Image, &name)
}

async fn remove_runtime(State(gate): Shared, Path(name): Path<String>) -> Done {
    remove_value(&gate, Kind::Runtime, &name)
}

async fn remove_host(State(gate): Shared, Path(name): Path<String>) -> Done {
    remove_value(&gate, Kind::Host, &name)
}
