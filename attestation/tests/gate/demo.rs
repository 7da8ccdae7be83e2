//! The demonstration, with the agent's real program and real software TPMs.

use std::path::PathBuf;

use locus_attestation::demo::DemoArgs;

#[tokio::test(flavor = "multi_thread")]
async fn the_three_verdicts_are_those_of_the_document() {
    let demo = DemoArgs {
        agent: Some(PathBuf::from(env!("CARGO_BIN_EXE_locus-agent"))),
    };
    let mut lines = Vec::new();
    let verdicts = demo.show(&mut |line| lines.push(line)).await.unwrap();
    let found: Vec<(&str, &str)> = verdicts
        .iter()
        .map(|verdict| (verdict.pod.as_str(), verdict.verdict.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("default/healthy", "trusted"),
            ("default/unknown-file", "pod untrusted"),
            ("default/tampered-log", "worker untrusted"),
        ],
        "{lines:#?}"
    );
    assert!(verdicts[1].reason.contains("/tmp/miner"), "{lines:#?}");
    assert!(verdicts[2].reason.contains("template hash"), "{lines:#?}");
}
