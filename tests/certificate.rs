//! `--certificate`, `--key` and `locus verify-certificate`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use std::path::Path;
use std::process::{Command, Output};

use locus::certificate::{
    Certificate, Obligation, PublicKey, SigningKey, Trust, Unverified, verify,
};
use locus::session::{Cancel, FileSystem, Given, Session};
use tempfile::TempDir;

const TEMPLATE: &str = "heat_template_version: 2021-04-16
parameters:
  block: { type: string, default: 10.0.0.0/24 }
resources:
  net: { type: OS::Neutron::Net }
  subnet:
    type: OS::Neutron::Subnet
    properties: { network: { get_resource: net }, cidr: { get_param: block } }
";

/// The key of the first test in RFC 8032.
const ED25519: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.yaml"), TEMPLATE).unwrap();
    std::fs::write(folder.path().join("ed25519.pem"), ED25519).unwrap();
    folder
}

fn locus(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_locus"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn public(folder: &Path) -> PublicKey {
    let key = SigningKey::from_pem(ED25519.as_bytes()).unwrap().public();
    std::fs::write(folder.join("public.pem"), key.to_pem()).unwrap();
    assert_eq!(
        PublicKey::from_pem(key.to_pem().as_bytes()),
        Ok(key.clone())
    );
    key
}

fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

#[test]
fn a_certificate_is_verified_until_a_file_changes() {
    let folder = folder();
    let here = folder.path();
    for key in [&[][..], &["--key", "ed25519.pem"]] {
        let args = [&["check", "a.yaml", "--certificate", "c.json"][..], key].concat();
        let output = locus(here, &args);
        assert!(output.status.success(), "{}", said(&output));
        public(here);
        let verify: Vec<&str> = match key {
            [] => vec!["verify-certificate", "c.json"],
            _ => vec!["verify-certificate", "c.json", "--key", "public.pem"],
        };
        let output = locus(here, &verify);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert!(said(&output).contains("deployable"), "{}", said(&output));
        // From another folder.
        let away = tempfile::tempdir().unwrap();
        let certificate = here.join("c.json").display().to_string();
        let key = here.join("public.pem").display().to_string();
        let mut args = vec![
            "verify-certificate",
            &certificate,
            "--folder",
            here.to_str().unwrap(),
        ];
        if verify.len() > 2 {
            args.extend(["--key", &key]);
        }
        let output = locus(away.path(), &args);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));

        std::fs::write(here.join("a.yaml"), TEMPLATE.replace("/24", "/25")).unwrap();
        let output = locus(here, &verify);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            said(&output).contains("`a.yaml` was changed"),
            "{}",
            said(&output)
        );
        std::fs::remove_file(here.join("a.yaml")).unwrap();
        assert_eq!(locus(here, &verify).status.code(), Some(1));
        std::fs::write(here.join("a.yaml"), TEMPLATE).unwrap();
        assert_eq!(locus(here, &verify).status.code(), Some(0));
        // What was looked for and is there now.
        std::fs::write(here.join("locus.toml"), "").unwrap();
        let output = locus(here, &verify);
        assert_eq!(output.status.code(), Some(1));
        assert!(
            said(&output).contains("`locus.toml` was not there"),
            "{}",
            said(&output)
        );
        std::fs::remove_file(here.join("locus.toml")).unwrap();
    }
}

