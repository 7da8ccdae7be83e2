//! What a name may mean, from where it is written.

use std::rc::Rc;

use locus_core::{Diagnostic, Span, suggest};

use super::World;
use super::check::Context;
use super::modules::{RawId, is_builtin};
use crate::model::{BinaryOp, Const, FieldId, FuncId, SigId, builtin};
use crate::types::expr::{Kind, MacroId, Reading, Rx};

/// What kinds of things are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Sigs,
    SigsAndFuncs,
    Funcs,
    Asserts,
}

/// Something found under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entity {
    Sig(RawId),
    Func(FuncId),
    Assert(usize),
}

/// The built-in signature of this name.
fn builtin_sig(name: &str) -> Option<SigId> {
    Some(match name {
        "univ" => builtin::UNIV,
        "none" => builtin::NONE,
        "Int" => builtin::INT,
        "seq/Int" => builtin::SEQ_INT,
        "String" => builtin::STRING,
        _ => return None,
    })
}

impl World<'_> {
    /// The modules whose names are visible in a module without qualification.
    pub(super) fn nameable(&mut self, module: usize) -> Rc<Vec<usize>> {
        if let Some(known) = self.nameable_cache.get(&module) {
            return known.clone();
        }
        let all = Rc::new(self.reachable(module, true));
        if self.modules_are_final {
            self.nameable_cache.insert(module, all.clone());
        }
        all
    }

    /// What one module declares under a name; what is private counts only when `inside`.
    fn declared(&self, module: usize, wanted: Wanted, name: &str, inside: bool) -> Vec<Entity> {
        let mut found = Vec::new();
        if matches!(wanted, Wanted::Sigs | Wanted::SigsAndFuncs)
            && let Some(&raw) = self.instances[module].sig_by_name.get(name)
            && (inside || !self.raw_sigs[raw].is_private)
        {
            found.push(Entity::Sig(raw));
        }
        let Some(scope) = self.scopes.get(&module) else {
            return found;
        };
        if wanted == Wanted::Asserts
            && let Some(&assert) = scope.asserts.get(name)
        {
            found.push(Entity::Assert(assert));
        }
        if matches!(wanted, Wanted::Funcs | Wanted::SigsAndFuncs) {
            for &func in scope.funcs.get(name).into_iter().flatten() {
                let is_private = self.checker.func(func).is_some_and(|info| info.is_private);
                if inside || !is_private {
                    found.push(Entity::Func(func));
                }
            }
        }
        found
    }

    /// An unqualified name.
    pub(super) fn find_unqualified(
        &mut self,
        module: usize,
        start: usize,
        wanted: Wanted,
        name: &str,
    ) -> Vec<Entity> {
        let visible = self.nameable(module);
        visible
            .iter()
            .flat_map(|&m| self.declared(m, wanted, name, m == start))
            .collect()
    }

    /// A name qualified by aliases; the last module may have it from another.
    pub(super) fn find_qualified(
        &mut self,
        module: usize,
        wanted: Wanted,
        name: &str,
    ) -> Vec<Entity> {
        let name = name.replace("this/", "");
        let mut rest = name.as_str();
        let mut at = module;
        let mut level = 0;
        while let Some((alias, tail)) = rest.split_once('/') {
            let open = self.instances[at]
                .opens
                .iter()
                .find(|open| open.alias == alias);
            match open {
                Some(open) if level == 0 || !open.is_private => at = open.target,
                _ => return Vec::new(),
            }
            rest = tail;
            level += 1;
        }
        let found = self.declared(at, wanted, rest, level == 0);
        if found.is_empty() {
            let rest = rest.to_owned();
            return self.find_unqualified(at, module, wanted, &rest);
        }
        found
    }

    fn param(&self, module: usize, name: &str) -> Option<RawId> {
        self.instances[module]
            .params
            .iter()
            .find(|param| param.name == name)?
            .value
    }

    /// The one signature of this name; several are an error.
    pub(super) fn find_sig(&mut self, module: usize, name: &str, span: Span) -> Option<RawId> {
        if let Some(sig) = builtin_sig(name) {
            return Some(sig.index());
        }
        let mut found = if name.contains('/') {
            self.find_qualified(module, Wanted::Sigs, name)
        } else {
            self.find_unqualified(module, module, Wanted::Sigs, name)
        };
        let param = if name.contains('/') {
            name.strip_prefix("this/")
                .and_then(|name| self.param(module, name))
        } else {
            self.param(module, name)
        };
        if let Some(param) = param
            && !found.contains(&Entity::Sig(param))
        {
            found.push(Entity::Sig(param));
        }
        self.unique(&found, name, span)
            .and_then(|entity| match entity {
                Entity::Sig(raw) => Some(raw),
                _ => None,
            })
    }

    /// The only thing found; more than one is an error.
    pub(super) fn unique(&mut self, found: &[Entity], name: &str, span: Span) -> Option<Entity> {
        if let [_, _, ..] = found {
            let all: Vec<String> = found
                .iter()
                .map(|entity| self.entity_label(*entity))
                .collect();
            self.diagnostics.push(
                Diagnostic::error("name", format!("the name `{name}` is ambiguous"))
                    .label(span, format!("could be {}", all.join(", ")))
                    .help("write the module before it: `module/name`"),
            );
        }
        found.first().copied()
    }

    fn entity_label(&self, entity: Entity) -> String {
        match entity {
            Entity::Sig(raw) if is_builtin(raw) => format!("`{}`", self.raw_sigs[raw].name),
            Entity::Sig(raw) => {
                let sig = &self.raw_sigs[raw];
                let path = &self.instances[sig.module].path;
                let path = if path.is_empty() { "this" } else { path };
                format!("`{path}/{}`", sig.name)
            }
            Entity::Func(func) => format!("`{}`", self.checker.func_name(func)),
            Entity::Assert(at) => format!("`{}`", self.asserts[at].label),
        }
    }

    /// The macro that a name means, if it means one.
    fn find_macro(&mut self, module: usize, name: &str, span: Span) -> Option<Result<MacroId, Rx>> {
        if name.contains('/') {
            let name = name.replace("this/", "");
            let mut rest = name.as_str();
            let mut at = module;
            while let Some((alias, tail)) = rest.split_once('/') {
                let open = self.instances[at]
                    .opens
                    .iter()
                    .find(|open| open.alias == alias && !open.is_private)?;
                at = open.target;
                rest = tail;
            }
            let id = *self.scopes.get(&at)?.macros.get(rest)?;
            let is_private = self.macros[id.0 as usize].is_private;
            return (at == module || !is_private).then_some(Ok(id));
        }
        let mut found = None;
        for &m in self.nameable(module).iter() {
            let Some(&id) = self.scopes.get(&m).and_then(|scope| scope.macros.get(name)) else {
                continue;
            };
            if found.is_some() {
                return Some(Err(self.checker.bad(
                    span,
                    Diagnostic::error("name", format!("there are several macros `{name}`"))
                        .at(span)
                        .help("write the module before it: `module/name`"),
                )));
            }
            found = Some(id);
        }
        found.map(Ok)
    }

    /// All that a name may mean; the name has no `@`, which `at` stands for.
    pub(super) fn resolve_name(
        &mut self,
        cx: &mut Context,
        name: &str,
        at: bool,
        span: Span,
    ) -> Rx {
        if !at
            && name.contains('/')
            && let Some(found) = self.find_macro(cx.module, name, span)
        {
            return found.map_or_else(|bad| bad, |id| self.macro_reference(id, span));
        }
        if !at {
            if let Some(bound) = cx.lookup(name) {
                return self.checker.at(&bound, span);
            }
            if !name.contains('/')
                && let Some(found) = self.find_macro(cx.module, name, span)
            {
                return found.map_or_else(|bad| bad, |id| self.macro_reference(id, span));
            }
        }
        if let Some(sig) = builtin_sig(name) {
            return self.checker.sig(sig, span);
        }
        if name == "iden" {
            return self.checker.constant(Const::Iden, span);
        }
        let readings = self.readings(cx, name, at, span);
        if readings.is_empty() {
            return self.unknown_name(cx, name, span);
        }
        self.checker.choice(readings, span)
    }

    fn macro_reference(&mut self, id: MacroId, span: Span) -> Rx {
        self.checker
            .macro_call(id, Vec::new(), span, &self.macros[id.0 as usize].name)
    }

    fn readings(&mut self, cx: &Context, name: &str, at: bool, span: Span) -> Vec<Reading> {
        let this = cx.lookup("this").map(|this| self.checker.at(&this, span));
        // Declarations cannot call; what is defined can.
        let is_declared_field = cx.field.is_some_and(|is_defined| !is_defined);
        let may_call = match cx.sig {
            Some(_) => !is_declared_field,
            None => !cx.in_params,
        };
        let wanted = if may_call {
            Wanted::SigsAndFuncs
        } else {
            Wanted::Sigs
        };
        let mut found = if name.contains('/') {
            self.find_qualified(cx.module, wanted, name)
        } else {
            self.find_unqualified(cx.module, cx.module, wanted, name)
        };
        if let Some(param) = self.param(cx.module, name)
            && !found.contains(&Entity::Sig(param))
        {
            found.push(Entity::Sig(param));
        }
        let mut readings = Vec::new();
        for entity in found {
            match entity {
                Entity::Sig(raw) => {
                    let id = self.raw_sigs[raw].id;
                    readings.push(Reading {
                        expr: self.checker.sig(id, span),
                        reason: format!("sig {}", self.entity_label(entity)).into(),
                    });
                }
                Entity::Func(func) => {
                    self.func_readings(cx, func, this.as_ref(), span, &mut readings)
                }
                Entity::Assert(_) => {}
            }
        }
        self.field_readings(cx, name, at, this.as_ref(), span, &mut readings);
        readings
    }

    fn func_readings(
        &mut self,
        cx: &Context,
        func: FuncId,
        this: Option<&Rx>,
        span: Span,
        readings: &mut Vec<Reading>,
    ) {
        let params = self.checker.param_types(func);
        let is_pred = self.checker.func(func).is_some_and(|info| info.is_pred);
        let word = if is_pred { "pred" } else { "fun" };
        let name = self.checker.func_name(func);
        if let (Some(_), Some(this), Some(first)) = (cx.sig, this, params.first())
            && this.ty.has_arity(1)
            && first.intersects(&self.checker.hierarchy, &this.ty)
        {
            let args = vec![this.clone()];
            let expr = if params.len() == 1 {
                self.checker.call(func, &args, 1, span)
            } else {
                self.checker.bad_call(func, args, 1, span)
            };
            readings.push(Reading {
                expr,
                reason: format!("{word} `this.{name}`").into(),
            });
        }
        let expr = if params.is_empty() {
            self.checker.call(func, &[], 0, span)
        } else {
            self.checker.bad_call(func, Vec::new(), 0, span)
        };
        readings.push(Reading {
            expr,
            reason: format!("{word} `{name}`").into(),
        });
    }

    fn field_readings(
        &mut self,
        cx: &Context,
        name: &str,
        at: bool,
        this: Option<&Rx>,
        span: Span,
        readings: &mut Vec<Reading>,
    ) {
        let Some(candidates) = self.fields_by_name.get(name).cloned() else {
            return;
        };
        let visible = self.nameable(cx.module);
        for &module in visible.iter() {
            for &field in &candidates {
                if self.field_module(field) != module {
                    continue;
                }
                let Some(info) = self.checker.fields.get(field.index()) else {
                    continue;
                };
                let (sig, is_private) = (info.sig, info.is_private);
                if module != cx.module && (is_private || self.is_private_sig(sig)) {
                    continue;
                }
                let expr = match cx.sig {
                    None => self.checker.field(field, span, 0),
                    Some(inside) if self.is_same_or_descendent(inside, sig) => {
                        let expr = self.checker.field(field, span, 0);
                        match this {
                            Some(this) if !at => {
                                self.checker
                                    .binary(BinaryOp::Join, this.clone(), expr, span)
                            }
                            _ => expr,
                        }
                    }
                    Some(_) if cx.field.is_none_or(|is_defined| is_defined) => {
                        self.checker.field(field, span, 1)
                    }
                    Some(_) => continue,
                };
                readings.push(Reading {
                    expr,
                    reason: format!("field `{} <: {name}`", self.checker.sig_name(sig)).into(),
                });
            }
        }
    }

    fn field_module(&self, field: FieldId) -> usize {
        self.checker
            .fields
            .get(field.index())
            .and_then(|info| self.sig_raws.get(info.sig.index()))
            .map_or(usize::MAX, |raw| self.raw_sigs[*raw].module)
    }

    fn is_private_sig(&self, sig: SigId) -> bool {
        self.sig_raws
            .get(sig.index())
            .is_some_and(|raw| self.raw_sigs[*raw].is_private)
    }

    fn unknown_name(&mut self, cx: &Context, name: &str, span: Span) -> Rx {
        if self.broken_names.contains(name) {
            return self.checker.bad(span, super::already_reported(span));
        }
        let mut error =
            Diagnostic::error("name", format!("the name `{name}` cannot be found")).at(span);
        error.help = self.suggestion(cx, name);
        self.checker.bad(span, error)
    }

    fn suggestion(&mut self, cx: &Context, name: &str) -> Option<String> {
        if name == "this" {
            return Some(
                "`this` has a meaning in signature facts and in predicates of a signature"
                    .to_owned(),
            );
        }
        if name.contains('$') {
            return Some("names with `$`, the model of the model, are not supported".to_owned());
        }
        let hint = match name {
            "true" | "True" | "false" | "False" => {
                Some("open `util/boolean`; a formula needs no truth value")
            }
            _ => None,
        };
        if let Some(hint) = hint {
            return Some(hint.to_owned());
        }
        let visible = self.nameable(cx.module);
        let mut known: Vec<String> = cx.names().map(str::to_owned).collect();
        for &module in visible.iter() {
            known.extend(
                self.instances[module]
                    .sigs
                    .iter()
                    .map(|(name, _)| name.clone()),
            );
            if let Some(scope) = self.scopes.get(&module) {
                known.extend(scope.funcs.keys().cloned());
                known.extend(scope.macros.keys().cloned());
            }
        }
        known.extend(self.fields_by_name.keys().cloned());
        known.sort();
        suggest::did_you_mean(name, known.iter().map(String::as_str))
    }

    /// Whether a signature is, extends or is a subset of another.
    pub(super) fn is_same_or_descendent(&self, sig: SigId, other: SigId) -> bool {
        if sig == other || other == builtin::UNIV {
            return true;
        }
        if other == builtin::NONE {
            return false;
        }
        let mut todo = vec![sig];
        let mut at = 0;
        while let Some(sig) = todo.get(at).copied() {
            at += 1;
            if sig == other {
                return true;
            }
            for parent in self.parents_of(sig) {
                if !todo.contains(&parent) {
                    todo.push(parent);
                }
            }
        }
        false
    }
}

/// Whether a macro waits for arguments.
pub(super) fn as_macro(x: &Rx) -> Option<(MacroId, &[Rx])> {
    match &x.kind {
        Kind::Macro(id, args) => Some((*id, args)),
        _ => None,
    }
}
