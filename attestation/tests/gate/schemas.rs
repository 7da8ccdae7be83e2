//! What is sent and answered, held to the schemas of the OpenAPI documents.

use std::sync::LazyLock;

use hyper::{Method, StatusCode};
use jsonschema::Validator;
use locus_attestation::digest::{Digest, HashAlg};
use locus_attestation::evidence::{Nonce, PodClaim};
use locus_attestation::gate::{COMPONENTS, routes};
use locus_attestation::http::openapi::openapi;
use locus_attestation::ima::{ContainerId, PodUid};
use locus_attestation::reference::PathText;
use locus_attestation::tpm::Credential;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The documents of a gate with all components and of an agent.
pub(crate) static DOCUMENTS: LazyLock<[Value; 2]> = LazyLock::new(|| {
    let gate = openapi("Locus gate", &routes::endpoints(&COMPONENTS));
    [gate, locus_attestation::agent::server::document()]
});

/// The document that describes an endpoint, and its operation there.
pub(crate) fn operation(method: &Method, path: &str) -> Option<(&'static Value, &'static Value)> {
    let path = path.split('?').next()?;
    let is_at = |template: &str| {
        let mut parts = template.split('/').zip(path.split('/'));
        template.split('/').count() == path.split('/').count()
            && parts.all(|(wanted, found)| wanted == found || wanted.starts_with('{'))
    };
    DOCUMENTS.iter().find_map(|document| {
        let mut items = document["paths"].as_object()?.iter();
        let (_, item) = items.find(|(template, _)| is_at(template))?;
        Some((document, item.get(method.as_str().to_lowercase())?))
    })
}

fn validator(document: &Value, schema: &Value) -> Validator {
    let mut schema = schema.clone();
    schema["components"] = document["components"].clone();
    let options = jsonschema::options();
    let options = options.with_draft(jsonschema::Draft::Draft202012);
    options
        .should_validate_formats(true)
        .build(&schema)
        .unwrap()
}

/// What is wrong with a value; nothing, if the document says nothing of it.
pub(crate) fn faults(document: &Value, content: &Value, kind: &str, value: &Value) -> Vec<String> {
    let Some(schema) = content.get(kind).map(|content| &content["schema"]) else {
        return Vec::new();
    };
    let validator = validator(document, schema);
    let errors = validator.iter_errors(value);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// Whether a body was refused for its form, before anything was done with it.
pub(crate) fn unreadable(status: StatusCode, answer: &Value) -> bool {
    let detail = answer["detail"].as_str().unwrap_or_default();
    let words = [
        "Failed to deserialize the JSON body",
        "Failed to parse the request body as JSON",
        "the request: ",
    ];
    status.is_client_error() && words.iter().any(|words| detail.starts_with(words))
}

/// Holds an exchange to the documents: what was taken is described, what is described was readable, and
/// so is the answer. Every JSON that tests send to gate or agent comes by here.
pub(crate) fn check(
    method: &Method,
    path: &str,
    question: &Value,
    status: StatusCode,
    answer: &Value,
) {
    let Some((document, operation)) = operation(method, path) else {
        assert!(!status.is_success(), "{method} {path} is not described");
        return;
    };
    let json = "application/json";
    let content = &operation["requestBody"]["content"];
    let wrong = faults(document, content, json, question);
    let place = format!("{method} {path} with {question} was answered {status} {answer}");
    if status.is_success() {
        assert!(wrong.is_empty(), "{place}, and has faults: {wrong:#?}");
    }
    if unreadable(status, answer) {
        assert!(!wrong.is_empty(), "{place}, and has no faults");
    }
    let (range, kind) = match status.as_u16() {
        200..300 => ("2XX", json),
        400..500 => ("4XX", "application/problem+json"),
        _ => ("5XX", "application/problem+json"),
    };
    let content = &operation["responses"][range]["content"];
    let wrong = faults(document, content, kind, answer);
    assert!(
        wrong.is_empty(),
        "{place}; the answer has faults: {wrong:#?}"
    );
}

/// No JSON is without a schema, and no schema refers to nothing.
pub(crate) fn check_schemas(document: &Value) {
    fn walk(value: &Value, document: &Value, found: &mut usize) {
        if let Some(reference) = value.get("$ref") {
            let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
            *found += 1;
        }
        for kind in ["application/json", "application/problem+json"] {
            if let Some(content) = value.get(kind) {
                let schema = &content["schema"];
                // What may be null is one of two.
                let says = ["$ref", "type", "anyOf"].map(|word| schema.get(word));
                assert!(says.iter().any(Option::is_some), "says nothing: {value}");
                validator(document, schema);
            }
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| walk(item, document, found)),
            Value::Object(items) => items.values().for_each(|item| walk(item, document, found)),
            _ => {}
        }
    }
    let mut found = 0;
    walk(document, document, &mut found);
    assert!(found > 20, "{found}");
}

