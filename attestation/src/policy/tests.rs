//! Policies as operators write them, well and badly.

use std::time::Duration;

use super::*;
use crate::digest::HashAlg;

const GOOD: &str = r#"
[templates]
"d-ng|n-ng|iuid" = "d-ng|n-ng|iuid"
site = "dep|cg-path|d-ngv2|n-ng"

[defaults]
banks = ["sha256", "sha384"]
templates = ["ima-cgpath", "site", "d-ng|n-ng|iuid"]
exclude = ["/var/cache/**"]
ima-policy = ["sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"]
buffers = { ".ima" = "any" }
grace = { pod = "10m" }

[[group]]
name = "edge"
workers = ["edge-*", "far"]
host = "unjudged"
violations = "report"
pcrs = [10, 14]
limits = { evidence = "16MiB", behind = 3 }
"#;

#[test]
fn a_group_changes_what_it_names_and_keeps_the_rest() {
    let set = parse("policy.toml", GOOD).unwrap();
    let defaults = set.of("rack-1");
    assert_eq!(defaults.banks, [HashAlg::Sha256, HashAlg::Sha384]);
    assert_eq!(defaults.host, Mode::Enforced);
    assert_eq!(defaults.grace.pod, Duration::from_secs(600));
    assert_eq!(defaults.grace.container, GraceTimes::default().container);
    assert!(defaults.exclude.matches(b"/var/cache/a/b"));
    assert!(!defaults.exclude.matches(b"/var/cachet"));
    assert!(defaults.buffers.accepts(b".ima", None));
    assert!(defaults.buffers.accepts(b"kernel_version", None));
    assert!(!defaults.buffers.accepts(b"kexec-cmdline", None));
    let edge = set.of("edge-7");
    assert_eq!(
        (edge.host, edge.violations),
        (Mode::Reported, Mode::Reported)
    );
    assert_eq!(edge.pcrs, [10, 14]);
    assert_eq!((edge.limits.evidence, edge.limits.behind), (16 << 20, 3));
    assert_eq!(edge.limits.ledger, Limits::default().ledger);
    assert_eq!(edge.grace.pod, Duration::from_secs(600));
    assert_eq!(set.of("far").host, Mode::Reported);
    let accepted = edge.accepted_templates(Some(&["ima-ng".to_owned()]));
    assert!(accepted.layout(b"site").is_some());
    assert_eq!(
        accepted.layout(b"ima-ng"),
        None,
        "the operator's names count"
    );
}

#[test]
fn templates_are_those_of_the_registration_when_the_operator_names_none() {
    let recorded = ["ima-ng".to_owned(), "cg-path|dep|d-ng|n-ng".to_owned()];
    let accepted = WorkerPolicy::default().accepted_templates(Some(&recorded));
    let names: Vec<&str> = accepted.names().collect();
    assert_eq!(names, ["ima-ng", "ima-buf"]);
}

