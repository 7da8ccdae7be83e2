//! Top down: one reading of several.

use locus_core::Span;

use super::expr::{Reading, Rx};
use super::make::{Checker, type_error};
use super::product::Type;
use crate::model::{BinaryOp, Mult, builtin};

impl Checker {
    pub(super) fn resolve_choice(
        &mut self,
        span: Span,
        readings: &[Reading],
        t: &Type,
        warn: bool,
        first_pass: bool,
    ) -> Rx {
        let h = &self.hierarchy;
        let exact = |ty: &Type| t.is_bool && ty.is_bool || t.intersects(h, ty);
        let mut fitting: Vec<Reading> = readings
            .iter()
            .filter(|reading| exact(&reading.expr.ty))
            .cloned()
            .collect();
        if fitting.is_empty() {
            fitting = readings
                .iter()
                .filter(|reading| reading.expr.ty.has_common_arity(t))
                .cloned()
                .collect();
        }
        if fitting.len() > 1 {
            let lightest = fitting.iter().map(|reading| reading.expr.weight).min();
            fitting.retain(|reading| Some(reading.expr.weight) == lightest);
            if first_pass && fitting.len() > 1 {
                for reading in &mut fitting {
                    reading.expr = self.resolve(&reading.expr, t, false);
                }
                return self.resolve_choice(span, &fitting, t, warn, false);
            }
        }
        match fitting.as_slice() {
            [only] => self.resolve(&only.expr, t, warn),
            [] => self.no_reading(span, readings, t),
            several => match self.all_empty(several) {
                Some(arity) => self.empty_relation(arity, span),
                None => self.ambiguous(span, several),
            },
        }
    }

    /// The arity, when every reading is the empty relation of that arity.
    fn all_empty(&self, readings: &[Reading]) -> Option<usize> {
        let mut arity = None;
        for reading in readings {
            let ty = &reading.expr.ty;
            if ty.is_bool || ty.has_int() || ty.has_tuple() {
                return None;
            }
            let this = ty.arity()?;
            if arity.is_some_and(|arity| arity != this) {
                return None;
            }
            arity = Some(this);
        }
        arity
    }

    fn empty_relation(&self, arity: usize, span: Span) -> Rx {
        let none = || self.sig(builtin::NONE, span);
        let arrow = BinaryOp::Arrow(Mult::Set, Mult::Set);
        (1..arity).fold(none(), |all, _| self.binary(arrow, all, none(), span))
    }

    fn ambiguous(&self, span: Span, readings: &[Reading]) -> Rx {
        let all = list_reasons(readings);
        self.bad(
            span,
            type_error(span, "this name is ambiguous")
                .label(span, format!("could be {all}"))
                .help("say which one is meant: `Sig <: field`, or `module/name`"),
        )
    }

    fn no_reading(&self, span: Span, readings: &[Reading], t: &Type) -> Rx {
        // A reading with an error of its own says more than the list of all.
        let reason = readings
            .iter()
            .find_map(|reading| reading.expr.errors.as_ref()?.first().cloned());
        if let (Some(reason), 1) = (reason, readings.len()) {
            return self.bad(span, reason);
        }
        let all = list_reasons(readings);
        self.bad(
            span,
            type_error(
                span,
                format!(
                    "no meaning of this name fits: {} is needed",
                    self.describe(t)
                ),
            )
            .label(span, format!("could be {all}")),
        )
    }
}

fn list_reasons(readings: &[Reading]) -> String {
    let mut reasons: Vec<&str> = readings.iter().map(|r| r.reason.as_ref()).collect();
    reasons.dedup();
    reasons.join(", ")
}
