//! The file, read into a policy.

use std::path::Path;
use std::time::Duration;

use toml::de::DeTable;

use super::boot::boot;
use super::errors::{Finding, PolicyErrors};
use super::keys;
use super::paths::Patterns;
use super::settings::{Buffers, Group, Mode, PolicySet, WorkerPolicy};
use super::signed::{Keyrings, keyrings, signed};
use super::table::{Findings, Table, Value};
use super::units::{parse_duration, parse_size};
use crate::digest::{Digest, HashAlg};
use crate::ima::{TEMPLATES, Templates};

/// Reads the text of a policy; `name` is what errors call the file, and where it is: keyrings are named from there.
pub fn parse(name: &str, text: &str) -> Result<PolicySet, PolicyErrors> {
    let (document, syntax) = DeTable::parse_recoverable(text);
    let mut findings = Findings::default();
    for error in &syntax {
        findings.0.push(Finding {
            span: error.span().unwrap_or(0..0),
            message: error.message().trim().to_owned(),
            help: None,
        });
    }
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let set = policies(Table::new(document.get_ref()), folder, &mut findings);
    if findings.0.is_empty() {
        Ok(set)
    } else {
        Err(PolicyErrors::new(name, text, findings.0))
    }
}

fn policies(mut table: Table<'_>, folder: &Path, findings: &mut Findings) -> PolicySet {
    let mut set = PolicySet::default();
    let keys = match table.take("keyrings") {
        Some(value) => keyrings(value, folder, findings),
        None => Keyrings::new(),
    };
    if let Some(value) = table.take("templates") {
        formats(value, &mut set.defaults.formats, findings);
    }
    if let Some(value) = table.take("defaults")
        && let Some(mut own) = findings.table(value)
    {
        settings(&mut own, &mut set.defaults, &keys, findings);
        own.finish(findings);
    }
    if let Some(value) = table.take("group") {
        let defaults = set.defaults.clone();
        let groups = findings.list(value, |findings, value| {
            group(value, &defaults, &keys, findings)
        });
        set.groups = groups.unwrap_or_default();
    }
    if let Some(value) = table.take("endorsement-keys") {
        keys::listed(value, &mut set.keys, findings);
    }
    if let Some(value) = table.take("deny") {
        keys::denied(value, &mut set.keys, findings);
    }
    table.finish(findings);
    set
}

fn group(
    value: Value<'_>,
    defaults: &WorkerPolicy,
    keys: &Keyrings,
    findings: &mut Findings,
) -> Option<Group> {
    let mut table = findings.table(value)?;
    let name = match table.take("name") {
        Some(name) => findings.text(name).map(str::to_owned),
        None => {
            findings.at(value, "a group needs a `name`");
            None
        }
    };
    let workers = match table.take("workers") {
        Some(workers) => patterns(workers, findings),
        None => {
            findings.with_help(
                value,
                "a group needs `workers`",
                Some("name them, or give patterns: `workers = [\"edge-*\"]`".to_owned()),
            );
            None
        }
    };
    let mut policy = defaults.clone();
    settings(&mut table, &mut policy, keys, findings);
    table.finish(findings);
    Some(Group {
        name: name?,
        workers: workers?,
        policy,
    })
}

