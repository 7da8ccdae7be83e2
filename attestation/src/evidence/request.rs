//! Tenants' requests, signed: HTTP message signatures (RFC 9421) over method, target, content digest
//! (RFC 9530), time and nonce.
//!
//! One profile, no choices: exactly these components, in this order, `ecdsa-p256-sha256`, one
//! signature labelled `locus`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use p256::ecdsa::VerifyingKey;

use super::jws::{TokenKey, key_id, verify_bytes};
use super::nonce::{Nonce, SeenError, SeenNonces};
use crate::clock::Timestamp;
use crate::digest::HashAlg;

/// The headers that carry a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureHeaders {
    /// `Content-Digest`.
    pub content_digest: String,
    /// `Signature-Input`.
    pub signature_input: String,
    /// `Signature`.
    pub signature: String,
}

/// The parts of a request that are signed.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The method, upper case.
    pub method: &'a str,
    /// Path and query, as sent.
    pub target: &'a str,
    /// The body; empty when there is none.
    pub body: &'a [u8],
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The headers are not of the one accepted form.
    #[error(
        "the signature headers are not of the form `locus=(\"@method\" \"@path\" \"@query\" \"content-digest\");created=…;expires=…;nonce=…;keyid=…;alg=…;tag=…`"
    )]
    Malformed,
    /// The key is not the tenant's.
    #[error("the request is signed with the key `{0}`, which is not that of the tenant")]
    Key(String),
    /// The body is not the one that was signed.
    #[error("the body does not have the digest that was signed")]
    ContentDigest,
    /// The signature is wrong: method, target or anything else was changed.
    #[error("the signature of the request is wrong")]
    Signature,
    /// Made too long ago.
    #[error("the request is too old")]
    Expired,
    /// Made in the future.
    #[error("the request was made in the future; compare the clocks")]
    Future,
    /// Valid for longer than allowed.
    #[error("the request asks to be valid for longer than {0} s")]
    Lifetime(i64),
    /// Sent before.
    #[error(transparent)]
    Seen(#[from] SeenError),
}

/// The longest that a request may be valid, in seconds.
pub const MAX_LIFETIME: i64 = 300;
/// How far the tenant's clock may be behind, in seconds.
pub const CLOCK_BEHIND: i64 = 30;
/// How far the tenant's clock may be ahead, in seconds.
///
/// Small, because for as long after a restart no request can be told from one seen before it.
pub const CLOCK_AHEAD: i64 = 5;

const COMPONENTS: &str = r#"("@method" "@path" "@query" "content-digest")"#;
const ALGORITHM: &str = "ecdsa-p256-sha256";
const TAG: &str = "locus-tenant";

/// Signs a request, to be valid for `lifetime` seconds from `now`.
pub fn sign(
    key: &TokenKey,
    request: Request<'_>,
    nonce: &Nonce,
    now: Timestamp,
    lifetime: i64,
) -> SignatureHeaders {
    let created = now.secs();
    let params = format!(
        r#"{COMPONENTS};created={created};expires={};nonce="{nonce}";keyid="{}";alg="{ALGORITHM}";tag="{TAG}""#,
        created.saturating_add(lifetime),
        key.id()
    );
    let content_digest = content_digest(request.body);
    let base = signature_base(request, &content_digest, &params);
    let signature = STANDARD.encode(key.sign_bytes(base.as_bytes()));
    SignatureHeaders {
        content_digest,
        signature_input: format!("locus={params}"),
        signature: format!("locus=:{signature}:"),
    }
}

/// The key that a request says it is signed with, to find the tenant; proves nothing yet.
pub fn key_id_of(headers: &SignatureHeaders) -> Result<String, RequestError> {
    Ok(parse(&headers.signature_input)?.key_id.to_owned())
}

