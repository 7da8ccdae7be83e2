//! Models and rules: what a file says, where its names are declared and used.

use std::collections::HashMap;
use std::path::Path;

use locus_core::{Diagnostic, FileId, Sources, Span};
use locus_frontends::loader::Loader as _;
use locus_grammar::ast::{Module, ParagraphKind, Target};
use locus_grammar::model::{Decl, Expr, ExprKind, Model, SigKind, Type};
use locus_invariants::rules::Source;
use locus_invariants::{OwnRules, models};

use super::Snapshot;
use super::check::watched;
use super::files::Traced;

/// A model as it was read.
#[derive(Clone, Debug)]
pub struct ModelReport {
    /// The file itself and what it opens.
    pub sources: Sources,
    /// The file.
    pub file: FileId,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
    /// The paths that were read, or looked for.
    pub watched: Vec<String>,
    /// What the file says, as far as it can be read.
    pub module: Module,
    /// The resolved model; absent when there is an error, and for rules, whose names a language gives.
    pub model: Option<Model>,
    /// Everything that a name stands for, where it is declared and where it is used.
    pub names: Vec<NamedHere>,
}

/// What a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A signature.
    Sig,
    /// A field.
    Field,
    /// A predicate.
    Pred,
    /// A function.
    Fun,
    /// A variable.
    Var,
    /// An assertion.
    Assertion,
    /// A fact.
    Fact,
    /// A `run` or `check`.
    Command,
}

/// Something with a name.
#[derive(Clone, Debug)]
pub struct NamedHere {
    /// Its name as written.
    pub name: String,
    /// What it is.
    pub kind: NameKind,
    /// The name where it is declared; empty when it has none there.
    pub declared: Span,
    /// The name where it is used.
    pub uses: Vec<Span>,
    /// Its declaration in one line, with its type.
    pub shown: String,
    /// Its doc comment.
    pub doc: Option<String>,
}

impl Snapshot {
    /// Reads a model, and what it opens.
    pub fn model(&self, path: &str) -> ModelReport {
        let traced = Traced::new(&self.files);
        let mut sources = Sources::new();
        let (text, refused) = match traced.load(path) {
            Ok(bytes) => match locus_core::decode(&bytes) {
                Ok(text) => (text.into_owned(), None),
                Err(refused) => (refused.shown.clone(), Some(refused)),
            },
            Err(_) => (String::new(), None),
        };
        let rules = is_rules(path, &text);
        let (model, mut diagnostics) = match &rules {
            Some(wrong) => (None, wrong.clone()),
            None => {
                let loader = Opened { traced: &traced };
                let reading = locus_grammar::read(path, &text, &mut sources, &loader);
                (reading.model, reading.diagnostics)
            }
        };
        let mut files = sources.files();
        let file = files.find(|&file| sources.name(file) == path);
        let file = file.unwrap_or_else(|| sources.add(path, text.as_str()));
        if let Some(refused) = refused {
            diagnostics.push(refused.diagnostic(file));
        }
        let (module, unread) = locus_grammar::parse(file, &locus_grammar::model_text(path, &text));
        if rules.is_some() {
            diagnostics.extend(unread);
        }
        let mut names = Names::default();
        if let Some(model) = &model {
            names.model(model, &sources);
        }
        names.module(&module, model.as_ref());
        ModelReport {
            file,
            diagnostics,
            watched: watched(&traced.into_trace()),
            module,
            model,
            names: names.all,
            sources,
        }
    }
}

/// What a model opens: files, then the models that come with the program.
struct Opened<'a> {
    traced: &'a Traced<'a>,
}

impl locus_grammar::Loader for Opened<'_> {
    fn load(&self, path: &str) -> Option<String> {
        match self.traced.load(path) {
            Ok(bytes) => Some(match locus_core::decode(&bytes) {
                Ok(text) => text.into_owned(),
                Err(refused) => refused.shown,
            }),
            Err(_) => models::Loader.load(path),
        }
    }
}

