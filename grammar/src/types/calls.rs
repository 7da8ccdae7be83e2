//! Bottom up: calls, macros, and names with several readings.

use locus_core::{Diagnostic, Span};

use super::expr::{Errors, Kind, MacroId, Multiplicity, Reading, Rx, join_errors};
use super::make::{Checker, one, type_error};
use super::product::Type;
use crate::model::FuncId;

impl Checker {
    pub(crate) fn bad_join(&self, left: &Rx, right: &Rx, span: Span) -> Rx {
        let mut errors = join_errors([&left.errors, &right.errors]);
        if errors.is_none() {
            errors = one(type_error(span, "these cannot be joined")
                .label(left.span, format!("this is {}", self.describe(&left.ty)))
                .label(right.span, format!("this is {}", self.describe(&right.ty)))
                .help("two sets cannot be joined; `->` makes pairs, `[ ]` calls"));
        }
        self.plain(Kind::BadJoin, Type::empty(), span, 0, errors)
    }

    pub(crate) fn call(&self, func: FuncId, args: &[Rx], extra: u32, span: Span) -> Rx {
        let mut weight = extra;
        let mut errors: Errors = None;
        let params = self.param_types(func);
        let name = self.func_name(func);
        if params.len() != args.len() {
            errors = one(type_error(
                span,
                format!(
                    "`{name}` takes {} but is given {}",
                    arguments(params.len()),
                    args.len()
                ),
            ));
        }
        let mut checked = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            let arg = self.as_set(arg);
            errors = join_errors([&errors, &arg.errors]);
            weight += arg.weight;
            if arg.mult != Multiplicity::None {
                errors = join_errors([&errors, &one(self.no_multiplicity(&arg))]);
            }
            let arity = params.get(index).and_then(Type::arity);
            if let (Some(arity), true) = (arity, arg.is_ok())
                && !arg.ty.has_arity(arity)
            {
                let error =
                    type_error(arg.span, format!("`{name}` needs {} here", relation(arity)))
                        .label(arg.span, format!("this is {}", self.describe(&arg.ty)));
                errors = join_errors([&errors, &one(error)]);
            }
            checked.push(arg);
        }
        let mut ty = Type::formula();
        if let (Some(result), None) = (self.func(func).and_then(|f| f.result.clone()), &errors) {
            ty = self.deduce_result(func, &result, &checked);
        }
        let kind = Kind::Call {
            func,
            args: checked,
            extra,
        };
        self.plain(kind, ty, span, weight, errors)
    }

    pub(crate) fn func_name(&self, func: FuncId) -> String {
        let label = self.func(func).map_or("?", |info| info.label.as_str());
        label.strip_prefix("this/").unwrap_or(label).to_owned()
    }

    /// A call that lacks arguments or has some that do not fit.
    pub(crate) fn bad_call(&self, func: FuncId, args: Vec<Rx>, extra: u32, span: Span) -> Rx {
        let mut weight = extra;
        let mut errors: Errors = None;
        for arg in &args {
            weight += arg.weight;
            errors = join_errors([&errors, &arg.errors]);
        }
        if errors.is_none() {
            errors = one(self.call_error(func, &args, span));
        }
        let kind = Kind::BadCall { func, args, extra };
        self.plain(kind, Type::empty(), span, weight, errors)
    }

    fn call_error(&self, func: FuncId, args: &[Rx], span: Span) -> Diagnostic {
        let name = self.func_name(func);
        let params = self.param_types(func);
        let mut error = if args.len() < params.len() {
            type_error(
                span,
                format!(
                    "`{name}` takes {} but is given {}",
                    arguments(params.len()),
                    args.len()
                ),
            )
            .help(format!("arguments are given in brackets: `{name}[..]`"))
        } else {
            type_error(span, format!("these arguments do not fit `{name}`"))
        };
        for (arg, param) in args.iter().zip(&params) {
            let fits = arg.ty.has_common_arity(param)
                && (!arg.ty.has_tuple()
                    || !param.has_tuple()
                    || arg.ty.intersects(&self.hierarchy, param));
            if !fits {
                error = error.label(
                    arg.span,
                    format!(
                        "this is {}, but {} is needed",
                        self.describe(&arg.ty),
                        self.describe(param)
                    ),
                );
            }
        }
        match self.func(func) {
            Some(info) => error.related(info.span, "declared here"),
            None => error,
        }
    }

    /// A macro that waits for arguments.
    pub(crate) fn macro_call(&self, id: MacroId, args: Vec<Rx>, span: Span, name: &str) -> Rx {
        let error = type_error(span, format!("the macro `{name}` needs more arguments"))
            .help(format!("arguments are given in brackets: `{name}[..]`"));
        self.plain(Kind::Macro(id, args), Type::empty(), span, 0, one(error))
    }

    /// One of several readings; the only one, when it is sound, stands for itself.
    pub(crate) fn choice(&self, readings: Vec<Reading>, span: Span) -> Rx {
        if let [reading] = readings.as_slice()
            && reading.expr.is_ok()
        {
            return reading.expr.clone();
        }
        let mut ty = Type::empty();
        let mut weight: Option<u32> = None;
        for reading in &readings {
            ty = reading.expr.ty.merge(&self.hierarchy, &ty);
            if !reading.expr.ty.is_nothing() {
                let lighter = weight.is_none_or(|weight| weight > reading.expr.weight);
                if lighter {
                    weight = Some(reading.expr.weight);
                }
            }
        }
        let errors = ty.is_nothing().then(|| self.complaint(&readings, span));
        self.plain(
            Kind::Choice(readings),
            ty,
            span,
            weight.unwrap_or(0),
            errors.flatten(),
        )
    }

    /// Why no reading is possible.
    fn complaint(&self, readings: &[Reading], span: Span) -> Errors {
        let mut errors: Vec<&Errors> = readings.iter().map(|r| &r.expr.errors).collect();
        if errors.len() > 1 {
            let all = readings
                .iter()
                .map(|reading| reading.reason.to_string())
                .collect::<Vec<_>>();
            let first = errors.remove(0);
            let reason = first.as_ref().and_then(|errors| errors.first());
            let mut error =
                type_error(span, "this name cannot be used here in any of its meanings")
                    .help(format!("it could mean {}", all.join(", ")));
            if let Some(reason) = reason {
                error = error.label(span, reason.message.clone());
                error.related.extend(reason.related.iter().cloned());
            }
            return one(error);
        }
        errors.first().and_then(|errors| (*errors).clone())
    }
}

fn arguments(count: usize) -> String {
    match count {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        count => format!("{count} arguments"),
    }
}

fn relation(arity: usize) -> String {
    match arity {
        1 => "a set".to_owned(),
        2 => "a binary relation".to_owned(),
        arity => format!("a relation of arity {arity}"),
    }
}