#[test]
fn wrong_keys_and_files_are_said() {
    let folder = folder();
    let here = folder.path();
    public(here);
    std::fs::write(
        here.join("sec1.pem"),
        "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n",
    )
    .unwrap();
    std::fs::write(here.join("empty.pem"), "").unwrap();
    std::fs::write(
        here.join("odd.pem"),
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    )
    .unwrap();
    let certificate = ["check", "a.yaml", "--certificate", "c.json", "--key"];
    for (key, message) in [
        ("missing.pem", "there is no such file"),
        ("public.pem", "only a private key can sign"),
        ("sec1.pem", "openssl pkcs8"),
        ("empty.pem", "no PEM block"),
        ("odd.pem", "neither an Ed25519 key nor a P-256 key"),
        ("a.yaml", "no PEM block"),
    ] {
        let output = locus(here, &[&certificate[..], &[key]].concat());
        assert_eq!(output.status.code(), Some(3), "{key}: {}", said(&output));
        assert!(said(&output).contains(message), "{key}: {}", said(&output));
        assert!(!here.join("c.json").exists(), "{key}");
    }
    assert_eq!(
        locus(here, &["check", "a.yaml", "--key", "ed25519.pem"])
            .status
            .code(),
        Some(3)
    );
    let output = locus(
        here,
        &["check", "a.yaml", "--certificate", "no/such/folder.json"],
    );
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));

    assert!(
        locus(here, &[&certificate[..], &["ed25519.pem"]].concat())
            .status
            .success()
    );
    for (args, code, message) in [
        (
            &["verify-certificate", "missing.json"][..],
            2,
            "there is no such file",
        ),
        (&["verify-certificate", "a.yaml"], 1, "not an envelope"),
        (&["verify-certificate", "c.json"], 2, "give that public key"),
        (
            &["verify-certificate", "c.json", "--key", "ed25519.pem"],
            3,
            "it is a private key",
        ),
        (
            &["verify-certificate", "c.json", "--key", "missing.pem"],
            3,
            "there is no such file",
        ),
    ] {
        let output = locus(here, args);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{args:?}: {}",
            said(&output)
        );
        assert!(
            said(&output).contains(message),
            "{args:?}: {}",
            said(&output)
        );
    }
    // Signed by somebody else, or by nobody.
    let other = ring_key();
    std::fs::write(here.join("other.pem"), other.public().to_pem()).unwrap();
    let output = locus(
        here,
        &["verify-certificate", "c.json", "--key", "other.pem"],
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("signed with another key"),
        "{}",
        said(&output)
    );
    assert!(
        locus(here, &["check", "a.yaml", "--certificate", "c.json"])
            .status
            .success()
    );
    let output = locus(
        here,
        &["verify-certificate", "c.json", "--key", "public.pem"],
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("it is not signed"),
        "{}",
        said(&output)
    );
}

/// A P-256 key of this run.
fn ring_key() -> SigningKey {
    use base64::Engine as _;
    let random = ring::rand::SystemRandom::new();
    let der = ring::signature::EcdsaKeyPair::generate_pkcs8(
        &ring::signature::ECDSA_P256_SHA256_ASN1_SIGNING,
        &random,
    )
    .unwrap();
    let text = base64::engine::general_purpose::STANDARD.encode(der.as_ref());
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n");
    SigningKey::from_pem(pem.as_bytes()).unwrap()
}

fn obligation() -> Obligation {
    Obligation {
        rule: "HOT207".to_owned(),
        claim: "no allowed input breaks it".to_owned(),
        cnf: b"p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n".to_vec(),
        drat: b"2 0\n0\n".to_vec(),
    }
}

fn stated(folder: &Path, obligations: &[Obligation]) -> Certificate {
    let snapshot = Session::new().snapshot();
    let given = Given::of_process();
    let path = folder.join("a.yaml");
    let batch = snapshot
        .check_all(&[path], &[], &given, &Cancel::default())
        .unwrap();
    Certificate::of(&snapshot, &batch, &given, obligations, folder)
}

