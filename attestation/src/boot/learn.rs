//! A policy from the event log of a boot that is as it should be.

use std::fmt::Write as _;

use super::content::Content;
use super::policy::BootPolicy;
use super::replay::Explained;
use crate::digest::Digest;

/// Registers that differ between machines of one kind, or between boots: their configuration, the boot order, tables of
/// partitions. A new policy leaves them unjudged.
const DIFFERING: [u8; 2] = [1, 5];

/// The `boot` table of a policy that accepts this boot, in TOML, for an operator to read and change.
pub fn learn(boot: &Explained<'_, '_>) -> String {
    let events: Vec<(u8, String, Content<'_>, Digest)> = boot
        .events()
        .map(|(event, digest)| {
            (
                event.pcr,
                event.kind.to_string(),
                Content::of(event, &digest),
                digest,
            )
        })
        .collect();
    let secure = events
        .iter()
        .find_map(|(pcr, _, content, _)| match content {
            Content::Variable(variable) if *pcr == 7 && variable.name == "SecureBoot" => {
                Some(variable.value == [1])
            }
            _ => None,
        });
    let mut text = String::from("[defaults.boot]\n");
    if let Some(on) = secure {
        let _ = writeln!(text, "secure-boot = {on}");
    }
    let _ = writeln!(
        text,
        "# Replayed but not judged: they differ between machines, or between boots of one."
    );
    let _ = writeln!(text, "unjudged = {DIFFERING:?}");
    // What such a policy would find is what it has to say.
    let policy = BootPolicy {
        secure_boot: secure,
        unjudged: DIFFERING.into(),
        rules: Vec::new(),
    };
    let mut listed: Vec<(u8, Digest)> = Vec::new();
    for unaccepted in policy.judge(boot) {
        let super::policy::Unaccepted::Event {
            pcr, kind, digest, ..
        } = unaccepted
        else {
            continue;
        };
        if listed.contains(&(pcr, digest)) {
            continue;
        }
        listed.push((pcr, digest));
        let content = events
            .iter()
            .find(|(p, _, _, d)| (*p, *d) == (pcr, digest))
            .map(|(_, _, content, _)| content);
        let _ = write!(text, "\n[[defaults.boot.event]]\npcr = {pcr}\n");
        let _ = match content {
            Some(Content::Variable(variable)) => {
                writeln!(
                    text,
                    "what = \"{kind}\"\nvariable = {}",
                    quoted(&variable.name)
                )
            }
            Some(Content::Text(said)) => {
                writeln!(text, "what = {}", quoted(&format!("{kind}: {said}")))
            }
            _ => writeln!(text, "what = \"{kind}\""),
        };
        let _ = writeln!(text, "digests = [\"{digest}\"]");
    }
    text
}

/// A string of TOML; the quoting of JSON is the same for what has no control characters.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
