//! Files that are accepted for their signatures: those the policy names, signed with keys of its keyrings, and no others.

use std::path::Path;

use crate::measured::{WORKER, append, boot_plain, plain, plain_worker};
use crate::world::{World, content};
use hyper::{Method, StatusCode};
use locus_attestation::digest::Digest;
use locus_attestation::policy;
use serde_json::{Value, json};

/// A signature that a kernel logged, the certificate of its key, and the digest of the program that was signed.
const SIGNATURE: &[u8] = include_bytes!("../data/ima-signature/signature");
const CERTIFICATE: &str = include_str!("../data/ima-signature/certificate.pem");
const PROGRAM: &str = "sha256:d75ff01e9cc54d93711a487c6ff8e42ac23b66630d3cccbdf226ee9274aa7f5b";

const ACCEPTED: &str = r#"
[keyrings]
site = ["site.pem"]
[[defaults.signed]]
files = ["/opt/site/**"]
keyrings = ["site"]
"#;

const REQUIRED: &str = r#"
[keyrings]
site = "site.pem"
[[defaults.signed]]
files = ["/opt/site/**"]
keyrings = ["site"]
required = true
"#;

const OF_ANOTHER_KEY: &str = r#"
[keyrings]
site = ["site.pem"]
other = ["other.pem"]
[[defaults.signed]]
files = ["/opt/site/**"]
keyrings = ["other"]
"#;

const OF_ANOTHER_GROUP: &str = r#"
[keyrings]
site = ["site.pem"]
[[group]]
name = "edge"
workers = ["edge-*"]
[[group.signed]]
files = ["/opt/site/**"]
keyrings = ["site"]
"#;

/// Starts the gate with a policy as an operator writes it.
async fn insist(world: &mut World, text: &str) {
    let folder = world.folder.path().join("gate");
    std::fs::write(folder.join("site.pem"), CERTIFICATE).unwrap();
    let key = p256::SecretKey::from_slice(&[7; 32]).unwrap().public_key();
    let pem = p256::pkcs8::EncodePublicKey::to_public_key_pem(&key, Default::default()).unwrap();
    std::fs::write(folder.join("other.pem"), pem).unwrap();
    let name = folder.join("policy.toml").display().to_string();
    let policy = policy::parse(&name, text).unwrap_or_else(|errors| panic!("{errors}"));
    if let Some(gate) = world.gate.take() {
        gate.stop().await;
    }
    world.start_gate_as(|config| config.policy = policy).await;
}