/// Verifies that a request was made by the holder of `key`, is fresh, and was not seen before; gives its nonce.
pub fn verify(
    key: &VerifyingKey,
    request: Request<'_>,
    headers: &SignatureHeaders,
    seen: &mut SeenNonces,
    now: Timestamp,
) -> Result<Nonce, RequestError> {
    let input = parse(&headers.signature_input)?;
    if input.key_id != key_id(key) {
        return Err(RequestError::Key(input.key_id.to_owned()));
    }
    let signature = headers
        .signature
        .strip_prefix("locus=:")
        .and_then(|rest| rest.strip_suffix(':'))
        .and_then(|text| STANDARD.decode(text).ok())
        .ok_or(RequestError::Malformed)?;
    let base = signature_base(request, &headers.content_digest, input.params);
    if !verify_bytes(key, base.as_bytes(), &signature) {
        return Err(RequestError::Signature);
    }
    if headers.content_digest != content_digest(request.body) {
        return Err(RequestError::ContentDigest);
    }
    // Time and nonce last: only the holder of the key may fill the memory of nonces.
    let seconds = now.secs();
    let lifetime = input.expires.saturating_sub(input.created);
    if !(0..=MAX_LIFETIME).contains(&lifetime) {
        return Err(RequestError::Lifetime(MAX_LIFETIME));
    }
    if input.created > seconds.saturating_add(CLOCK_AHEAD) {
        return Err(RequestError::Future);
    }
    if seconds > input.expires.saturating_add(CLOCK_BEHIND) {
        return Err(RequestError::Expired);
    }
    seen.note(
        input.key_id,
        &input.nonce.to_string(),
        // The earliest moment at which it can have been sent.
        Timestamp::from_secs(input.created.saturating_sub(CLOCK_AHEAD)),
        Timestamp::from_secs(input.expires.saturating_add(CLOCK_BEHIND + 1)),
        now,
    )?;
    Ok(input.nonce)
}

fn content_digest(body: &[u8]) -> String {
    let digest = HashAlg::Sha256.hash(&[body]);
    format!("sha-256=:{}:", STANDARD.encode(digest.as_bytes()))
}

fn signature_base(request: Request<'_>, content_digest: &str, params: &str) -> String {
    let (path, query) = match request.target.split_once('?') {
        Some((path, query)) => (path, query),
        None => (request.target, ""),
    };
    let method = request.method;
    format!(
        "\"@method\": {method}\n\"@path\": {path}\n\"@query\": ?{query}\n\
         \"content-digest\": {content_digest}\n\"@signature-params\": {params}"
    )
}

struct SignatureInput<'a> {
    params: &'a str,
    created: i64,
    expires: i64,
    nonce: Nonce,
    key_id: &'a str,
}