/// A type takes the texts that its schema describes and no others, and writes such texts.
fn agrees<T: JsonSchema + Serialize + DeserializeOwned>(wrap: fn(&str) -> Value, texts: &[&str]) {
    let schema = schemars::schema_for!(T);
    let validator = validator(&json!({}), schema.as_value());
    let mut taken = 0;
    for text in texts {
        let value = wrap(text);
        let read = serde_json::from_value::<T>(value.clone());
        assert_eq!(validator.is_valid(&value), read.is_ok(), "`{text}`");
        if let Ok(read) = read {
            taken += 1;
            assert!(validator.is_valid(&serde_json::to_value(read).unwrap()));
        }
    }
    assert!(0 < taken && taken < texts.len(), "both are tried");
}

#[test]
fn texts_are_described_as_they_are_read() {
    let plain = |text: &str| json!(text);
    let digits = "0123456789abcdef".repeat(8);
    let of = |alg: &str, count: usize| format!("{alg}:{}", &digits[..count]);
    let digests = [
        of("sha1", 40),
        of("sha256", 64),
        of("sha256", 64).replace('a', "A"),
        of("sha384", 96),
        of("sha512", 128),
        of("sha256", 40),
        of("sha256", 63),
        of("md5", 32),
        of("SHA256", 64),
        digits[..64].to_owned(),
        of("sha256", 62) + "xy",
        of("sha256", 64) + "\n",
    ];
    agrees::<Digest>(plain, &digests.each_ref().map(String::as_str));
    agrees::<HashAlg>(
        plain,
        &["sha1", "sha256", "sha384", "sha512", "SHA1", "md5", ""],
    );
    let uid = "01234567-89ab-cdef-0123-456789abcdef";
    let (bare, low) = (uid.replace('-', ""), uid.replace('-', "_"));
    let (capital, colons) = (uid.replace('a', "A"), uid.replace('-', ":"));
    let uids = [
        uid,
        &bare,
        &low,
        &capital,
        &colons,
        &uid[1..],
        &bare[1..],
        "",
    ];
    agrees::<PodUid>(plain, &uids);
    let id = &digits[..64];
    let (named, twice) = (format!("containerd://{id}"), format!("a://b://{id}"));
    let (none, big) = (format!("://{id}"), id.replace('a', "A"));
    let ids = [
        id,
        &named,
        &twice,
        &none,
        &big,
        &id[1..],
        "containerd://",
        "",
    ];
    agrees::<ContainerId>(plain, &ids);
    let paths = [
        "",
        "/a b",
        "/gr\u{fc}n",
        "a\nb",
        r"\\",
        r"/a\\b",
        r"\x4F\xfe",
        r"\",
        r"\q",
        r"\x4",
        r"\xg0",
        r"\\\",
        r"\\\x41",
        r"\X41",
    ];
    agrees::<PathText>(plain, &paths);
    let nonce = Nonce::from_bytes([0xfb; 32]).to_string();
    let (padded, standard) = (format!("{nonce}="), nonce.replace(['-', '_'], "+"));
    let bits = format!("{}B", &nonce[..42]);
    agrees::<Nonce>(plain, &[&nonce, &padded, &standard, &bits, &nonce[1..], ""]);
    let credential = |text: &str| json!({ "id_object": text, "encrypted_seed": "" });
    let texts = [
        "", "AA==", "AAA=", "AAAA", "+/+/", "AAAAAA==", "AB==", "AAB=", "A", "AA", "AAA", "A===",
        "-_==", "AA==AA==", "AAAA\n",
    ];
    agrees::<Credential>(credential, &texts);
    let claim = |text: &str| json!({ "uid": text, "namespace": "", "name": "" });
    agrees::<PodClaim>(claim, &[uid, ""]);
}
