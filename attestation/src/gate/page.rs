//! A page to look at: workers and pods by trust, why, and what happened last. It shows and changes nothing, has no script, and
//! loads nothing.

use std::fmt::Write as _;

use axum::http::{HeaderName, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::problem::Problem;
use super::verify::Verifier;
use crate::client::moment;
use crate::clock::Timestamp;
use crate::digest::HashAlg;
use crate::verifier::{Change, ChangeKind, PodStatus, Trust, Watched, WorkerStatus};

/// The most pods that are shown; those that are not trusted come first.
const PODS: usize = 500;
/// The most changes that are shown.
const CHANGES: u32 = 100;

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--good:#1a7f37;--bad:#cf222e;--open:#9a6700}
@media(prefers-color-scheme:dark){:root{--good:#3fb950;--bad:#f85149;--open:#d29922}}
body{font:15px/1.45 system-ui,sans-serif;margin:0 auto;padding:1rem 1.5rem 3rem;max-width:84rem}
h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.1rem;margin:2rem 0 .5rem}
p.sum b{font-size:1.25rem}p.sum span{margin-right:1.6rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.35rem .8rem .35rem 0;border-top:1px solid var(--line)}
th{border-top:0;font-weight:600}td.why{overflow-wrap:anywhere}td.when,td.what{white-space:nowrap}
.trusted{color:var(--good)}.untrusted{color:var(--bad)}.unknown{color:var(--open)}
code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}details{margin-top:.2rem}footer{margin-top:2rem;opacity:.7}";

/// A text in which nothing is markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // What cannot be seen, or turns the direction of what is beside it, is shown as what it is.
            letter
                if letter.is_control()
                    || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') =>
            {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out
}

fn trust(trust: Trust) -> String {
    let word = trust.name();
    format!("<td class=\"what {word}\">{word}</td>")
}

fn when(at: Timestamp) -> String {
    match at.secs() {
        0 => "<td class=\"when\">never</td>".to_owned(),
        _ => format!("<td class=\"when\">{}</td>", moment(at)),
    }
}

/// What is not trusted comes first.
fn rank(trust: Trust) -> u8 {
    match trust {
        Trust::Untrusted => 0,
        Trust::Unknown => 1,
        Trust::Trusted => 2,
    }
}

fn summary(out: &mut String, counts: &[(&'static str, Trust, u64)]) {
    for what in ["workers", "pods"] {
        let _ = write!(out, "<p class=\"sum\">{what}: ");
        for (_, trust, number) in counts.iter().filter(|(name, ..)| *name == what) {
            let word = trust.name();
            let _ = write!(out, "<span class=\"{word}\"><b>{number}</b> {word}</span>");
        }
        out.push_str("</p>\n");
    }
}

fn workers(out: &mut String, mut workers: Vec<WorkerStatus>) {
    workers
        .sort_by(|one, other| (rank(one.trust), &one.name).cmp(&(rank(other.trust), &other.name)));
    out.push_str("<h2>Workers</h2>\n<table id=\"workers\"><tr><th>worker<th>trust<th>last attested (UTC)<th>why</tr>\n");
    for worker in workers {
        let _ = writeln!(
            out,
            "<tr><td><b>{}</b><br><code>{}</code></td>{}{}<td class=\"why\">{}</td></tr>",
            escaped(&worker.name),
            escaped(&worker.address),
            trust(worker.trust),
            when(worker.checked),
            escaped(&worker.reason),
        );
    }
    out.push_str("</table>\n");
}

fn pods(out: &mut String, shown: &[PodStatus], all: u64) {
    out.push_str("<h2>Pods</h2>\n");
    let number = u64::try_from(shown.len()).unwrap_or(u64::MAX);
    if number < all {
        let _ = writeln!(
            out,
            "<p>{number} of {all} are shown; <code>locus gate pods</code> lists all.</p>"
        );
    }
    out.push_str(
        "<table id=\"pods\"><tr><th>pod<th>trust<th>worker<th>last attested (UTC)<th>why</tr>\n",
    );
    for known in shown {
        let pod = &known.pod;
        let _ = write!(
            out,
            "<tr><td><b>{}</b><br><code>{}</code></td>{}<td>{}</td>{}<td class=\"why\">{}",
            escaped(&pod.label()),
            escaped(&pod.uid.to_string()),
            trust(known.trust),
            escaped(&pod.worker),
            when(known.checked),
            escaped(&known.reason),
        );
        out.push_str("<details><summary>containers</summary>");
        let now = pod.containers.iter().map(|one| (one, "now"));
        let before = known.history.iter().map(|one| (one, "before"));
        for (container, when) in now.chain(before) {
            let _ = write!(
                out,
                "<div>{} ({when}): {} <code>{}</code></div>",
                escaped(&container.name),
                escaped(&container.image),
                escaped(&container.digest.to_string()),
            );
        }
        out.push_str("</details></td></tr>\n");
    }
    out.push_str("</table>\n");
}

fn timeline(out: &mut String, changes: &[Change]) {
    out.push_str("<h2>What happened</h2>\n<table id=\"changes\"><tr><th>when (UTC)<th>what<th>trust<th>why</tr>\n");
    for change in changes {
        let kind = match change.kind {
            Watched::Worker => "worker",
            Watched::Pod => "pod",
        };
        let what = match change.what {
            ChangeKind::Added => "is new",
            ChangeKind::Changed => "changed",
            ChangeKind::Removed => "is gone",
        };
        let _ = writeln!(
            out,
            "<tr>{}<td>{kind} <b>{}</b> {what}</td>{}<td class=\"why\">{}</td></tr>",
            when(change.at),
            escaped(&change.name),
            trust(change.trust),
            escaped(&change.reason),
        );
    }
    out.push_str("</table>\n");
}

/// The page as it is now.
pub(super) fn page(verifier: &Verifier) -> Result<Response, Problem> {
    let counts = verifier.counts()?;
    let all = counts.iter().filter(|(name, ..)| *name == "pods");
    let all = all.map(|(.., number)| *number).sum();
    let shown = foremost(verifier)?;
    let changes = verifier.store().recent(CHANGES)?;
    let now = moment(verifier.parts().clock.now());
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Locus: trust</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\"><meta http-equiv=\"refresh\" content=\"30\">\n\
         <style>{STYLE}</style></head>\n<body><h1>Trust in workers and pods</h1>\n"
    );
    summary(&mut out, &counts);
    workers(&mut out, verifier.workers()?.items);
    pods(&mut out, &shown, all);
    timeline(&mut out, &changes);
    let _ = writeln!(out, "<footer>as of {now} UTC</footer></body></html>");
    Ok((headers(), out).into_response())
}

/// The pods that are shown: what is not trusted before what is. A cluster has more than should be in memory at once.
fn foremost(verifier: &Verifier) -> Result<Vec<PodStatus>, Problem> {
    const PAGE: u32 = 256;
    let mut kept: Vec<PodStatus> = Vec::new();
    let mut after = String::new();
    loop {
        let page = verifier.pods_after(None, &after, PAGE)?;
        let last = page.last().map(|last| last.pod.uid.to_string());
        let whole = page.len() == PAGE as usize;
        kept.extend(page);
        kept.sort_by(|one, other| {
            (rank(one.trust), one.pod.label()).cmp(&(rank(other.trust), other.pod.label()))
        });
        kept.truncate(PODS);
        match last {
            Some(last) if whole => after = last,
            _ => return Ok(kept),
        }
    }
}

/// Nothing is loaded or run, whatever is in the page; the style is known by its hash.
fn headers() -> [(HeaderName, String); 6] {
    let hash = STANDARD.encode(HashAlg::Sha256.hash(&[STYLE.as_bytes()]).as_bytes());
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    [
        (header::CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-store".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin".to_owned(),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_called_something_is_no_markup() {
        assert_eq!(
            escaped("<img src=x onerror='a'>&\"\u{202e}\n"),
            "&lt;img src=x onerror=&#39;a&#39;&gt;&amp;&quot;\\u{202e}\\u{a}"
        );
    }
}