/// A new worker runs one file, and is attested; the effect if it is refused.
async fn ran(world: &World, (digest, path, signature): (&str, &str, &[u8])) -> Option<String> {
    // A TPM that loses power too often takes it for an attack.
    let name = format!("worker-{}", uuid::Uuid::new_v4());
    let mut worker = world.worker(&name).await;
    let address = worker.address();
    worker.agent.take().unwrap().stop().await;
    boot_plain(&mut worker, "ima-sig");
    worker.start_at(&address).await;
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    append(
        &mut worker,
        "ima-sig",
        &[digest.as_bytes(), path.as_bytes(), signature],
    );
    let attest = format!("/v1/verifier/workers/{name}/attest");
    let (status, answer) = world.operate(Method::POST, &attest, Value::Null).await;
    if status.is_success() {
        assert_eq!(answer["worker"]["trust"], "trusted", "{answer}");
        return None;
    }
    let (effect, detail) = (&answer["effect"], answer["detail"].as_str().unwrap());
    assert!(detail.contains(path), "{detail}");
    Some(effect.as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signature_of_a_known_key_stands_for_a_reference_value() {
    let mut world = World::new().await;
    let untrusted = Some("worker-untrusted".to_owned());
    let tool = "/opt/site/tool";
    let other = content("another program").to_string();
    let at = |place: usize| {
        let mut forged = SIGNATURE.to_vec();
        forged[place] ^= 1;
        forged
    };
    insist(&mut world, ACCEPTED).await;
    let good = (PROGRAM, tool, SIGNATURE);
    assert_eq!(ran(&world, good).await, None);
    let cut = &SIGNATURE[..SIGNATURE.len() - 1];
    for (what, wrong) in [
        ("of another content", (other.as_str(), tool, SIGNATURE)),
        ("unsigned", (PROGRAM, tool, &b""[..])),
        (
            "forged at its end",
            (PROGRAM, tool, &at(SIGNATURE.len() - 1)),
        ),
        ("with another key's name", (PROGRAM, tool, &at(4))),
        ("with another hash", (PROGRAM, tool, &at(2))),
        ("cut", (PROGRAM, tool, cut)),
        ("elsewhere", (PROGRAM, "/tmp/tool", SIGNATURE)),
        ("beside", (PROGRAM, "/opt/site.d/tool", SIGNATURE)),
    ] {
        let found = ran(&world, wrong).await;
        assert_eq!(found, untrusted, "{what}");
    }
    for other in ["", OF_ANOTHER_KEY, OF_ANOTHER_GROUP] {
        insist(&mut world, other).await;
        let found = ran(&world, good).await;
        assert_eq!(found, untrusted, "{other}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_a_signature_is_required_a_reference_value_is_not_enough() {
    let mut world = World::new().await;
    let host = json!({ "files": { "/opt/site/tool": [PROGRAM], "/usr/bin/ls": [content("ls")] } });
    let (status, answer) = world
        .operate(Method::PUT, "/v1/reference/hosts/host", host)
        .await;
    assert!(status.is_success(), "{answer}");
    let (signed, unsigned) = (
        (PROGRAM, "/opt/site/tool", SIGNATURE),
        (PROGRAM, "/opt/site/tool", &b""[..]),
    );
    insist(&mut world, ACCEPTED).await;
    assert_eq!(ran(&world, unsigned).await, None, "its value");
    // Neither unjudged hosts nor exclusions take the requirement away.
    let unjudged = format!("{REQUIRED}[defaults]\nhost = \"unjudged\"\n");
    let excluded = format!("{REQUIRED}[defaults]\nexclude = [\"/opt/**\"]\n");
    for required in [REQUIRED, &unjudged, &excluded] {
        // The tables of a policy come in any order, but each once.
        let text = required.replace("[[defaults.signed]]", "[[SIGNED]]");
        let (head, tail) = text.split_once("[[SIGNED]]").unwrap();
        let (rule, defaults) = tail.split_once("[defaults]").unwrap_or((tail, ""));
        let text = format!("{head}[defaults]{defaults}\n[[defaults.signed]]{rule}");
        insist(&mut world, &text).await;
        assert_eq!(ran(&world, signed).await, None, "{text}");
        let found = ran(&world, unsigned).await;
        assert_eq!(found.as_deref(), Some("worker-untrusted"), "{text}");
    }
    // Other files are judged as ever.
    insist(&mut world, REQUIRED).await;
    let ls = content("ls").to_string();
    let known = (ls.as_str(), "/usr/bin/ls", &b""[..]);
    assert_eq!(ran(&world, known).await, None);
}

/// The key counted when the file ran, and does not any more.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_withdrawn_vouches_for_nothing_any_more() {
    let mut world = World::new().await;
    let mut worker = plain_worker(&world, "ima-sig").await;
    insist(&mut world, ACCEPTED).await;
    append(
        &mut worker,
        "ima-sig",
        &[PROGRAM.as_bytes(), b"/opt/site/tool", SIGNATURE],
    );
    let (status, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    insist(&mut world, OF_ANOTHER_KEY).await;
    let (status, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    // Nor after a reset.
    let (status, answer) = world.register(&worker).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let (status, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
}

/// The file ran before anybody looked at signatures: its signature is in the log all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_signature_counts_that_was_there_before_the_policy_asked_for_it() {
    for before in [
        "[defaults]\nexclude = [\"/opt/site/**\"]\n",
        "[defaults]\nhost = \"unjudged\"\n",
    ] {
        let mut world = World::new().await;
        insist(&mut world, before).await;
        let mut worker = plain_worker(&world, "ima-sig").await;
        append(
            &mut worker,
            "ima-sig",
            &[PROGRAM.as_bytes(), b"/opt/site/tool", SIGNATURE],
        );
        for text in [before, REQUIRED, ACCEPTED] {
            insist(&mut world, text).await;
            let (status, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
            assert_eq!(status, StatusCode::OK, "{before} {text}: {answer}");
        }
    }
}

/// Control groups tell the host's files from those of pods, which have images.
#[tokio::test(flavor = "multi_thread")]
async fn a_required_signature_is_looked_for_on_the_host_and_not_in_pods() {
    let mut world = World::new().await;
    let mut worker = world.registered("worker").await;
    let everywhere = REQUIRED.replace("/opt/site/**", "/usr/bin/redis");
    insist(&mut world, &everywhere).await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let host = json!({ "files": { "/usr/bin/redis": [content("redis")] } });
    world
        .operate(Method::PUT, "/v1/reference/hosts/host", host)
        .await;
    worker.measure(
        "/usr/bin/redis:swapper/0",
        "/system.slice/redis.service",
        content("redis"),
        "/usr/bin/redis",
    );
    let reason = world.refused(&pod, "worker-untrusted").await;
    assert!(reason.contains("is not signed"), "{reason}");
}

/// What was not looked at under one policy is looked at under the next.
#[tokio::test(flavor = "multi_thread")]
async fn a_stricter_policy_judges_what_a_laxer_one_did_not_look_at() {
    let mut world = World::new().await;
    insist(&mut world, "[defaults]\nhost = \"unjudged\"\n").await;
    let mut worker = plain_worker(&world, "ima-sig").await;
    plain(&mut worker, "ima-sig", content("evil"), "/usr/bin/evil");
    let (status, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    insist(&mut world, "").await;
    let (status, answer) = world.operate(Method::POST, WORKER, Value::Null).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    assert_eq!(answer["effect"], "worker-untrusted");
}

/// A result says what the policy leaves out.
#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_left_out_are_said_in_the_result() {
    let mut world = World::new().await;
    insist(&mut world, "[defaults]\nexclude = [\"/var/lib/site/**\"]\n").await;
    let mut worker = world.registered("worker").await;
    let pod = world.healthy_pod(&mut worker, "redis").await;
    let group = "/system.slice/site.service";
    worker.measure("x:swapper/0", group, content("x"), "/var/lib/site/x");
    let (status, answer) = world.attest(&pod).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let token = world.status(&pod).token;
    let payload = token.split('.').nth(1).unwrap();
    let payload = locus_attestation::evidence::base64url::from_base64url(payload).unwrap();
    let payload = String::from_utf8(payload).unwrap();
    assert!(payload.contains("/var/lib/site/**"), "{payload}");
    worker.measure("x:swapper/0", group, content("x"), "/var/lib/other/x");
    world.refused(&pod, "worker-untrusted").await;
}

/// The files of the kernels' tests are what they are said to be.
#[test]
fn the_signed_program_is_in_a_real_log() {
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/ima/6.12-exec-sig");
    let log = std::fs::read(log.join("binary_runtime_measurements")).unwrap();
    let digest: Digest = PROGRAM.parse().unwrap();
    for part in [digest.as_bytes(), SIGNATURE] {
        assert!(log.windows(part.len()).any(|window| window == part));
    }
}