/// The keys that `[defaults]` and every group may have.
fn settings(
    table: &mut Table<'_>,
    policy: &mut WorkerPolicy,
    keys: &Keyrings,
    findings: &mut Findings,
) {
    let mode = [("judged", Mode::Enforced), ("unjudged", Mode::Reported)];
    let refuse = [("refuse", Mode::Enforced), ("report", Mode::Reported)];
    if let Some(value) = table.take("banks") {
        nonempty(value, findings, bank, &mut policy.banks);
    }
    if let Some(value) = table.take("pcrs") {
        nonempty(value, findings, register, &mut policy.pcrs);
    }
    if let Some(value) = table.take("templates") {
        let formats = policy.formats.clone();
        let mut names = Vec::new();
        let known = |findings: &mut Findings, value| template(value, &formats, findings);
        nonempty(value, findings, known, &mut names);
        if let Some((one, other)) = formats.confusable(&names) {
            findings.with_help(
                value,
                format!("entries of `{one}` can be passed for entries of `{other}`"),
                Some("name one of them; where workers differ, put them into groups".to_owned()),
            );
        }
        policy.templates = Some(names);
    }
    if let Some(value) = table.take("host") {
        policy.host = findings.word(value, &mode).unwrap_or(policy.host);
    }
    if let Some(value) = table.take("violations") {
        let found = findings.word(value, &refuse);
        policy.violations = found.unwrap_or(policy.violations);
    }
    if let Some(value) = table.take("kexec") {
        let words = [("refuse", false), ("allow", true)];
        policy.kexec = findings.word(value, &words).unwrap_or(policy.kexec);
    }
    if let Some(value) = table.take("ima-policy") {
        policy.ima_policy = findings.list(value, digest).unwrap_or_default();
    }
    if let Some(value) = table.take("boot") {
        policy.boot = boot(value, findings);
    }
    if let Some(value) = table.take("exclude") {
        policy.exclude = patterns(value, findings).unwrap_or_default();
    }
    if let Some(value) = table.take("signed") {
        policy.signed = signed(value, keys, findings);
    }
    if let Some(value) = table.take("runtime") {
        runtime(value, policy, findings);
    }
    if let Some(value) = table.take("buffers") {
        buffers(value, &mut policy.buffers, findings);
    }
    if let Some(value) = table.take("grace")
        && let Some(mut grace) = findings.table(value)
    {
        for (key, time) in [
            ("pod", &mut policy.grace.pod),
            ("container", &mut policy.grace.container),
        ] {
            if let Some(value) = grace.take(key) {
                *time = duration(value, findings).unwrap_or(*time);
            }
        }
        grace.finish(findings);
    }
    if let Some(value) = table.take("limits") {
        limits(value, policy, findings);
    }
    if let Some(value) = table.take("endorsement") {
        keys::endorsement(value, policy, findings);
    }
}

fn limits(value: Value<'_>, policy: &mut WorkerPolicy, findings: &mut Findings) {
    let Some(mut table) = findings.table(value) else {
        return;
    };
    let limits = &mut policy.limits;
    for (key, limit) in [
        ("evidence", &mut limits.evidence),
        ("ledger", &mut limits.ledger),
        ("path", &mut limits.path),
    ] {
        if let Some(value) = table.take(key) {
            *limit = size(value, findings).unwrap_or(*limit);
        }
    }
    if let Some(value) = table.take("behind") {
        let found = findings.number(value, 0..=100);
        limits.behind = found
            .and_then(|n| u32::try_from(n).ok())
            .unwrap_or(limits.behind);
    }
    table.finish(findings);
}

fn runtime(value: Value<'_>, policy: &mut WorkerPolicy, findings: &mut Findings) {
    let Some(mut table) = findings.table(value) else {
        return;
    };
    let text = |findings: &mut Findings, value| findings.text(value).map(str::to_owned);
    if let Some(value) = table.take("executables") {
        for path in findings.list(value, text).unwrap_or_default() {
            policy.profile = policy.profile.clone().executable(path);
        }
    }
    if let Some(value) = table.take("units") {
        for unit in findings.list(value, text).unwrap_or_default() {
            policy.profile = policy.profile.clone().unit(unit);
        }
    }
    table.finish(findings);
}

fn buffers(value: Value<'_>, buffers: &mut Buffers, findings: &mut Findings) {
    let Some(table) = findings.table(value) else {
        return;
    };
    for (name, value) in table.into_entries() {
        let accepted = match value.get_ref().as_str() {
            Some("any") => Some(None),
            Some(_) => {
                findings.at(value, "expected `\"any\"` or a list of digests");
                None
            }
            None => findings.list(value, digest).map(Some),
        };
        if let Some(accepted) = accepted {
            buffers
                .accepted
                .insert(name.get_ref().to_string(), accepted);
        }
    }
}

