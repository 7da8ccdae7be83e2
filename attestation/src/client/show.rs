//! Answers of the gate as people read them.

use std::fmt::Write as _;

use serde::Serialize;

use super::connection::ClientFault;
use crate::clock::Timestamp;
use crate::gate::WorkerReport;
use crate::logs::shown;
use crate::verifier::{Change, ChangeKind, PodStatus, Watched, WorkerStatus};

/// Prints a value as JSON.
pub(super) fn json<T: Serialize>(value: &T) -> Result<(), ClientFault> {
    let text = serde_json::to_string_pretty(value);
    println!(
        "{}",
        text.map_err(|error| ClientFault::Local(error.to_string()))?
    );
    Ok(())
}

/// Prints a value as JSON in one line.
pub(super) fn json_line<T: Serialize>(value: &T) -> Result<(), ClientFault> {
    let text = serde_json::to_string(value);
    println!(
        "{}",
        text.map_err(|error| ClientFault::Local(error.to_string()))?
    );
    Ok(())
}

/// A moment as people write it: `2026-11-18 00:12:03`, in UTC.
pub(crate) fn moment(at: Timestamp) -> String {
    let Ok(at) = time::OffsetDateTime::from_unix_timestamp(at.secs()) else {
        return at.millis().to_string();
    };
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
        at.year(),
        u8::from(at.month()),
        at.day(),
        at.hour(),
        at.minute(),
        at.second()
    )
}

/// A table with columns as wide as they have to be; the last one is as long as it is.
pub(crate) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = head.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut row = String::new();
        for (cell, width) in cells.zip(widths) {
            // Writing to a string cannot fail.
            let _ = write!(row, "{cell:width$}  ");
        }
        text.push_str(row.trim_end());
        text.push('\n');
    };
    line(&mut head.into_iter());
    for row in rows {
        line(&mut row.iter().map(String::as_str));
    }
    text
}

/// Prints workers.
pub(super) fn workers(workers: &[WorkerStatus]) {
    let rows: Vec<[String; 5]> = workers
        .iter()
        .map(|worker| {
            [
                shown(&worker.name),
                worker.trust.name().to_owned(),
                moment(worker.checked),
                shown(&worker.address),
                shown(&worker.reason),
            ]
        })
        .collect();
    print!(
        "{}",
        table(["WORKER", "TRUST", "CHECKED", "ADDRESS", "REASON"], &rows)
    );
}

/// Prints pods.
pub(super) fn pods(pods: &[PodStatus]) {
    let rows: Vec<[String; 6]> = pods
        .iter()
        .map(|known| {
            [
                shown(&known.pod.label()),
                known.trust.name().to_owned(),
                moment(known.checked),
                shown(&known.pod.worker),
                known.pod.uid.to_string(),
                shown(&known.reason),
            ]
        })
        .collect();
    print!(
        "{}",
        table(
            ["POD", "TRUST", "CHECKED", "WORKER", "UID", "REASON"],
            &rows
        )
    );
}

/// Prints why a worker is trusted or not.
pub(super) fn why_worker(report: &WorkerReport) {
    let worker = &report.worker;
    println!(
        "worker `{}` is {}",
        shown(&worker.name),
        worker.trust.name()
    );
    println!("  since    {}", moment(worker.checked));
    println!("  because  {}", shown(&worker.reason));
    println!("  agent    {}", shown(&worker.address));
    println!("  id       {}", worker.id);
    if !report.pods.is_empty() {
        println!();
        pods(&report.pods);
    }
}

/// Prints why a pod is trusted or not.
pub(super) fn why_pod(known: &PodStatus) {
    let pod = &known.pod;
    println!("pod `{}` is {}", shown(&pod.label()), known.trust.name());
    println!("  since    {}", moment(known.checked));
    println!("  because  {}", shown(&known.reason));
    println!("  worker   {}", shown(&pod.worker));
    println!("  uid      {}", pod.uid);
    println!();
    let row = |container: &crate::verifier::PodContainer, when: &str| {
        [
            shown(&container.name),
            shown(&container.image),
            container.digest.to_string(),
            container
                .id
                .map_or_else(|| "not yet".to_owned(), |id| id.to_string()),
            when.to_owned(),
        ]
    };
    let now = pod.containers.iter().map(|container| row(container, "now"));
    let before = known
        .history
        .iter()
        .map(|container| row(container, "before"));
    let rows: Vec<[String; 5]> = now.chain(before).collect();
    print!(
        "{}",
        table(["CONTAINER", "IMAGE", "DIGEST", "ID", "RUNS"], &rows)
    );
}

/// Prints a change.
pub(super) fn change(change: &Change) {
    let kind = match change.kind {
        Watched::Worker => "worker",
        Watched::Pod => "pod",
    };
    let what = match change.what {
        ChangeKind::Added => "added",
        ChangeKind::Changed => "changed",
        ChangeKind::Removed => "removed",
    };
    println!(
        "{} {kind} {} {what} {}: {}",
        moment(change.at),
        shown(&change.name),
        change.trust.name(),
        shown(&change.reason)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_have_to_be() {
        let rows = [
            ["a".to_owned(), "long enough".to_owned()],
            ["bcd".to_owned(), String::new()],
        ];
        assert_eq!(table(["X", "Y"], &rows), "X    Y\na    long enough\nbcd\n");
    }

    #[test]
    fn what_a_terminal_obeys_is_not_printed() {
        assert_eq!(shown("a\u{1b}[31m\nb"), "a\\u{1b}[31m\\nb");
        assert_eq!(
            moment(Timestamp::from_secs(1_795_000_000)),
            "2026-11-18 11:06:40"
        );
    }
}