#[test]
fn any_changed_byte_is_noticed() {
    let folder = folder();
    let here = folder.path();
    let key = public(here);
    let signing = SigningKey::from_pem(ED25519.as_bytes()).unwrap();
    let p256 = ring_key();
    for (signer, public) in [
        (None, None),
        (Some(&signing), Some(key)),
        (Some(&p256), Some(p256.public())),
    ] {
        let sealed = stated(here, &[obligation()]).seal(signer).unwrap();
        let check = |bytes: &[u8]| verify(bytes, public.as_ref(), here, &FileSystem);
        let good = check(&sealed).unwrap();
        assert_eq!(good.proofs, 1);
        match &public {
            None => assert_eq!(good.trust, Trust::Unsigned),
            Some(key) => assert_eq!(good.trust, Trust::Signed(key.id())),
        }
        // Every byte in one way, and bytes all over in others; cut off, and longer.
        if public.is_none() {
            for at in 0..sealed.len() {
                let mut changed = sealed.clone();
                changed[at] ^= 0x01;
                assert!(check(&changed).is_err(), "byte {at}");
            }
            let text = std::fs::read(here.join("a.yaml")).unwrap();
            for at in 0..text.len() {
                let mut changed = text.clone();
                changed[at] ^= 0x01;
                std::fs::write(here.join("a.yaml"), &changed).unwrap();
                assert!(check(&sealed).is_err(), "byte {at} of the file");
            }
            std::fs::write(here.join("a.yaml"), &text).unwrap();
        }
        let step = (sealed.len() / 700).max(1);
        let ends = (0..64).chain(sealed.len().saturating_sub(700)..sealed.len());
        for at in (0..sealed.len()).step_by(step).chain(ends) {
            for flip in [0x01, 0x20, 0x80] {
                let mut changed = sealed.clone();
                changed[at] ^= flip;
                assert!(check(&changed).is_err(), "byte {at} with {flip:#x}");
            }
        }
        for length in (0..sealed.len()).step_by(step * 10) {
            assert!(check(&sealed[..length]).is_err(), "cut to {length}");
        }
        for more in [&b" "[..], b"\n", b"{}"] {
            assert!(check(&[&sealed[..], more].concat()).is_err());
            assert!(check(&[more, &sealed[..]].concat()).is_err());
        }
    }
}

#[test]
fn a_wrong_proof_is_refused_though_it_is_signed() {
    let folder = folder();
    let signing = SigningKey::from_pem(ED25519.as_bytes()).unwrap();
    let wrong = Obligation {
        drat: b"0\n".to_vec(),
        ..obligation()
    };
    let sealed = stated(folder.path(), &[wrong])
        .seal(Some(&signing))
        .unwrap();
    let found = verify(&sealed, Some(&signing.public()), folder.path(), &FileSystem);
    assert!(matches!(found, Err(Unverified::Broken(why)) if why.contains("the proof for HOT207")));
}

/// Seals an envelope of a changed statement as anybody can: with the right checksum, and a signature if there is a key.
fn resealed(sealed: &[u8], change: impl FnOnce(String) -> String) -> Vec<u8> {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use sha2::Digest as _;
    let envelope: serde_json::Value = serde_json::from_slice(sealed).unwrap();
    let payload = STANDARD
        .decode(envelope["payload"].as_str().unwrap())
        .unwrap();
    let before = String::from_utf8(payload).unwrap();
    let after = change(before.clone());
    assert_ne!(before, after, "nothing was changed");
    let kind = "application/vnd.in-toto+json";
    let message = format!("DSSEv1 {} {kind} {} {after}", kind.len(), after.len());
    let sum = STANDARD.encode(sha2::Sha256::digest(message.as_bytes()));
    let text = format!(
        "{{\"payload\":\"{}\",\"payloadType\":\"{kind}\",\"signatures\":[{{\"keyid\":\"sha256\",\"sig\":\"{sum}\"}}]}}\n",
        STANDARD.encode(&after)
    );
    text.into_bytes()
}

