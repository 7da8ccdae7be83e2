//! Answers for people.

use std::fmt::Write;
use std::time::Duration;

use super::answer::{Answer, Question, Verdict};
use crate::cli::Exit;
use crate::report::frame as report;
use crate::report::printable::printable;

const INDENT: &str = "    ";

/// What came of a command, in words.
pub(super) fn verdict(answer: &Answer) -> String {
    let found = match (answer.verdict, answer.is_check) {
        (Verdict::Sat, true) => "counterexample found",
        (Verdict::Sat, false) => "instance found",
        (Verdict::Unsat, true) => "no counterexample",
        (Verdict::Unsat, false) => "no instance",
        (Verdict::Unknown, _) => "unknown",
        (Verdict::Error, _) => "not answered",
    };
    let expected = match answer.as_expected() {
        Some(false) => ", which is not as expected",
        Some(true) => ", as expected",
        None => "",
    };
    format!("{found}{expected}")
}

pub(super) fn render(answer: &Answer, question: &Question) -> String {
    let colour = report::stdout_has_colour();
    let mut out = String::new();
    let kind = if answer.is_check { "check" } else { "run" };
    let verdict = verdict(answer);
    let mark = match answer.exit() {
        Exit::Clean => paint("ok", "32", colour),
        Exit::Findings => paint("FAIL", "31;1", colour),
        _ => paint("??", "33;1", colour),
    };
    let span = question.command.span;
    let at = question.file.sources.start(span);
    let _ = write!(
        out,
        "{mark} {}:{} {kind} {}: {verdict}",
        printable(&question.file.name),
        at.line,
        question.command.label
    );
    if let Some(message) = &answer.message
        && answer.diagnostics.is_empty()
    {
        let _ = write!(out, " ({})", printable(message));
    }
    let _ = writeln!(
        out,
        "  [{}, {} variables, {} clauses]",
        time(answer.total),
        answer.vars,
        answer.clauses
    );
    for (index, view) in answer.instances.iter().enumerate() {
        if answer.instances.len() > 1 {
            let _ = writeln!(out, "  instance {}", index + 1);
        }
        out.push_str(&printable(&view.text(INDENT)));
    }
    if answer.exhausted {
        let _ = writeln!(out, "  there are no further instances");
    }
    for diagnostic in &answer.diagnostics {
        out.push_str(&report::render(diagnostic, &question.file.sources, colour));
    }
    out
}

fn paint(text: &str, code: &str, colour: bool) -> String {
    if colour {
        format!("\x1b[{code}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

fn time(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        format!("{:.1} ms", duration.as_secs_f64() * 1e3)
    } else {
        format!("{:.2} s", duration.as_secs_f64())
    }
}

/// The counts of the last line.
#[derive(Default)]
pub(super) struct Summary {
    commands: usize,
    failed: usize,
    unanswered: usize,
}

impl Summary {
    pub(super) fn count(&mut self, answer: &Answer) {
        self.commands += 1;
        match answer.exit() {
            Exit::Findings => self.failed += 1,
            Exit::Unanswered => self.unanswered += 1,
            _ => {}
        }
    }

    pub(super) fn text(&self) -> String {
        if self.commands < 2 {
            return String::new();
        }
        let right = self.commands - self.failed - self.unanswered;
        let mut text = format!("{} commands: {right} as expected", self.commands);
        if self.failed > 0 {
            let _ = write!(text, ", {} not", self.failed);
        }
        if self.unanswered > 0 {
            let _ = write!(text, ", {} unanswered", self.unanswered);
        }
        text.push('\n');
        text
    }
}
