//! Names, modules and types: from syntax trees to the model.
//!
//! The order of the steps is Alloy's: modules are found and merged, signatures get their parents,
//! fields their bounds, functions their parameters, and only then is any body looked at. Each step
//! goes on after an error as far as it can, so that all are reported together.

mod apply;
mod arena;
mod check;
mod commands;
mod emit;
mod fields;
mod funcs;
mod merge;
mod modules;
mod names;
mod sigs;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use locus_core::{Diagnostic, Severity, Sources, Span};

use crate::ast;
use crate::model::{FieldId, FuncId, Model, SigId, builtin};
use crate::types::expr::{MacroId, Rx};
use crate::types::hierarchy::Hierarchy;
use crate::types::make::Checker;
use crate::{Loader, Reading};
use arena::Arena;
use modules::{Instance, Loaded, RawDecl, RawId, RawSig};

/// Steps that one paragraph may take.
const FUEL: u64 = 3_000_000;

/// Code of an error that follows from one reported already; never shown.
const REPORTED: &str = "reported";

/// Stands for an error that is reported elsewhere.
fn already_reported(span: Span) -> Diagnostic {
    Diagnostic::error(REPORTED, "").at(span)
}

/// The predicates, functions, macros and assertions of a module, by name.
#[derive(Debug, Default)]
struct Scope {
    funcs: HashMap<String, Vec<FuncId>>,
    macros: HashMap<String, MacroId>,
    asserts: HashMap<String, usize>,
}

#[derive(Debug)]
struct MacroDef {
    module: usize,
    name: String,
    params: Vec<String>,
    is_private: bool,
    ast: Rc<ast::Module>,
    paragraph: usize,
}

/// Where a function is declared; `None` for what the reader adds.
#[derive(Clone, Copy, Debug)]
struct FuncPlace {
    module: usize,
    paragraph: usize,
}

/// An assertion, checked or not yet.
#[derive(Debug)]
struct AssertDef {
    label: String,
    module: usize,
    span: Span,
    doc: Option<String>,
    place: AssertPlace,
    body: Option<Rx>,
}

#[derive(Clone, Copy, Debug)]
enum AssertPlace {
    Paragraph(usize),
}

/// A fact of a module.
#[derive(Debug)]
struct FactDef {
    label: String,
    span: Span,
    body: Rx,
}

/// Everything that is known while a model is read.
struct World<'a> {
    sources: &'a mut Sources,
    loader: &'a dyn Loader,
    diagnostics: Vec<Diagnostic>,
    /// What is wrong with the text of files; names and types are looked at all the same where that makes sense.
    syntax_errors: Vec<Diagnostic>,
    /// Whether something was not read that the rest needs to make sense.
    is_incomplete: bool,
    files: HashMap<String, Loaded>,
    instances: Arena<Instance>,
    raw_sigs: Arena<RawSig>,
    /// Signatures that must have exactly as many atoms as their scope says.
    exact_raw: Vec<RawId>,
    modules_are_final: bool,
    nameable_cache: HashMap<usize, Rc<Vec<usize>>>,
    /// All modules after merging, in the order of resolution.
    modules: Vec<usize>,
    /// The raw signature of each final id.
    sig_raws: Vec<RawId>,
    sig_order: Vec<SigId>,
    checker: Checker,
    scopes: HashMap<usize, Scope>,
    macros: Arena<MacroDef>,
    asserts: Arena<AssertDef>,
    func_places: Vec<FuncPlace>,
    func_bodies: Vec<Option<Rx>>,
    fields_by_name: HashMap<String, Vec<FieldId>>,
    field_bounds: Vec<Rx>,
    /// Names whose declaration has an error that is reported.
    broken_names: HashSet<String>,
    facts: Vec<FactDef>,
    /// Facts appended to signatures.
    appended: Vec<(SigId, Rx)>,
    model: Model,
}