/// What contradicts itself, the files or this program is refused, though its checksum was made again.
#[test]
fn a_statement_that_no_check_makes_is_refused() {
    let folder = folder();
    let here = folder.path();
    let good = stated(here, &[obligation()]).seal(None).unwrap();
    let check = |bytes: &[u8]| verify(bytes, None, here, &FileSystem);
    assert!(check(&good).is_ok());
    std::fs::write(
        here.join("a.yaml"),
        TEMPLATE.replace("10.0.0.0/24", "10.0.0.0/33"),
    )
    .unwrap();
    let bad = stated(here, &[]).seal(None).unwrap();
    assert!(check(&bad).is_ok());
    let replace =
        |from: &'static str, to: &'static str| move |text: String| text.replacen(from, to, 1);
    let cut = |start: &'static str, end: &'static str| {
        move |text: String| {
            let from = text.find(start).unwrap();
            let to = from + start.len() + text[from + start.len()..].find(end).unwrap();
            format!("{}{}{}", &text[..from], start, &text[to..])
        }
    };
    // What was found is hidden.
    for (name, changed) in [
        (
            "deployable after all",
            resealed(&bad, replace("\"deployable\":false", "\"deployable\":true")),
        ),
        (
            "every project is deployable",
            resealed(&bad, |text| {
                text.replace("\"deployable\":false", "\"deployable\":true")
            }),
        ),
        (
            "the findings are gone",
            resealed(&bad, cut("\"findings\":[", "],\"ignored\"")),
        ),
        (
            "the rule holds",
            resealed(&bad, |text| text.replace(":\"violated\",", ":\"holds\",")),
        ),
    ] {
        assert!(check(&changed).is_err(), "{name}");
    }
    std::fs::write(here.join("a.yaml"), TEMPLATE).unwrap();
    for (name, changed) in [
        (
            "another program",
            resealed(&good, replace("\"name\":\"locus\"", "\"name\":\"other\"")),
        ),
        (
            "another version",
            resealed(&good, replace("\"version\":\"", "\"version\":\"9")),
        ),
        (
            "other rules",
            resealed(&good, replace("\"library\":\"", "\"library\":\"0")),
        ),
        (
            "the text of a rule",
            resealed(&good, |text| {
                let at = text.find("\"rules\":[").unwrap();
                let at = at + text[at..].find("\"sha256\":\"").unwrap() + 10;
                let digit = if &text[at..=at] == "0" { "1" } else { "0" };
                format!("{}{digit}{}", &text[..at], &text[at + 1..])
            }),
        ),
        (
            "no rules",
            resealed(&good, cut("\"rules\":[", "],\"projects\"")),
        ),
        (
            "no projects",
            resealed(&good, cut("\"projects\":[", "],\"findings\"")),
        ),
        (
            "a key that is there twice",
            resealed(
                &good,
                replace("\"deployable\":", "\"deployable\":false,\"deployable\":"),
            ),
        ),
        (
            "a digest that is there twice",
            resealed(
                &good,
                replace("\"digest\":{", "\"digest\":{\"sha256\":\"00\","),
            ),
        ),
        (
            "a key that nobody knows",
            resealed(
                &good,
                replace("\"deployable\":", "\"approved\":true,\"deployable\":"),
            ),
        ),
        (
            "space that changes nothing",
            resealed(&good, replace("\"deployable\":", " \"deployable\":")),
        ),
        ("text after it", resealed(&good, |text| text + " ")),
        (
            "a proof that is cut off",
            resealed(&good, replace("\"drat\":\"2 0\\n0\\n\"", "\"drat\":\"\"")),
        ),
        (
            "a proof of something else",
            resealed(&good, replace("-1 -2 0\\n", "-1 -3 0\\n")),
        ),
        (
            "fewer clauses",
            resealed(&good, replace("p cnf 2 4\\n1 2 0\\n", "p cnf 2 3\\n")),
        ),
        (
            "a name of a file",
            resealed(&good, replace("\"name\":\"a.yaml\"", "\"name\":\"b.yaml\"")),
        ),
        (
            "a file that has no digest",
            resealed(&good, cut("\"subject\":[", "],\"predicateType\"")),
        ),
        (
            "a signer that did not sign",
            resealed(&good, |text| {
                let end = text.rfind("}}").unwrap();
                format!("{},\"signer\":\"x\"}}}}", &text[..end])
            }),
        ),
    ] {
        assert!(check(&changed).is_err(), "{name}");
    }
}