/// What is wrong with the doc comments of rules; none when the file states no rule. The names in rules are those of a
/// language, so they are not resolved as in a model.
fn is_rules(path: &str, text: &str) -> Option<Vec<Diagnostic>> {
    let stem = Path::new(path).file_stem().unwrap_or_default();
    let source = Source {
        module: format!("own/{}", stem.to_string_lossy()),
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let (own, wrong) = OwnRules::read(vec![source], &mut Sources::new());
    (!own.rules().is_empty()).then_some(wrong)
}

impl ModelReport {
    /// What the name at a place stands for.
    pub fn at(&self, offset: usize) -> Option<&NamedHere> {
        let here = |span: &Span| {
            let (start, end) = (span.start as usize, span.end as usize);
            span.file == self.file && start <= offset && offset <= end && start < end
        };
        let mut names = self.names.iter();
        names.find(|name| here(&name.declared) || name.uses.iter().any(here))
    }

    /// The innermost expression at a place, with its type in words.
    pub fn type_at(&self, offset: usize) -> Option<(Span, String)> {
        let model = self.model.as_ref()?;
        let mut best: Option<(Span, String)> = None;
        let mut look = |expr: &Expr| {
            let span = expr.span;
            let covers = span.file == self.file
                && span.start as usize <= offset
                && offset <= span.end as usize
                && !span.is_empty();
            if covers
                && best
                    .as_ref()
                    .is_none_or(|(known, _)| span.len() < known.len())
            {
                best = Some((span, shown_type(model, &expr.ty)));
            }
        };
        for_each_expr(model, &mut look);
        best
    }
}

/// Everything that has a name, by what it is and where it is declared.
#[derive(Default)]
struct Names {
    all: Vec<NamedHere>,
    by_place: HashMap<(Span, String), usize>,
}

impl Names {
    fn declare(&mut self, named: NamedHere) -> usize {
        let key = (named.declared, named.name.clone());
        let at = self.all.len();
        let known = *self.by_place.entry(key).or_insert(at);
        if known == at {
            self.all.push(named);
        }
        known
    }

    fn used(&mut self, at: Option<usize>, span: Option<Span>) {
        if let Some(named) = at.and_then(|at| self.all.get_mut(at))
            && let Some(span) = span
            && span != named.declared
            && !named.uses.contains(&span)
        {
            named.uses.push(span);
        }
    }

    fn model(&mut self, model: &Model, sources: &Sources) {
        let new = |name: &str, kind, declared, shown, doc| NamedHere {
            name: name.to_owned(),
            kind,
            declared,
            uses: Vec::new(),
            shown,
            doc,
        };
        let sigs: Vec<Option<usize>> = model
            .sigs
            .iter()
            .map(|sig| {
                let builtin = sig.kind == SigKind::Builtin;
                let kind = if sig.is_enum { "enum" } else { "sig" };
                let shown = format!("{kind} {}", sig.label.trim_start_matches("this/"));
                let name = last(&sig.label);
                let named = new(name, NameKind::Sig, sig.span, shown, sig.doc.clone());
                (!builtin).then(|| self.declare(named))
            })
            .collect();
        let fields: Vec<usize> = model
            .fields
            .iter()
            .map(|field| {
                let shown = format!("{}: {}", field.name, shown_type(model, &field.ty));
                self.declare(new(&field.name, NameKind::Field, field.span, shown, None))
            })
            .collect();
        let funcs: Vec<usize> = model
            .funcs
            .iter()
            .map(|func| {
                let kind = if func.is_pred {
                    NameKind::Pred
                } else {
                    NameKind::Fun
                };
                let params = func.params.iter().flat_map(|decl| {
                    let ty = shown_type(model, &decl.bound.ty);
                    decl.vars
                        .iter()
                        .map(move |&var| format!("{}: {ty}", model.var(var).name))
                });
                let params = params.collect::<Vec<_>>().join(", ");
                let word = if func.is_pred { "pred" } else { "fun" };
                let mut shown = format!("{word} {}[{params}]", last(&func.label));
                if let Some(result) = &func.result {
                    shown.push_str(&format!(": {}", shown_type(model, &result.ty)));
                }
                self.declare(new(last(&func.label), kind, func.span, shown, None))
            })
            .collect();
        let vars: Vec<usize> = model
            .vars
            .iter()
            .map(|var| {
                let shown = format!("{}: {}", var.name, shown_type(model, &var.ty));
                self.declare(new(&var.name, NameKind::Var, var.span, shown, None))
            })
            .collect();
        for one in &model.assertions {
            let (name, shown) = (last(&one.label), format!("assert {}", last(&one.label)));
            let doc = one.doc.clone();
            self.declare(new(name, NameKind::Assertion, one.span, shown, doc));
        }
        let mut uses: Vec<(Option<usize>, Option<Span>)> = Vec::new();
        for_each_expr(model, &mut |expr| {
            let (at, name) = match &expr.kind {
                ExprKind::Sig(id) => (
                    sigs.get(id.index()).copied().flatten(),
                    last(&model.sig(*id).label),
                ),
                ExprKind::Field(id) => (
                    fields.get(id.index()).copied(),
                    model.field(*id).name.as_str(),
                ),
                ExprKind::Var(id) => (vars.get(id.index()).copied(), model.var(*id).name.as_str()),
                ExprKind::Call { func, .. } => (
                    funcs.get(func.index()).copied(),
                    last(&model.func(*func).label),
                ),
                _ => return,
            };
            uses.push((at, word_in(sources, expr.span, name)));
        });
        for command in &model.commands {
            for scope in &command.scopes {
                let name = last(&model.sig(scope.sig).label);
                let at = sigs.get(scope.sig.index()).copied().flatten();
                uses.push((at, word_in(sources, scope.span, name)));
            }
        }
        for (at, span) in uses {
            self.used(at, span);
        }
    }

    /// What only the text tells: facts, commands, the parents of signatures, and all names when nothing is resolved.
    fn module(&mut self, module: &Module, model: Option<&Model>) {
        let new = |name: &str, kind, declared, shown: String| NamedHere {
            name: name.to_owned(),
            kind,
            declared,
            uses: Vec::new(),
            shown,
            doc: None,
        };
        let mut mentions: Vec<(&str, Span)> = Vec::new();
        for paragraph in &module.paragraphs {
            match &paragraph.kind {
                ParagraphKind::Sig(sig) => {
                    for name in &sig.names {
                        let shown = format!("sig {}", name.text);
                        self.declare(new(&name.text, NameKind::Sig, name.span, shown));
                    }
                    use locus_grammar::ast::SigParent;
                    match &sig.parent {
                        SigParent::None => {}
                        SigParent::Extends(name) => mentions.push((&name.text, name.span)),
                        SigParent::In(names) | SigParent::Equals(names) => {
                            mentions.extend(names.iter().map(|n| (n.text.as_str(), n.span)));
                        }
                    }
                    for field in sig.fields.iter().flat_map(|decl| &decl.names) {
                        let shown = field.text.clone();
                        self.declare(new(&field.text, NameKind::Field, field.span, shown));
                    }
                }
                ParagraphKind::Enum(one) => {
                    for name in std::iter::once(&one.name).chain(&one.values) {
                        let shown = format!("enum {}", name.text);
                        self.declare(new(&name.text, NameKind::Sig, name.span, shown));
                    }
                }
                ParagraphKind::Func(func) => {
                    let (kind, word) = match func.result {
                        None => (NameKind::Pred, "pred"),
                        Some(_) => (NameKind::Fun, "fun"),
                    };
                    let shown = format!("{word} {}", func.name.text);
                    self.declare(new(&func.name.text, kind, func.name.span, shown));
                    mentions.extend(func.receiver.iter().map(|n| (n.text.as_str(), n.span)));
                }
                ParagraphKind::Assert(one) => {
                    if let Some(name) = &one.name {
                        let shown = format!("assert {}", name.text);
                        self.declare(new(&name.text, NameKind::Assertion, name.span, shown));
                    }
                }
                ParagraphKind::Fact(one) => {
                    if let Some(name) = &one.name {
                        let shown = format!("fact {}", name.text);
                        self.declare(new(&name.text, NameKind::Fact, name.span, shown));
                    }
                }
                ParagraphKind::Command(commands) => {
                    for command in commands {
                        if let Target::Name(name) = &command.target {
                            mentions.push((&name.text, name.span));
                        }
                    }
                }
                ParagraphKind::Header(_) | ParagraphKind::Open(_) | ParagraphKind::Macro(_) => {}
            }
        }
        let _ = model;
        for (name, span) in mentions {
            let name = last(name);
            let same = |one: &NamedHere| {
                one.name == name
                    && one.declared.file == span.file
                    && !matches!(one.kind, NameKind::Var | NameKind::Field)
            };
            let at = self.all.iter().position(same);
            // Of a qualified name, the last part is the name.
            let start = (span.end as usize).saturating_sub(name.len());
            self.used(at, Some(Span::new(span.file, start, span.end as usize)));
        }
    }
}

/// The last part of a qualified name.
fn last(label: &str) -> &str {
    label.rsplit('/').next().unwrap_or(label)
}

/// Where a name stands within a span: by itself, or as a word of it.
fn word_in(sources: &Sources, span: Span, name: &str) -> Option<Span> {
    let text = sources.snippet(span);
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '\'' || c == '"';
    let found = text.match_indices(name).find(|(at, _)| {
        let before = text.get(..*at).and_then(|t| t.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    });
    let (at, _) = found?;
    let start = span.start as usize + at;
    Some(Span::new(span.file, start, start + name.len()))
}

/// A type in the words of a model.
pub(super) fn shown_type(model: &Model, ty: &Type) -> String {
    if ty.is_bool {
        return "a formula".to_owned();
    }
    let products = ty.products.iter().map(|product| {
        let sigs = product
            .iter()
            .map(|&sig| model.sig(sig).label.trim_start_matches("this/"));
        sigs.collect::<Vec<_>>().join(" -> ")
    });
    let mut all: Vec<String> = products.collect();
    if ty.is_int {
        all.push("Int".to_owned());
    }
    match all.is_empty() {
        true => "none".to_owned(),
        false => all.join(" + "),
    }
}

/// Calls a function for every expression of a model.
pub(super) fn for_each_expr(model: &Model, call: &mut impl FnMut(&Expr)) {
    for sig in &model.sigs {
        sig.facts.iter().for_each(|fact| visit(fact, call));
    }
    for field in &model.fields {
        visit(&field.bound, call);
    }
    for func in &model.funcs {
        func.params.iter().for_each(|decl| visit_decl(decl, call));
        func.result.iter().for_each(|result| visit(result, call));
        visit(&func.body, call);
    }
    model.facts.iter().for_each(|fact| visit(&fact.body, call));
    for one in &model.assertions {
        visit(&one.body, call);
    }
    for command in &model.commands {
        visit(&command.formula, call);
    }
}

fn visit_decl(decl: &Decl, call: &mut impl FnMut(&Expr)) {
    visit(&decl.bound, call);
}

/// Deep models nest deeply, so this does not recurse.
fn visit(expr: &Expr, call: &mut impl FnMut(&Expr)) {
    let mut waiting = vec![expr];
    while let Some(expr) = waiting.pop() {
        call(expr);
        match &expr.kind {
            ExprKind::Sig(_) | ExprKind::Field(_) | ExprKind::Var(_) | ExprKind::Const(_) => {}
            ExprKind::Unary(_, one) => waiting.push(one),
            ExprKind::Binary(_, a, b) => waiting.extend([&**a, &**b]),
            ExprKind::List(_, all) => waiting.extend(all),
            ExprKind::Ite(a, b, c) => waiting.extend([&**a, &**b, &**c]),
            ExprKind::Let { value, body, .. } => waiting.extend([&**value, &**body]),
            ExprKind::Quant { decls, body, .. } => {
                waiting.extend(decls.iter().map(|decl| &decl.bound));
                waiting.push(body);
            }
            ExprKind::Call { args, .. } => waiting.extend(args),
        }
    }
}