#[test]
fn everything_wrong_is_reported_at_once_where_it_is() {
    let text = r#"
[defaults]
hots = "judged"
host = "jugded"
banks = ["md5", 7]
pcrs = [4, 16]
templates = ["ima-gn"]
grace = { pod = "soon" }
limits = { evidence = 5 }
exclude = ["[z-a]"]
ima-policy = ["abc"]

[templates]
ima-ng = "d-ng|n-ng"
bad = "d-ng|colour"

[[group]]
workers = ["a"]

[default]
"#;
    let errors = parse("policy.toml", text).unwrap_err();
    let found: Vec<(String, &str)> = errors
        .iter()
        .map(|finding| {
            let help = finding.help.as_deref().unwrap_or("");
            let shown = format!("{} [{help}]", finding.message);
            (shown, &text[finding.span.clone()])
        })
        .collect();
    insta::assert_debug_snapshot!(found);
    insta::assert_snapshot!(
        errors
            .to_string()
            .lines()
            .take(12)
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn no_text_makes_it_panic() {
    for text in [
        "",
        "[",
        "a = ",
        "[defaults]\n[defaults]\n",
        "[[group]]\n",
        "group = 3",
        "\u{0}",
    ] {
        let _ = parse("p", text);
    }
    assert!(parse("p", "").is_ok());
    assert!(parse("p", "group = 3").is_err());
}

#[test]
fn times_and_sizes_have_units() {
    assert_eq!(parse_duration("2h"), Some(Duration::from_secs(7200)));
    assert_eq!(parse_size("4 KiB"), Some(4096));
    for bad in [
        "",
        "5",
        "m",
        "-5m",
        "5 weeks",
        "99999999999999999999s",
        "18446744073709551615d",
    ] {
        assert_eq!(parse_duration(bad), None, "{bad}");
    }
    assert_eq!(parse_size("18446744073709551615GiB"), None);
}

/// Reads a policy beside which there is a keyring.
pub(super) fn with_keyring(file: &str, text: &str) -> PolicySet {
    let folder = tempfile::tempdir().unwrap();
    let key = include_str!("../../tests/data/ima-signature/certificate.pem");
    std::fs::write(folder.path().join(file), key).unwrap();
    let name = folder.path().join("policy.toml").display().to_string();
    parse(&name, text).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn the_example_of_the_documentation_is_read() {
    let page = include_str!("../../../docs/gate.md");
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let set = with_keyring("site-ima.pem", example);
    assert_eq!(set.of("other").signed.len(), 1);
    assert_eq!(set.of("edge-1").host, Mode::Reported);
    assert_eq!(set.of("other").banks, WorkerPolicy::default().banks);
    assert_eq!(set.of("other").limits, Limits::default());
}

/// The example of the document, and what `locus reference from-event-log` writes, are policies.
#[test]
fn boots_are_described_as_the_document_has_it() {
    let document = include_str!("../../../docs/attestation.md");
    let (_, after) = document.split_once("```boot-policy\n").unwrap();
    let (example, _) = after.split_once("```").unwrap();
    let set = parse("policy.toml", example).unwrap();
    let boot = set.of("any").boot.clone().unwrap();
    assert_eq!(boot.secure_boot, Some(true));
    assert_eq!(boot.unjudged, [1, 5].into());
    assert_eq!(boot.rules.len(), 6);
    assert_eq!(boot.rules[1].what, "variable `db`");
    assert!(boot.rules[5].optional && !boot.rules[4].optional);
}

#[test]
fn what_is_learnt_from_a_boot_accepts_that_boot_and_no_other() {
    for firmware in ["ovmf", "seabios"] {
        let path = format!(
            "{}/tests/data/event-logs/{firmware}/binary_bios_measurements",
            env!("CARGO_MANIFEST_DIR")
        );
        let bytes = std::fs::read(path).unwrap();
        let log = crate::boot::EventLog::parse(&bytes).unwrap();
        let values = log.replay(HashAlg::Sha256).unwrap();
        let explained = log.explain(HashAlg::Sha256, &values).unwrap();
        let learnt = crate::boot::learn(&explained);
        let policy = parse("policy.toml", &learnt).unwrap();
        let policy = policy.of("any").boot.clone().unwrap();
        assert_eq!(policy.judge(&explained), [], "{learnt}");
        for rule in 0..policy.rules.len() {
            let mut without = policy.clone();
            without.rules.remove(rule);
            assert_ne!(without.judge(&explained), [], "rule {rule} of {learnt}");
        }
    }
}

#[test]
fn faults_of_a_boot_policy_are_all_reported() {
    let text = r#"
[defaults.boot]
secure-boot = "yes"
unjudged = [10]
[[defaults.boot.event]]
what = "nothing"
[[defaults.boot.event]]
pcr = 4
digests = ["md5:00"]
text = "[a"
variabel = "db"
[[defaults.boot.event]]
pcr = 7
variable = "db"
digests = []
"#;
    let errors = parse("policy.toml", text).unwrap_err();
    let messages: Vec<String> = errors
        .iter()
        .map(|finding| finding.message.clone())
        .collect();
    for part in [
        "`true` or `false`",
        "from 0 to 9",
        "needs a `pcr`",
        "at least one of",
        "is not a digest",
        "is not a pattern",
        "an empty list of digests",
        "unknown key `variabel`",
    ] {
        assert!(
            messages.iter().any(|message| message.contains(part)),
            "{part}: {messages:#?}"
        );
    }
}

#[test]
fn keys_are_listed_for_one_worker_each() {
    let (one, two, three) = ("11".repeat(32), "22".repeat(32), "33".repeat(32));
    let text = format!(
        r#"
deny = ["sha256:{three}"]

[defaults]
endorsement = {{ require = ["rsa-2048"] }}

[endorsement-keys]
worker-1 = ["sha256:{one}"]
"worker.two" = ["sha256:{two}"]

[[group]]
name = "edge"
workers = ["edge-*"]
endorsement = {{ unlisted = "refuse" }}
"#
    );
    let set = parse("policy.toml", &text).unwrap();
    let terms = set.key_terms("worker-1");
    assert_eq!(terms.required, [crate::tpm::EkKind::Rsa2048]);
    assert_eq!(terms.listed.unwrap()[0].to_hex(), one);
    assert_eq!(terms.of_others.len(), 1);
    assert_eq!(terms.of_others[0].0, "worker.two");
    assert_eq!(terms.denied[0].to_hex(), three);
    assert!(!terms.only_listed);
    let edge = set.key_terms("edge-7");
    assert!(edge.only_listed && edge.listed.is_none());
    assert_eq!(edge.required.len(), 1, "the defaults hold for groups, too");

    let text = format!(
        r#"
deny = ["sha1:{}", "x"]
[endorsement-keys]
a = ["sha256:{one}", "sha256:{one}"]
b = ["sha256:{one}"]
c = []
[defaults]
endorsement = {{ require = ["rsa-1024"], unlisted = "maybe", all = true }}
"#,
        "44".repeat(20)
    );
    let errors = parse("policy.toml", &text).unwrap_err();
    let found: Vec<&str> = errors
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    let listed = format!("`sha256:{one}` is listed for worker `a` already");
    assert_eq!(
        found,
        [
            "expected a SHA-256 digest",
            "`x` is not a digest",
            listed.as_str(),
            "the list is empty",
            "`rsa-1024` is not one of `rsa-2048`, `ecc-p256`, `ecc-p384`, `rsa-3072`, `ecc-p521`",
            "`maybe` is not one of `accept`, `refuse`",
            "unknown key `all`",
        ]
    );
}