/// Reads a model: the root file and everything it opens.
pub(crate) fn read(path: &str, text: &str, sources: &mut Sources, loader: &dyn Loader) -> Reading {
    let mut world = World {
        sources,
        loader,
        diagnostics: Vec::new(),
        syntax_errors: Vec::new(),
        is_incomplete: false,
        files: HashMap::new(),
        instances: Arena::default(),
        raw_sigs: Arena::default(),
        exact_raw: Vec::new(),
        modules_are_final: false,
        nameable_cache: HashMap::new(),
        modules: Vec::new(),
        sig_raws: Vec::new(),
        sig_order: Vec::new(),
        checker: Checker {
            hierarchy: Hierarchy::new(),
            fuel: FUEL,
            ..Checker::default()
        },
        scopes: HashMap::new(),
        macros: Arena::default(),
        asserts: Arena::default(),
        func_places: Vec::new(),
        func_bodies: Vec::new(),
        fields_by_name: HashMap::new(),
        field_bounds: Vec::new(),
        broken_names: HashSet::new(),
        facts: Vec::new(),
        appended: Vec::new(),
        model: Model::default(),
    };
    world.run(path, text);
    world.finish()
}

impl World<'_> {
    fn run(&mut self, path: &str, text: &str) {
        for (name, id) in [
            ("univ", builtin::UNIV),
            ("none", builtin::NONE),
            ("Int", builtin::INT),
            ("seq/Int", builtin::SEQ_INT),
            ("String", builtin::STRING),
        ] {
            self.raw_sigs.push(RawSig {
                module: 0,
                name: name.to_owned(),
                decl: RawDecl::Builtin,
                is_private: false,
                id,
            });
        }
        let Some(root) = self.load_all(path, text) else {
            return;
        };
        if self.is_incomplete || self.has_errors() {
            return;
        }
        let mut modules = self.reachable(root, false);
        self.resolve_params(&modules);
        if self.has_errors() {
            return;
        }
        self.merge_modules(&mut modules);
        self.modules = modules;
        self.modules_are_final = true;
        self.number_sigs(root);
        self.declare_scopes();
        if !self.resolve_sigs() {
            return;
        }
        self.resolve_fields(false);
        self.resolve_func_decls();
        self.resolve_fields(true);
        self.reject_name_clashes();
        self.resolve_bodies();
        self.resolve_commands(root);
    }

    fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    fn finish(mut self) -> Reading {
        let warnings = std::mem::take(&mut self.checker.warnings);
        // What the library does in its own modules is none of the user's business.
        let library: HashSet<_> = self
            .files
            .values()
            .filter(|loaded| crate::library::is_library_path(&loaded.path))
            .map(|loaded| loaded.ast.file)
            .collect();
        self.diagnostics
            .extend(warnings.into_iter().filter(|warning| {
                warning
                    .primary()
                    .is_none_or(|span| !library.contains(&span.file))
            }));
        self.diagnostics.append(&mut self.syntax_errors);
        self.diagnostics.retain(|d| d.code != REPORTED);
        let mut seen: Vec<Diagnostic> = Vec::new();
        let mut known: HashSet<(Option<Span>, String)> = HashSet::new();
        for mut diagnostic in std::mem::take(&mut self.diagnostics) {
            // One label for one place: the one that says something.
            if let [first, second, ..] = diagnostic.labels.as_slice()
                && first.message.is_empty()
                && first.span == second.span
            {
                diagnostic.labels.remove(0);
            }
            if known.insert((diagnostic.primary(), diagnostic.message.clone())) {
                seen.push(diagnostic);
            }
        }
        seen.sort_by_key(|d| d.primary().map(|span| (span.file, span.start)));
        self.diagnostics = seen;
        let model = (!self.has_errors()).then_some(self.model);
        Reading {
            model,
            diagnostics: self.diagnostics,
        }
    }

    /// Reports what is wrong with an expression; says whether it can be used.
    fn report(&mut self, x: &Rx) -> bool {
        match &x.errors {
            None => true,
            Some(errors) => {
                self.diagnostics.extend(errors.iter().cloned());
                false
            }
        }
    }

    /// Every paragraph may take so many steps.
    fn refuel(&mut self) {
        self.checker.fuel = FUEL;
    }
}
