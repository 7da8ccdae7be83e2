//! Predicates, functions, facts and assertions.

use locus_core::Diagnostic;

use super::check::Context;
use super::modules::RawDecl;
use super::{AssertDef, AssertPlace, FactDef, FuncPlace, MacroDef, Scope, World};
use crate::ast::{self, ParagraphKind, Target};
use crate::model::FuncId;
use crate::types::expr::{MacroId, Multiplicity, XDecl};
use crate::types::make::{FuncInfo, type_error};
use crate::types::narrow;

fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl World<'_> {
    /// The label of something declared in a module.
    pub(super) fn label(&self, module: usize, name: &str) -> String {
        let path = &self.instances[module].path;
        let path = if path.is_empty() { "this" } else { path };
        format!("{path}/{name}")
    }

    /// Enters the names of predicates, functions, macros and assertions.
    pub(super) fn declare_scopes(&mut self) {
        for module in self.modules.clone() {
            let ast = self.instances[module].ast.clone();
            let mut scope = Scope::default();
            let mut unnamed = 0;
            for (at, paragraph) in ast.paragraphs.iter().enumerate() {
                match &paragraph.kind {
                    ParagraphKind::Func(func) => {
                        let id = FuncId(index(self.func_places.len()));
                        self.check_new_name(&func.name);
                        self.func_places.push(FuncPlace {
                            module,
                            paragraph: at,
                        });
                        self.checker.funcs.push(FuncInfo {
                            label: self.label(module, &func.name.text),
                            span: func.name.span,
                            is_pred: func.result.is_none(),
                            is_private: func.is_private,
                            params: Vec::new(),
                            decls: Vec::new(),
                            result: None,
                        });
                        scope
                            .funcs
                            .entry(func.name.text.clone())
                            .or_default()
                            .push(id);
                    }
                    ParagraphKind::Macro(m) => self.declare_macro(module, at, m, &mut scope),
                    ParagraphKind::Assert(named) => {
                        unnamed += 1;
                        self.declare_assert(module, at, paragraph, named, unnamed, &mut scope);
                    }
                    _ => {}
                }
            }
            self.scopes.insert(module, scope);
        }
    }

    fn check_new_name(&mut self, name: &ast::Name) {
        if let Some(bad) = ['/', '$'].into_iter().find(|bad| name.text.contains(*bad)) {
            self.diagnostics.push(
                Diagnostic::error(
                    "name",
                    format!("the new name `{}` contains `{bad}`", name.text),
                )
                .at(name.span)
                .help("use letters, digits and `_`"),
            );
        }
    }

    fn declare_macro(&mut self, module: usize, at: usize, m: &ast::Macro, scope: &mut Scope) {
        self.check_new_name(&m.name);
        self.check_distinct(&m.params);
        let id = MacroId(index(self.macros.push(MacroDef {
            module,
            name: m.name.text.clone(),
            params: m.params.iter().map(|param| param.text.clone()).collect(),
            is_private: m.is_private,
            ast: self.instances[module].ast.clone(),
            paragraph: at,
        })));
        if scope.macros.insert(m.name.text.clone(), id).is_some() {
            self.diagnostics.push(
                Diagnostic::error("name", format!("there are two macros `{}`", m.name.text))
                    .at(m.name.span)
                    .help("rename one of them"),
            );
        }
    }

    fn check_distinct(&mut self, names: &[ast::Name]) {
        for (at, name) in names.iter().enumerate() {
            if let Some(first) = names.iter().take(at).find(|other| other.text == name.text) {
                self.diagnostics.push(
                    Diagnostic::error("name", format!("there are two parameters `{}`", name.text))
                        .at(name.span)
                        .related(first.span, "the first one")
                        .help("rename one of them"),
                );
            }
        }
    }

    fn declare_assert(
        &mut self,
        module: usize,
        at: usize,
        paragraph: &ast::Paragraph,
        named: &ast::Named,
        number: usize,
        scope: &mut Scope,
    ) {
        let (label, span) = match &named.name {
            Some(name) => (name.text.clone(), name.span),
            None => (format!("assert${number}"), paragraph.span),
        };
        let id = self.asserts.push(AssertDef {
            label: label.clone(),
            module,
            span,
            doc: paragraph.doc.clone(),
            place: AssertPlace::Paragraph(at),
            body: None,
        });
        if let Some(first) = scope.asserts.insert(label.clone(), id) {
            let first = self.asserts[first].span;
            self.diagnostics.push(
                Diagnostic::error("name", format!("there are two assertions `{label}`"))
                    .at(span)
                    .related(first, "the first one")
                    .help("rename one of them"),
            );
        }
    }

    /// Parameters and results, which may mention signatures and fields but call nothing.
    pub(super) fn resolve_func_decls(&mut self) {
        for at in 0..self.func_places.len() {
            let Some(place) = self.func_places.get(at).copied() else {
                continue;
            };
            let ast = self.instances[place.module].ast.clone();
            if let Some(ParagraphKind::Func(func)) =
                ast.paragraphs.get(place.paragraph).map(|p| &p.kind)
            {
                self.refuel();
                self.resolve_func_decl(FuncId(index(at)), place.module, func);
            }
        }
    }

    fn resolve_func_decl(&mut self, id: FuncId, module: usize, func: &ast::Func) {
        let mut cx = Context::new(module);
        cx.in_params = true;
        let mut decls: Vec<XDecl> = Vec::new();
        let mut names: Vec<ast::Name> = Vec::new();
        if let Some(receiver) = &func.receiver {
            let this = ast::Decl {
                names: vec![ast::Name {
                    text: "this".to_owned(),
                    span: receiver.span,
                }],
                is_var: false,
                is_private: false,
                disjoint: None,
                disjoint_values: None,
                is_defined: false,
                bound: ast::Expr {
                    kind: ast::ExprKind::Name(receiver.text.clone()),
                    span: receiver.span,
                },
                span: receiver.span,
            };
            names.extend(this.names.iter().cloned());
            decls.extend(self.check_decls(&mut cx, std::slice::from_ref(&this)));
        }
        names.extend(func.params.iter().flat_map(|decl| decl.names.clone()));
        self.check_distinct(&names);
        decls.extend(self.check_decls(&mut cx, &func.params));
        let result = func.result.as_ref().map(|result| {
            let result = self.check_bound(&mut cx, result);
            let result = self.checker.resolve_set(&result);
            self.default_one(&result)
        });
        let mut usable = true;
        for (bound, what) in decls
            .iter()
            .map(|decl| (&decl.bound, "a parameter"))
            .chain(result.iter().map(|result| (result, "a result")))
        {
            usable &= self.report(bound);
            let problem = if bound.has_call() {
                Some("calls a predicate or function")
            } else if bound.has_temporal() {
                Some("uses a temporal operator")
            } else {
                None
            };
            if let Some(problem) = problem {
                usable = false;
                self.diagnostics.push(type_error(
                    bound.span,
                    format!("the declaration of {what} {problem}"),
                ));
            }
        }
        if !usable {
            self.broken_names.insert(func.name.text.clone());
            if let Some(funcs) = self
                .scopes
                .get_mut(&module)
                .and_then(|scope| scope.funcs.get_mut(&func.name.text))
            {
                funcs.retain(|other| *other != id);
            }
            return;
        }
        if let Some(info) = self.checker.funcs.get_mut(id.index()) {
            info.params = decls.iter().flat_map(|decl| decl.vars.clone()).collect();
            info.decls = decls;
            info.result = result;
        }
    }

    /// Bodies of functions, assertions and facts, module by module.
    pub(super) fn resolve_bodies(&mut self) {
        self.func_bodies = vec![None; self.func_places.len()];
        for module in self.modules.clone() {
            self.resolve_func_bodies(module);
            self.resolve_asserts(module);
            self.resolve_facts(module);
            for param in self.instances[module].params.clone() {
                if let (true, Some(value)) = (param.exact, param.value)
                    && !self.exact_raw.contains(&value)
                {
                    self.exact_raw.push(value);
                }
            }
        }
    }

    fn resolve_func_bodies(&mut self, module: usize) {
        for at in 0..self.func_places.len() {
            let Some(place) = self
                .func_places
                .get(at)
                .copied()
                .filter(|p| p.module == module)
            else {
                continue;
            };
            let ast = self.instances[module].ast.clone();
            let Some(ParagraphKind::Func(func)) =
                ast.paragraphs.get(place.paragraph).map(|p| &p.kind)
            else {
                continue;
            };
            if self.broken_names.contains(&func.name.text) {
                continue;
            }
            let Some(info) = self.checker.funcs.get(at).cloned() else {
                continue;
            };
            self.refuel();
            let mut cx = Context::new(module);
            for var in &info.params {
                if let Some(known) = self.checker.vars.get(var.index()) {
                    let (name, span) = (known.name.clone(), known.span);
                    let reference = self.checker.var(*var, span);
                    cx.bind(&name, reference);
                }
            }
            let body = self.check(&mut cx, &func.body);
            let body = if info.is_pred {
                self.checker.resolve_formula(&body)
            } else {
                self.checker.resolve_set(&body)
            };
            if !self.report(&body) {
                continue;
            }
            if body.mult != Multiplicity::None {
                self.diagnostics
                    .push(type_error(body.span, "a multiplicity is not allowed here"));
                continue;
            }
            if let Some(result) = &info.result {
                if body.ty.arity() != result.ty.arity() {
                    self.diagnostics.push(
                        type_error(body.span, "the body does not have the arity of the result")
                            .label(
                                body.span,
                                format!("this is {}", self.checker.describe(&body.ty)),
                            )
                            .label(
                                result.span,
                                format!("this is {}", self.checker.describe(&result.ty)),
                            ),
                    );
                    continue;
                }
                if body.ty.has_tuple()
                    && result.ty.has_tuple()
                    && !body.ty.intersects(&self.checker.hierarchy, &result.ty)
                {
                    let warning = narrow::irrelevant(
                        body.span,
                        "the body shares nothing with the declared result",
                    )
                    .label(
                        body.span,
                        format!("this is {}", self.checker.describe(&body.ty)),
                    )
                    .label(
                        result.span,
                        format!("this is {}", self.checker.describe(&result.ty)),
                    );
                    self.checker.warnings.push(warning);
                }
            }
            if let Some(slot) = self.func_bodies.get_mut(at) {
                *slot = Some(body);
            }
        }
    }

    fn resolve_asserts(&mut self, module: usize) {
        for at in 0..self.asserts.len() {
            if self.asserts[at].module != module {
                continue;
            }
            let AssertPlace::Paragraph(paragraph) = self.asserts[at].place;
            let ast = self.instances[module].ast.clone();
            let Some(ParagraphKind::Assert(named)) = ast.paragraphs.get(paragraph).map(|p| &p.kind)
            else {
                continue;
            };
            self.refuel();
            let body = self.check(&mut Context::new(module), &named.body);
            let body = self.checker.resolve_formula(&body);
            if self.report(&body) {
                self.asserts[at].body = Some(body);
            }
        }
    }

    fn resolve_facts(&mut self, module: usize) {
        let ast = self.instances[module].ast.clone();
        let mut number = 0;
        for paragraph in &ast.paragraphs {
            let ParagraphKind::Fact(named) = &paragraph.kind else {
                continue;
            };
            number += 1;
            self.refuel();
            let body = self.check(&mut Context::new(module), &named.body);
            let body = self.checker.resolve_formula(&body);
            if self.report(&body) {
                let label = match &named.name {
                    Some(name) => name.text.clone(),
                    None => format!("fact${number}"),
                };
                self.facts.push(FactDef {
                    label,
                    span: paragraph.span,
                    body,
                });
            }
        }
        self.resolve_appended_facts(module);
    }

    fn resolve_appended_facts(&mut self, module: usize) {
        let ast = self.instances[module].ast.clone();
        for (_, raw) in self.instances[module].sigs.clone() {
            let raw = self.raw_sigs[raw].clone();
            let RawDecl::Sig(at, _) = raw.decl else {
                continue;
            };
            let Some(ParagraphKind::Sig(decl)) = ast.paragraphs.get(at).map(|p| &p.kind) else {
                continue;
            };
            let Some(fact) = &decl.fact else { continue };
            let Some(this) = self.model.sigs.get(raw.id.index()).map(|sig| sig.this) else {
                continue;
            };
            self.refuel();
            let mut cx = Context::new(module);
            cx.sig = Some(raw.id);
            let this = self.checker.var(this, fact.span);
            cx.bind("this", this);
            let body = self.check(&mut cx, fact);
            let body = self.checker.resolve_formula(&body);
            if self.report(&body) && !crate::types::make::Checker::is_true(&body) {
                self.appended.push((raw.id, body));
            }
        }
    }

    /// The block of a command.
    pub(super) fn check_command_block(
        &mut self,
        module: usize,
        target: &Target,
    ) -> Option<crate::types::expr::Rx> {
        let Target::Block(block) = target else {
            return None;
        };
        self.refuel();
        let body = self.check(&mut Context::new(module), block);
        let body = self.checker.resolve_formula(&body);
        self.report(&body).then_some(body)
    }
}
