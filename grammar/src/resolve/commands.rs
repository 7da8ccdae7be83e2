//! Commands, and the model put together.

use locus_core::{Diagnostic, Span, suggest};

use super::World;
use super::emit::Emitter;
use super::names::{Entity, Wanted};
use crate::ast::{self, ParagraphKind, Target};
use crate::model::{
    Assertion, BinaryOp, Command, Const, Expr, ExprKind, Fact, Func, FuncId, ListOp, Quant, SigId,
    SigKind, SigScope, Steps, Type, UnaryOp, builtin,
};
use crate::types::expr::Rx;

/// What a command is about.
enum Goal {
    Formula(Rx),
    Func(FuncId),
}

/// A command before its formula is written.
struct Draft {
    command: Command,
    goal: Goal,
}

fn formula(kind: ExprKind, span: Span) -> Expr {
    Expr {
        kind,
        ty: Type::formula(),
        span,
    }
}

impl World<'_> {
    /// The commands of the root module; then everything is written into the model.
    pub(super) fn resolve_commands(&mut self, root: usize) {
        let ast = self.instances[root].ast.clone();
        let mut drafts: Vec<Draft> = Vec::new();
        for paragraph in &ast.paragraphs {
            let ParagraphKind::Command(chain) = &paragraph.kind else {
                continue;
            };
            if let [first, .., last] = chain.as_slice() {
                self.diagnostics.push(
                    Diagnostic::warning(
                        "command",
                        "of commands joined by `=>`, only the last is run",
                    )
                    .at(first.span)
                    .related(last.span, "this one")
                    .help("write them one after the other to run all"),
                );
            }
            let number = drafts.len() + 1;
            let mut draft = None;
            for command in chain {
                draft = self.command(root, command, number, paragraph);
            }
            drafts.extend(draft);
        }
        let exact: Vec<SigId> = self
            .exact_raw
            .iter()
            .map(|raw| self.raw_sigs[*raw].id)
            .collect();
        self.check_exact(&exact, root);
        if self.has_errors() {
            return;
        }
        if !ast
            .paragraphs
            .iter()
            .any(|paragraph| matches!(paragraph.kind, ParagraphKind::Command(_)))
        {
            let span = self.file_start(root);
            let mut command = empty_command("Default".to_owned(), span, false);
            command.formula = formula(ExprKind::Const(Const::True), span);
            drafts.push(Draft {
                command,
                goal: Goal::Formula(self.checker.constant(Const::True, span)),
            });
        }
        self.assemble(root, drafts, &exact);
    }

    /// A module that wants an exact scope cannot have a signature that changes.
    fn check_exact(&mut self, exact: &[SigId], root: usize) {
        for sig in exact {
            let Some(sig) = self.model.sigs.get(sig.index()) else {
                continue;
            };
            if sig.is_var {
                let (label, span) = (sig.label.clone(), sig.span);
                let at = self.instances[root]
                    .opens
                    .iter()
                    .filter_map(|open| open.span.filter(|_| !open.args.is_empty()))
                    .next()
                    .unwrap_or(span);
                self.diagnostics.push(
                    Diagnostic::error(
                        "type",
                        format!("a module needs `{label}` to be exact, but it is `var`"),
                    )
                    .at(at)
                    .related(span, "declared here")
                    .help("remove `var`, or do not open the module for it"),
                );
            }
        }
    }

    fn command(
        &mut self,
        root: usize,
        command: &ast::Command,
        number: usize,
        paragraph: &ast::Paragraph,
    ) -> Option<Draft> {
        let goal = match &command.target {
            Target::Block(_) => self
                .check_command_block(root, &command.target)
                .map(Goal::Formula),
            Target::Name(name) => self.named_goal(root, name, command.is_check),
        };
        let name = match (&command.label, &command.target) {
            (Some(label), _) => label.text.clone(),
            (None, Target::Name(name)) => name.text.clone(),
            (None, Target::Block(_)) => {
                let word = if command.is_check { "check" } else { "run" };
                format!("{word}${number}")
            }
        };
        let mut result = empty_command(name, command.span, command.is_check);
        result.doc = paragraph.doc.clone();
        result.expect = command.expect;
        result.overall = command.scope.overall;
        for scope in &command.scope.sigs {
            self.typescope(root, scope, &mut result);
        }
        Some(Draft {
            command: result,
            goal: goal?,
        })
    }

    fn named_goal(&mut self, root: usize, name: &ast::Name, is_check: bool) -> Option<Goal> {
        let wanted = if is_check {
            Wanted::Asserts
        } else {
            Wanted::Funcs
        };
        let mut found = self.find_qualified(root, wanted, &name.text);
        if found.is_empty() && !name.text.contains('/') {
            found = self.find_unqualified(root, root, wanted, &name.text);
        }
        match self.unique(&found, &name.text, name.span) {
            Some(Entity::Assert(at)) => self.asserts[at].body.clone().map(Goal::Formula),
            Some(Entity::Func(func)) => Some(Goal::Func(func)),
            _ => {
                if !self.broken_names.contains(&name.text) {
                    self.unknown_goal(root, name, is_check);
                }
                None
            }
        }
    }

    fn unknown_goal(&mut self, root: usize, name: &ast::Name, is_check: bool) {
        let what = if is_check {
            "assertion"
        } else {
            "predicate or function"
        };
        let mut known: Vec<String> = Vec::new();
        for module in self.nameable(root).iter() {
            if let Some(scope) = self.scopes.get(module) {
                if is_check {
                    known.extend(scope.asserts.keys().cloned());
                } else {
                    known.extend(scope.funcs.keys().cloned());
                }
            }
        }
        known.sort();
        let help = suggest::did_you_mean(&name.text, known.iter().map(String::as_str));
        self.diagnostics.push(
            Diagnostic::error(
                "name",
                format!("the {what} `{}` cannot be found", name.text),
            )
            .at(name.span)
            .maybe_help(help),
        );
    }

    fn typescope(&mut self, root: usize, scope: &ast::TypeScope, command: &mut Command) {
        let grows = scope.end.is_some_and(|end| end != Some(scope.start)) || scope.step.is_some();
        let exact = scope.exact || scope.end == Some(Some(scope.start));
        let name = scope.target.text.as_str();
        let mut error = |message: String, help: &str| {
            self.diagnostics.push(
                Diagnostic::error("scope", message)
                    .at(scope.span)
                    .help(help),
            );
        };
        match name {
            "Int" | "int" | "seq" => {
                let slot = if name == "seq" {
                    &mut command.max_seq
                } else {
                    &mut command.bitwidth
                };
                if grows {
                    error(
                        format!("the scope of `{name}` cannot grow"),
                        "give one number",
                    );
                } else if scope.exact {
                    error(
                        format!("the scope of `{name}` is always exact"),
                        "remove `exactly`",
                    );
                } else if slot.replace(scope.start).is_some() {
                    error(
                        format!("the scope of `{name}` is given twice"),
                        "remove one of them",
                    );
                }
            }
            "String" => command.max_string = Some((scope.start, exact)),
            "steps" => match steps(scope, exact) {
                Ok(steps) => {
                    if command.steps.replace(steps).is_some() {
                        error(
                            "the number of steps is given twice".to_owned(),
                            "remove one of them",
                        );
                    }
                }
                Err(message) => error(
                    message.to_owned(),
                    "write `for 10 steps` or `for 1.. steps`",
                ),
            },
            "univ" | "none" => error(
                format!("`{name}` has no scope of its own"),
                "give scopes to signatures",
            ),
            _ => self.sig_scope(root, scope, exact, command),
        }
    }

    fn sig_scope(
        &mut self,
        root: usize,
        scope: &ast::TypeScope,
        exact: bool,
        command: &mut Command,
    ) {
        let Some(sig) = self.known_sig(root, &scope.target) else {
            return;
        };
        if let Some(declared) = self.model.sigs.get(sig.index()).filter(|sig| sig.is_var) {
            let top = matches!(declared.kind, SigKind::Prim { parent } if parent == builtin::UNIV);
            let problem = if !top {
                Some("has no scope of its own: it changes and extends another")
            } else if exact {
                Some("cannot have an exact scope: it changes")
            } else {
                None
            };
            if let Some(problem) = problem {
                let message = format!("`{}` {problem}", scope.target.text);
                self.diagnostics
                    .push(Diagnostic::error("scope", message).at(scope.span));
                return;
            }
        }
        command.scopes.push(SigScope {
            sig,
            span: scope.span,
            exact,
            size: scope.start,
        });
    }

    /// Writes everything that has been checked into the model.
    fn assemble(&mut self, root: usize, drafts: Vec<Draft>, exact: &[SigId]) {
        let mut emitter = Emitter::default();
        let mut model = std::mem::take(&mut self.model);
        for (at, sig) in model.sigs.iter_mut().enumerate() {
            let id = SigId(u32::try_from(at).unwrap_or(u32::MAX));
            sig.this = self.emit_this(&mut emitter, id, sig.this);
        }
        for (field, bound) in model.fields.iter_mut().zip(&self.field_bounds) {
            field.bound = self.emit_set(&mut emitter, bound);
        }
        for at in 0..self.func_places.len() {
            if let Some(func) = self.emit_func(&mut emitter, at) {
                model.funcs.push(func);
            }
        }
        for fact in &self.facts {
            model.facts.push(Fact {
                label: fact.label.clone(),
                span: fact.span,
                body: self.emit_formula(&mut emitter, &fact.body),
            });
        }
        for (sig, fact) in &self.appended {
            let fact = self.emit_formula(&mut emitter, fact);
            if let Some(sig) = model.sigs.get_mut(sig.index()) {
                match fact.kind {
                    ExprKind::List(ListOp::And, parts) => sig.facts.extend(parts),
                    _ => sig.facts.push(fact),
                }
            }
        }
        for assert in self.asserts.iter().filter(|assert| assert.module == root) {
            if let Some(body) = &assert.body {
                model.assertions.push(Assertion {
                    label: assert.label.clone(),
                    span: assert.span,
                    body: self.emit_formula(&mut emitter, body),
                    doc: assert.doc.clone(),
                });
            }
        }
        for draft in drafts {
            let mut command = draft.command;
            command.exact_sigs = exact.to_vec();
            let goal = match draft.goal {
                Goal::Formula(body) => self.emit_formula(&mut emitter, &body),
                Goal::Func(func) => self.emit_run(&mut emitter, func, command.span),
            };
            command.formula = if command.is_check {
                let span = goal.span;
                formula(ExprKind::Unary(UnaryOp::Not, Box::new(goal)), span)
            } else {
                goal
            };
            model.commands.push(command);
        }
        model.vars = emitter.out;
        self.model = model;
    }

    fn emit_func(&self, emitter: &mut Emitter, at: usize) -> Option<Func> {
        let info = self.checker.funcs.get(at)?;
        let body = self.func_bodies.get(at)?.as_ref()?;
        let params = self.emit_decls(emitter, &info.decls);
        let result = info
            .result
            .as_ref()
            .map(|result| self.emit_set(emitter, result));
        let body = if info.is_pred {
            self.emit_formula(emitter, body)
        } else {
            self.emit_set(emitter, body)
        };
        Some(Func {
            label: info.label.clone(),
            span: info.span,
            params,
            result,
            body,
            is_pred: info.is_pred,
            is_private: info.is_private,
        })
    }

    /// `some params | body`; of a function, the body is in its result.
    fn emit_run(&self, emitter: &mut Emitter, func: FuncId, span: Span) -> Expr {
        let Some(func) = self.emit_func(emitter, func.index()) else {
            return formula(ExprKind::Const(Const::True), span);
        };
        let body = match func.result {
            None => func.body,
            Some(result) => formula(
                ExprKind::Binary(BinaryOp::In, Box::new(func.body), Box::new(result)),
                func.span,
            ),
        };
        if func.params.is_empty() {
            return body;
        }
        let kind = ExprKind::Quant {
            quant: Quant::Some,
            decls: func.params,
            body: Box::new(body),
        };
        formula(kind, func.span)
    }
}

fn steps(scope: &ast::TypeScope, exact: bool) -> Result<Steps, &'static str> {
    if scope.step.is_some_and(|step| step != 1) {
        return Err("the number of steps grows by 1");
    }
    if scope.start < 1 {
        return Err("a trace has at least one step");
    }
    match scope.end {
        Some(None) if scope.start != 1 => Err("an unbounded number of steps starts at 1"),
        Some(None) => Ok(Steps { min: 1, max: None }),
        Some(Some(end)) => Ok(Steps {
            min: scope.start,
            max: Some(end),
        }),
        None => Ok(Steps {
            min: if exact { scope.start } else { 1 },
            max: Some(scope.start),
        }),
    }
}

fn empty_command(label: String, span: Span, is_check: bool) -> Command {
    Command {
        label,
        span,
        is_check,
        formula: formula(ExprKind::Const(Const::True), span),
        overall: None,
        bitwidth: None,
        max_seq: None,
        max_string: None,
        steps: None,
        scopes: Vec::new(),
        expect: None,
        exact_sigs: Vec::new(),
        doc: None,
    }
}