fn parse(header: &str) -> Result<SignatureInput<'_>, RequestError> {
    let inner = || -> Option<SignatureInput<'_>> {
        let params = header.strip_prefix("locus=")?;
        let mut parts = params.strip_prefix(COMPONENTS)?.split(';');
        if !parts.next()?.is_empty() {
            return None;
        }
        let mut next = |name: &str| parts.next()?.strip_prefix(name)?.strip_prefix('=');
        let created = next("created")?.parse().ok()?;
        let expires = next("expires")?.parse().ok()?;
        let quoted = |text: &'_ str| -> Option<usize> {
            (text.len() >= 2 && text.starts_with('"') && text.ends_with('"')).then_some(text.len())
        };
        let nonce = next("nonce")?;
        quoted(nonce)?;
        let nonce = Nonce::parse(nonce.get(1..nonce.len() - 1)?)?;
        let key_id = next("keyid")?;
        quoted(key_id)?;
        let key_id = key_id.get(1..key_id.len() - 1)?;
        if next("alg")?.trim_matches('"') != ALGORITHM || next("tag")?.trim_matches('"') != TAG {
            return None;
        }
        if parts.next().is_some() {
            return None;
        }
        Some(SignatureInput {
            params,
            created,
            expires,
            nonce,
            key_id,
        })
    };
    inner().ok_or(RequestError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_800_000_000);
    const REQUEST: Request<'static> = Request {
        method: "POST",
        target: "/v1/pods/attest?wait=1",
        body: b"{\"pod\":\"redis\"}",
    };

    fn signed() -> (TokenKey, SignatureHeaders) {
        let key = TokenKey::generate().unwrap();
        let headers = sign(&key, REQUEST, &Nonce::random().unwrap(), NOW, 60);
        (key, headers)
    }

    fn seen() -> SeenNonces {
        SeenNonces::new(100, NOW.plus_secs(-3600))
    }

    #[test]
    fn a_request_is_accepted_once() {
        let key = TokenKey::generate().unwrap();
        let nonce = Nonce::random().unwrap();
        let headers = sign(&key, REQUEST, &nonce, NOW, 60);
        let mut seen = seen();
        let mut verify = || verify(&key.public(), REQUEST, &headers, &mut seen, NOW);
        assert_eq!(verify(), Ok(nonce));
        assert_eq!(verify(), Err(RequestError::Seen(SeenError::Repeated)));
        assert_eq!(key_id_of(&headers).unwrap(), key.id());
    }

    /// Attack 8: nothing of a request can be changed or sent again later.
    #[test]
    fn nothing_of_a_request_can_be_changed() {
        let (key, headers) = signed();
        let changed = [
            Request {
                method: "DELETE",
                ..REQUEST
            },
            Request {
                target: "/v1/pods/attest?wait=2",
                ..REQUEST
            },
            Request {
                target: "/v1/pods/deploy?wait=1",
                ..REQUEST
            },
            Request {
                target: "/v1/pods/attest",
                ..REQUEST
            },
        ];
        for request in changed {
            assert_eq!(
                verify(&key.public(), request, &headers, &mut seen(), NOW),
                Err(RequestError::Signature),
                "{request:?}"
            );
        }
        let body = Request {
            body: b"{\"pod\":\"other\"}",
            ..REQUEST
        };
        assert_eq!(
            verify(&key.public(), body, &headers, &mut seen(), NOW),
            Err(RequestError::ContentDigest)
        );
        let mut swapped = headers.clone();
        swapped.content_digest = content_digest(body.body);
        assert_eq!(
            verify(&key.public(), body, &swapped, &mut seen(), NOW),
            Err(RequestError::Signature)
        );
        for (old, new) in [("created=18", "created=19"), ("expires=18", "expires=19")] {
            let mut later = headers.clone();
            later.signature_input = later.signature_input.replace(old, new);
            assert_eq!(
                verify(&key.public(), REQUEST, &later, &mut seen(), NOW),
                Err(RequestError::Signature)
            );
        }
    }

    #[test]
    fn an_old_or_future_request_is_refused() {
        let (key, headers) = signed();
        let at = |now: Timestamp| verify(&key.public(), REQUEST, &headers, &mut seen(), now);
        assert!(at(NOW.plus_secs(60 + CLOCK_BEHIND)).is_ok());
        assert_eq!(
            at(NOW.plus_secs(61 + CLOCK_BEHIND)),
            Err(RequestError::Expired)
        );
        assert_eq!(
            at(NOW.plus_secs(-CLOCK_AHEAD - 1)),
            Err(RequestError::Future)
        );
        let long = sign(
            &key,
            REQUEST,
            &Nonce::random().unwrap(),
            NOW,
            MAX_LIFETIME + 1,
        );
        assert_eq!(
            verify(&key.public(), REQUEST, &long, &mut seen(), NOW),
            Err(RequestError::Lifetime(MAX_LIFETIME))
        );
    }

    /// After a restart the memory of nonces is gone; so are the requests from before it.
    #[test]
    fn a_request_from_before_a_restart_is_refused() {
        let (key, headers) = signed();
        for (started, expected) in [
            (-CLOCK_AHEAD, Ok(())),
            (
                -CLOCK_AHEAD + 1,
                Err(RequestError::Seen(SeenError::BeforeStart)),
            ),
            (2, Err(RequestError::Seen(SeenError::BeforeStart))),
        ] {
            let mut seen = SeenNonces::new(10, NOW.plus_secs(started));
            assert_eq!(
                verify(
                    &key.public(),
                    REQUEST,
                    &headers,
                    &mut seen,
                    NOW.plus_secs(3)
                )
                .map(|_| ()),
                expected,
                "{started}"
            );
        }
    }

    #[test]
    fn another_tenants_key_does_not_do() {
        let (_, headers) = signed();
        let other = TokenKey::generate().unwrap();
        assert!(matches!(
            verify(&other.public(), REQUEST, &headers, &mut seen(), NOW),
            Err(RequestError::Key(_))
        ));
    }

    #[test]
    fn other_components_algorithms_and_labels_are_refused() {
        let (key, headers) = signed();
        for (old, new) in [
            (" \"content-digest\"", ""),
            ("\"@query\" ", ""),
            ("ecdsa-p256-sha256", "hmac-sha256"),
            ("locus=(", "sig1=("),
            (";nonce=", ";once="),
            ("locus-tenant", "web-bot-auth"),
        ] {
            let mut other = headers.clone();
            other.signature_input = other.signature_input.replace(old, new);
            assert_eq!(
                verify(&key.public(), REQUEST, &other, &mut seen(), NOW),
                Err(RequestError::Malformed),
                "{new}"
            );
        }
    }
}
