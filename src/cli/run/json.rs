//! An answer as one line of JSON.

use crate::report::instance::View;
use serde::Serialize;

use super::answer::{Answer, Question};

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    command: &'a str,
    index: usize,
    kind: &'static str,
    expect: Option<u32>,
    verdict: &'static str,
    primary_vars: usize,
    vars: usize,
    clauses: usize,
    translate_ms: f64,
    solve_ms: f64,
    total_ms: f64,
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instances: Option<&'a [View]>,
}

pub(super) fn render(answer: &Answer, question: &Question) -> String {
    let ms = |duration: std::time::Duration| (duration.as_secs_f64() * 1e6).round() / 1e3;
    let line = Line {
        file: &question.file.name,
        command: &question.command.label,
        index: question.index,
        kind: if answer.is_check { "check" } else { "run" },
        expect: answer.expect,
        verdict: answer.verdict.as_str(),
        primary_vars: answer.primary_vars,
        vars: answer.vars,
        clauses: answer.clauses,
        translate_ms: ms(answer.translate),
        solve_ms: ms(answer.solve),
        total_ms: ms(answer.total),
        message: answer.message.as_deref(),
        instances: (!answer.instances.is_empty()).then_some(&answer.instances),
    };
    // Plain data with string keys always has a JSON form.
    let mut text = serde_json::to_string(&line).unwrap_or_default();
    text.push('\n');
    text
}