/// The operator's own templates: names and formats.
fn formats(value: Value<'_>, formats: &mut Templates, findings: &mut Findings) {
    let Some(table) = findings.table(value) else {
        return;
    };
    for (name, value) in table.into_entries() {
        let Some(format) = findings.text(value) else {
            continue;
        };
        if TEMPLATES.iter().any(|(known, _)| *known == name.get_ref()) {
            findings.at(
                name,
                format!("`{}` is a template of the kernel", name.get_ref()),
            );
            continue;
        }
        // A kernel that is given a format writes the format where the name would be.
        if name.get_ref().contains('|') && name.get_ref() != format {
            findings.at(
                value,
                "a name with `|` in it is a format, and must be its own",
            );
            continue;
        }
        if let Err(error) = formats.add_checked(name.get_ref(), format) {
            findings.at(value, error.to_string());
        }
    }
}

fn template(value: Value<'_>, formats: &Templates, findings: &mut Findings) -> Option<String> {
    let name = findings.text(value)?;
    if formats.layout(name.as_bytes()).is_some() {
        return Some(name.to_owned());
    }
    let names: Vec<&str> = formats.names().collect();
    let near = locus_core::suggest::nearest(name, names);
    let help = near.map_or_else(
        || format!("describe its fields under `[templates]`: \"{name}\" = \"d-ng|n-ng\""),
        |near| format!("did you mean `{near}`?"),
    );
    findings.with_help(
        value,
        format!("the template `{name}` is not known"),
        Some(help),
    );
    None
}

fn nonempty<'t, T>(
    value: Value<'t>,
    findings: &mut Findings,
    read: impl FnMut(&mut Findings, Value<'t>) -> Option<T>,
    to: &mut Vec<T>,
) {
    let before = findings.0.len();
    if let Some(found) = findings.list(value, read) {
        if found.is_empty() && findings.0.len() == before {
            findings.at(value, "the list is empty");
        }
        *to = found;
    }
}

fn bank(findings: &mut Findings, value: Value<'_>) -> Option<HashAlg> {
    let banks = [
        HashAlg::Sha256,
        HashAlg::Sha384,
        HashAlg::Sha512,
        HashAlg::Sha1,
    ];
    findings.word(value, &banks.map(|alg| (alg.name(), alg)))
}

fn register(findings: &mut Findings, value: Value<'_>) -> Option<u8> {
    // Those before are the boot's, those after can be reset by software.
    let number = findings.number(value, 10..=15)?;
    u8::try_from(number).ok()
}

pub(super) fn digest(findings: &mut Findings, value: Value<'_>) -> Option<Digest> {
    let text = findings.text(value)?;
    let found = text.parse().ok();
    if found.is_none() {
        findings.with_help(
            value,
            format!("`{text}` is not a digest"),
            Some("write the algorithm and the digits: `sha256:…`".to_owned()),
        );
    }
    found
}

fn duration(value: Value<'_>, findings: &mut Findings) -> Option<Duration> {
    let text = findings.text(value)?;
    let found = parse_duration(text);
    if found.is_none() {
        let help = "write a number and a unit: `90s`, `5m`, `2h`, `1d`";
        findings.with_help(
            value,
            format!("`{text}` is not a valid duration"),
            Some(help.to_owned()),
        );
    }
    found
}

fn size(value: Value<'_>, findings: &mut Findings) -> Option<u64> {
    let text = findings.text(value)?;
    let found = parse_size(text).filter(|size| *size > 0);
    if found.is_none() {
        let help = "write a number and a unit: `4096B`, `512KiB`, `64MiB`, `1GiB`";
        findings.with_help(
            value,
            format!("`{text}` is not a valid size"),
            Some(help.to_owned()),
        );
    }
    found
}

pub(super) fn patterns(value: Value<'_>, findings: &mut Findings) -> Option<Patterns> {
    let mut texts = Vec::new();
    findings.list(value, |findings, value| {
        let text = findings.text(value)?;
        match Patterns::new([text]) {
            Ok(_) => texts.push(text.to_owned()),
            Err(error) => findings.at(value, format!("`{text}` is not a pattern: {error}")),
        }
        Some(())
    })?;
    Patterns::new(texts).ok()
}