/// Files and proofs are in the order in which they were stated.
#[test]
fn what_is_in_another_order_is_refused() {
    let folder = folder();
    let here = folder.path();
    std::fs::write(here.join("b.yaml"), TEMPLATE).unwrap();
    let snapshot = Session::new().snapshot();
    let given = Given::of_process();
    let paths = [here.join("a.yaml"), here.join("b.yaml")];
    let batch = snapshot
        .check_all(&paths, &[], &given, &Cancel::default())
        .unwrap();
    let other = Obligation {
        rule: "HOT208".to_owned(),
        cnf: b"p cnf 1 2\n1 0\n-1 0\n".to_vec(),
        drat: b"0\n".to_vec(),
        ..obligation()
    };
    let proofs = [obligation(), other];
    let statement = Certificate::of(&snapshot, &batch, &given, &proofs, here);
    let check = |bytes: &[u8]| verify(bytes, None, here, &FileSystem);
    assert_eq!(check(&statement.seal(None).unwrap()).unwrap().proofs, 2);
    let mut files = statement.clone();
    files.subject.reverse();
    assert!(check(&files.seal(None).unwrap()).is_err());
    let mut twice = statement.clone();
    twice.subject.push(twice.subject[0].clone());
    assert!(check(&twice.seal(None).unwrap()).is_err());
    // A proof belongs to its clauses.
    let mut swapped = statement.clone();
    let proof = swapped.predicate.evidence[0].drat.clone();
    swapped.predicate.evidence[0].drat = swapped.predicate.evidence[1].drat.clone();
    swapped.predicate.evidence[1].drat = proof;
    assert!(check(&swapped.seal(None).unwrap()).is_err());
    // In another folder the files are others, or not there.
    let away = tempfile::tempdir().unwrap();
    let sealed = statement.seal(None).unwrap();
    assert!(verify(&sealed, None, away.path(), &FileSystem).is_err());
    for (name, text) in [("a.yaml", TEMPLATE), ("b.yaml", "services: {}\n")] {
        std::fs::write(away.path().join(name), text).unwrap();
    }
    assert!(verify(&sealed, None, away.path(), &FileSystem).is_err());
}

