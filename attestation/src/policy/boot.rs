//! The `boot` table: which events of the firmware's log are accepted.

use super::read::digest;
use super::table::{Findings, Value};
use crate::boot::{BootPolicy, EventRule, TextPattern};

/// Reads the table.
pub(super) fn boot(value: Value<'_>, findings: &mut Findings) -> Option<BootPolicy> {
    let mut table = findings.table(value)?;
    let mut policy = BootPolicy::default();
    if let Some(value) = table.take("secure-boot") {
        policy.secure_boot = findings.boolean(value);
    }
    if let Some(value) = table.take("unjudged") {
        let registers = findings.list(value, register).unwrap_or_default();
        policy.unjudged = registers.into_iter().collect();
    }
    if let Some(value) = table.take("event") {
        policy.rules = findings.list(value, event).unwrap_or_default();
    }
    table.finish(findings);
    Some(policy)
}

fn register(findings: &mut Findings, value: Value<'_>) -> Option<u8> {
    let number = findings.number(value, 0..=9)?;
    u8::try_from(number).ok()
}

fn event(findings: &mut Findings, value: Value<'_>) -> Option<EventRule> {
    let mut table = findings.table(value)?;
    let pcr = match table.take("pcr") {
        Some(pcr) => register(findings, pcr),
        None => {
            findings.at(value, "an event needs a `pcr`");
            None
        }
    };
    let mut rule = EventRule::new(pcr.unwrap_or_default(), "");
    if let Some(value) = table.take("digests") {
        if value.get_ref().as_array().is_some_and(|all| all.is_empty()) {
            // Beside a `variable` or a `text` any digest would do, which is not what it says.
            findings.at(value, "an empty list of digests accepts nothing");
        }
        let digests = findings.list(value, digest).unwrap_or_default();
        rule.digests = digests.into_iter().collect();
    }
    if let Some(value) = table.take("variable") {
        rule.variable = findings.text(value).map(str::to_owned);
    }
    if let Some(value) = table.take("text")
        && let Some(text) = findings.text(value)
    {
        match TextPattern::parse(text) {
            Ok(pattern) => rule.text = Some(pattern),
            Err(error) => findings.at(value, error.to_string()),
        }
    }
    if let Some(value) = table.take("optional") {
        rule.optional = findings.boolean(value).unwrap_or_default();
    }
    let what = table.take("what").and_then(|what| findings.text(what));
    rule.what = what.map_or_else(|| described(&rule), str::to_owned);
    table.finish(findings);
    if rule.is_empty() {
        findings.with_help(
            value,
            "an event needs at least one of `digests`, `variable` and `text`",
            Some("without one of them it would accept nothing".to_owned()),
        );
        return None;
    }
    pcr.map(|_| rule)
}

/// What a rule without a description is called.
fn described(rule: &EventRule) -> String {
    match (&rule.variable, &rule.text) {
        (Some(variable), _) => format!("variable `{variable}`"),
        (None, Some(text)) => format!("`{text}`"),
        (None, None) => "an event with one of the accepted digests".to_owned(),
    }
}