/// A signature counts for what was signed with the key that was given, and as what it was signed.
#[test]
fn a_signature_of_something_else_is_refused() {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    let folder = folder();
    let here = folder.path();
    let key = SigningKey::from_pem(ED25519.as_bytes()).unwrap();
    let public = key.public();
    let sealed = stated(here, &[]).seal(Some(&key)).unwrap();
    let check = |bytes: &[u8]| verify(bytes, Some(&public), here, &FileSystem);
    assert!(check(&sealed).is_ok());
    let text = String::from_utf8(sealed.clone()).unwrap();
    // The same bytes as another type of payload.
    let other = text.replace("application/vnd.in-toto+json", "application/json");
    assert!(check(other.as_bytes()).is_err());
    // The signature of another statement.
    std::fs::write(here.join("a.yaml"), TEMPLATE.replace("/24", "/25")).unwrap();
    let second = stated(here, &[]).seal(Some(&key)).unwrap();
    std::fs::write(here.join("a.yaml"), TEMPLATE).unwrap();
    let signature = |bytes: &[u8]| {
        let envelope: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        envelope["signatures"][0]["sig"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let taken = text.replace(&signature(&sealed), &signature(&second));
    assert_ne!(taken, text);
    assert!(check(taken.as_bytes()).is_err());
    // No signature, an empty one, and one over the payload alone.
    let unsigned = resealed(&sealed, |text| text.replace(&public.id(), "nobody"));
    assert!(check(&unsigned).is_err());
    for other in [String::new(), STANDARD.encode([0; 64])] {
        let changed = text.replace(&signature(&sealed), &other);
        assert!(check(changed.as_bytes()).is_err());
    }
    // Another key that says it is this one.
    let stranger = ring_key();
    let foreign = stated(here, &[]).seal(Some(&stranger)).unwrap();
    let foreign = String::from_utf8(foreign).unwrap();
    let claimed = foreign.replace(&stranger.public().id(), &public.id());
    assert!(check(claimed.as_bytes()).is_err());
    assert!(check(foreign.as_bytes()).is_err());
}

/// What only a solver can say is proved, and the proof is part of the certificate.
#[test]
fn what_needed_a_solver_is_proved() {
    let folder = folder();
    let here = folder.path();
    let mut text = String::from("heat_template_version: 2021-04-16\nparameters:\n");
    for at in 1..=5 {
        text += &format!("  f{at}: {{ type: boolean, default: false }}\n");
    }
    text += "conditions:
  first: { and: [{ get_param: f1 }, { get_param: f2 }, { get_param: f3 }] }
  second: { and: [{ not: { get_param: f1 } }, { get_param: f4 }, { get_param: f5 }] }
resources:
  net: { type: OS::Neutron::Net }
";
    for (name, condition) in [("a", "first"), ("b", "second")] {
        text += &format!(
            "  {name}:\n    type: OS::Neutron::Port\n    condition: {condition}\n    properties: {{ network: {{ get_resource: net }}, fixed_ips: [{{ ip_address: 10.0.0.9 }}] }}\n"
        );
    }
    std::fs::write(here.join("b.yaml"), text).unwrap();
    let args = [
        "check",
        "b.yaml",
        "--all-inputs",
        "--show-undecided",
        "--certificate",
        "c.json",
    ];
    let output = locus(here, &args);
    assert!(output.status.success(), "{}", said(&output));
    let output = locus(here, &["verify-certificate", "c.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        said(&output).contains("proofs checked: 1"),
        "{}",
        said(&output)
    );
}

/// A folder whose files were asked for must have the same files; the certificate itself does not count.
#[test]
fn a_file_that_joins_a_folder_that_was_listed_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::create_dir(here.join("k")).unwrap();
    std::fs::write(here.join("k/a.yaml"), TEMPLATE).unwrap();
    for (named, certificate) in [("k", "k/c.json"), ("k", "d.json"), (".", "e.json")] {
        let output = locus(here, &["check", named, "--certificate", certificate]);
        assert!(output.status.success(), "{}", said(&output));
        let verify = |folder: &str, code: i32| {
            let args = ["verify-certificate", certificate, "--folder", folder];
            let output = locus(here, &args);
            assert_eq!(output.status.code(), Some(code), "{}", said(&output));
            said(&output)
        };
        verify(".", 0);
        verify(here.to_str().unwrap(), 0);
        // What is no configuration does not matter.
        std::fs::write(here.join("k/notes.txt"), "x").unwrap();
        verify(".", 0);
        std::fs::write(here.join("k/b.yaml"), TEMPLATE).unwrap();
        let told = verify(".", 1);
        assert!(told.contains("`k/b.yaml` was added to"), "{told}");
        std::fs::remove_file(here.join("k/b.yaml")).unwrap();
        verify(".", 0);
    }
}

#[test]
fn the_statement_says_what_was_checked() {
    let folder = folder();
    std::fs::write(
        folder.path().join("a.yaml"),
        TEMPLATE.replace("10.0.0.0/24", "10.0.0.0/33"),
    )
    .unwrap();
    let statement = stated(folder.path(), &[]);
    assert_eq!(statement.kind, "https://in-toto.io/Statement/v1");
    let names: Vec<&str> = statement
        .subject
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(names, ["a.yaml"]);
    let predicate = &statement.predicate;
    assert!(!predicate.deployable);
    assert!(!predicate.findings.is_empty());
    assert!(predicate.absent.iter().any(|path| path == "locus.toml"));
    assert!(predicate.rules.len() > 50);
    let verdicts = &predicate.projects[0].verdicts;
    for finding in &predicate.findings {
        assert_eq!(
            verdicts[&finding.rule],
            locus::certificate::Verdict::Violated
        );
    }
    let holds = verdicts
        .values()
        .filter(|one| **one == locus::certificate::Verdict::Holds);
    assert!(holds.count() > 50);
}

/// The checker of proofs knows nothing of the solver, and accepts what the solver proves.
#[test]
fn proofs_of_the_solver_are_accepted_and_changed_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let model = "sig Hole {}\nsig Pigeon { sits: one Hole }\ncheck { some h: Hole | not lone sits.h } for exactly 5 Pigeon, exactly 4 Hole\n";
    std::fs::write(folder.path().join("p.als"), model).unwrap();
    let output = locus(folder.path(), &["run", "p.als", "--proof", "p.drat"]);
    assert!(folder.path().join("p.drat").exists(), "{}", said(&output));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (cnf, proof) = (read("p.drat.cnf"), read("p.drat"));
    assert_eq!(locus::certificate::drat::check(&cnf, &proof), Ok(()));
    // Without one of the clauses, or about none of them, it proves nothing.
    let clauses: Vec<&str> = cnf.lines().skip(1).collect();
    let fewer = format!(
        "p cnf 99 {}\n{}\n",
        clauses.len() / 2,
        clauses[..clauses.len() / 2].join("\n")
    );
    assert!(locus::certificate::drat::check(&fewer, &proof).is_err());
}
