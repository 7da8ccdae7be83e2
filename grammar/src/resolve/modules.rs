//! Modules: files found, parameters given, the same module opened twice made one.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use locus_core::{Diagnostic, Span, suggest};

use super::World;
use crate::ast::{self, ParagraphKind, Unread};
use crate::library;
use crate::model::{SigId, builtin};

/// A file chain longer than this is not followed.
const MAX_IMPORT_DEPTH: usize = 64;

/// More modules than this are not instantiated.
const MAX_INSTANCES: usize = 4_000;

/// A signature before modules are merged and ids are given.
pub(super) type RawId = usize;

/// A file that has been read.
#[derive(Clone, Debug)]
pub(super) struct Loaded {
    pub(super) path: String,
    pub(super) ast: Rc<ast::Module>,
    /// Something is wrong with it, which has been reported.
    pub(super) is_bad: bool,
}

/// A parameter of a module.
#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) name: String,
    pub(super) exact: bool,
    pub(super) value: Option<RawId>,
}

/// One `open`, connected.
#[derive(Clone, Debug)]
pub(super) struct OpenInst {
    pub(super) alias: String,
    pub(super) is_private: bool,
    pub(super) args: Vec<String>,
    pub(super) module_name: String,
    /// Where it is written; `None` when it is implied.
    pub(super) span: Option<Span>,
    pub(super) target: usize,
}

/// A file opened from one place, its parameters given.
#[derive(Debug)]
pub(super) struct Instance {
    /// The aliases that lead to it; empty for the root.
    pub(super) path: String,
    pub(super) file_path: String,
    pub(super) ast: Rc<ast::Module>,
    pub(super) params: Vec<Param>,
    pub(super) opens: Vec<OpenInst>,
    /// In the order of declaration.
    pub(super) sigs: Vec<(String, RawId)>,
    pub(super) sig_by_name: HashMap<String, RawId>,
}

/// Where a signature is declared.
#[derive(Clone, Copy, Debug)]
pub(super) enum RawDecl {
    Builtin,
    /// A parameter of the root module.
    Param(Span),
    Enum(usize),
    EnumValue(usize, usize, RawId),
    Sig(usize, usize),
}

/// A signature before it has its final id.
#[derive(Clone, Debug)]
pub(super) struct RawSig {
    pub(super) module: usize,
    pub(super) name: String,
    pub(super) decl: RawDecl,
    pub(super) is_private: bool,
    pub(super) id: SigId,
}

/// An `open` as written or implied, before it is connected.
struct Opening {
    alias: String,
    is_private: bool,
    args: Vec<String>,
    name: String,
    span: Option<Span>,
}

/// Whether a name can be an alias: letters first, then digits, `_` and `"` too.
fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '"')
}

impl World<'_> {
    /// Reads the root file and everything it opens.
    pub(super) fn load_all(&mut self, path: &str, text: &str) -> Option<usize> {
        let loaded = self.parse_file(path, text);
        let mut chain = HashSet::new();
        let root = self.instantiate(&loaded, String::new(), &mut chain, None)?;
        Some(root)
    }

    fn parse_file(&mut self, path: &str, text: &str) -> Loaded {
        if let Some(loaded) = self.files.get(path) {
            return loaded.clone();
        }
        let file = self.sources.add(path, text);
        let (ast, diagnostics) = crate::parse(file, &crate::model_text(path, text));
        // Without a fact the rest is what it was; without a predicate all but its name is; without a
        // signature, or with two predicates of that name, errors would follow that are none.
        let mut is_bad = false;
        for unread in &ast.unread {
            match unread {
                Unread::Statement => {}
                Unread::Named(name) => {
                    is_bad |= declares(&ast, name);
                    self.broken_names.insert(name.clone());
                }
                Unread::Declaration => is_bad = true,
            }
        }
        let loaded = Loaded {
            path: path.to_owned(),
            ast: Rc::new(ast),
            is_bad,
        };
        self.is_incomplete |= is_bad;
        self.syntax_errors.extend(diagnostics);
        self.files.insert(path.to_owned(), loaded.clone());
        loaded
    }

    /// The file that an `open` means: next to the file that opens it, then in the library.
    fn find_file(&mut self, importer: &Loaded, opening: &Opening) -> Option<Loaded> {
        let path = module_path(header_name(&importer.ast), &importer.path, &opening.name);
        if let Some(loaded) = self.files.get(&path) {
            return Some(loaded.clone());
        }
        if let Some(text) = self.loader.load(&path) {
            return Some(self.parse_file(&path, &text));
        }
        let document = Path::new(&path).with_extension("md").display().to_string();
        if let Some(text) = self.loader.load(&document) {
            return Some(self.parse_file(&document, &text));
        }
        if let Some(text) = library::source(&opening.name) {
            let path = format!("{}.als", opening.name);
            return Some(self.parse_file(&path, text));
        }
        let span = opening.span.unwrap_or(Span::start_of(importer.ast.file));
        let help = suggest::did_you_mean(&opening.name, library::names())
            .unwrap_or_else(|| format!("it was looked for at `{path}` and in the library"));
        self.diagnostics.push(
            Diagnostic::error(
                "module",
                format!("the module `{}` cannot be found", opening.name),
            )
            .at(span)
            .help(help),
        );
        None
    }

    fn instantiate(
        &mut self,
        loaded: &Loaded,
        path: String,
        chain: &mut HashSet<String>,
        opened_at: Option<Span>,
    ) -> Option<usize> {
        let complain = |message: String, help: &str| {
            let span = opened_at.unwrap_or(Span::start_of(loaded.ast.file));
            Diagnostic::error("module", message).at(span).help(help)
        };
        if chain.contains(&loaded.path) {
            self.diagnostics.push(complain(
                format!("the module `{}` opens itself", loaded.path),
                "two modules cannot open each other; move what both need into a third",
            ));
            return None;
        }
        if chain.len() >= MAX_IMPORT_DEPTH || self.instances.len() >= MAX_INSTANCES {
            self.diagnostics.push(complain(
                "too many modules open each other".to_owned(),
                "open fewer modules",
            ));
            return None;
        }
        let is_root = path.is_empty();
        let index = self.instances.push(Instance {
            path: path.clone(),
            file_path: loaded.path.clone(),
            ast: loaded.ast.clone(),
            params: Vec::new(),
            opens: Vec::new(),
            sigs: Vec::new(),
            sig_by_name: HashMap::new(),
        });
        if loaded.is_bad {
            return Some(index);
        }
        let openings = self.declare(index, is_root);
        chain.insert(loaded.path.clone());
        for opening in openings {
            let Some(file) = self.find_file(loaded, &opening) else {
                continue;
            };
            let inner = if is_root {
                opening.alias.clone()
            } else {
                format!("{path}/{}", opening.alias)
            };
            let span = opening.span.or(opened_at);
            if let Some(target) = self.instantiate(&file, inner, chain, span) {
                self.instances[index].opens.push(OpenInst {
                    alias: opening.alias,
                    is_private: opening.is_private,
                    args: opening.args,
                    module_name: opening.name,
                    span: opening.span,
                    target,
                });
            }
        }
        chain.remove(&loaded.path);
        Some(index)
    }

    /// Enters the parameters and signatures of a module, and lists what it opens.
    fn declare(&mut self, index: usize, is_root: bool) -> Vec<Opening> {
        let ast = self.instances[index].ast.clone();
        let mut openings: Vec<Opening> = Vec::new();
        let integer = "util/integer";
        if !self.instances[index]
            .file_path
            .ends_with("util/integer.als")
        {
            openings.push(Opening {
                alias: "integer".to_owned(),
                is_private: false,
                args: Vec::new(),
                name: integer.to_owned(),
                span: None,
            });
        }
        let mut seen_header = false;
        let mut seen_other = false;
        for (at, paragraph) in ast.paragraphs.iter().enumerate() {
            match &paragraph.kind {
                ParagraphKind::Header(header) => {
                    if seen_header || seen_other {
                        self.diagnostics.push(
                            Diagnostic::error("syntax", "`module` must come first and only once")
                                .at(paragraph.span)
                                .help("move it to the top of the file"),
                        );
                        continue;
                    }
                    seen_header = true;
                    self.declare_params(index, header, is_root);
                }
                ParagraphKind::Open(open) => {
                    if seen_other {
                        self.diagnostics.push(
                            Diagnostic::error("syntax", "`open` must come before other paragraphs")
                                .at(paragraph.span)
                                .help("move it up, right after `module`"),
                        );
                    }
                    self.add_opening(&mut openings, open, paragraph.span);
                }
                ParagraphKind::Enum(e) => {
                    seen_other = true;
                    let whole = self.declare_sig(index, &e.name, RawDecl::Enum(at), e.is_private);
                    if let Some(whole) = whole {
                        for (value, name) in e.values.iter().enumerate() {
                            let decl = RawDecl::EnumValue(at, value, whole);
                            self.declare_sig(index, name, decl, e.is_private);
                        }
                    }
                    let alias = format!("open${}", openings.len() + 1);
                    openings.push(Opening {
                        alias,
                        is_private: false,
                        args: vec![format!("this/{}", e.name.text)],
                        name: "util/ordering".to_owned(),
                        span: None,
                    });
                }
                ParagraphKind::Sig(sig) => {
                    seen_other = true;
                    for (number, name) in sig.names.iter().enumerate() {
                        let decl = RawDecl::Sig(at, number);
                        self.declare_sig(index, name, decl, sig.is_private);
                    }
                }
                _ => seen_other = true,
            }
            if uses_seq(&paragraph.kind) && openings.iter().all(|open| open.alias != "seq") {
                openings.push(Opening {
                    alias: "seq".to_owned(),
                    is_private: false,
                    args: Vec::new(),
                    name: "util/sequniv".to_owned(),
                    span: None,
                });
            }
        }
        rename_openings(&mut openings);
        openings
    }

    fn declare_params(&mut self, index: usize, header: &ast::Header, is_root: bool) {
        for (name, exact) in &header.params {
            if is_root {
                let raw = self.declare_sig(index, name, RawDecl::Param(name.span), false);
                if let (Some(raw), true) = (raw, *exact) {
                    self.exact_raw.push(raw);
                }
            } else {
                self.instances[index].params.push(Param {
                    name: name.text.clone(),
                    exact: *exact,
                    value: None,
                });
            }
        }
    }

    fn declare_sig(
        &mut self,
        index: usize,
        name: &ast::Name,
        decl: RawDecl,
        is_private: bool,
    ) -> Option<RawId> {
        if let Some(bad) = ['/', '$'].into_iter().find(|bad| name.text.contains(*bad)) {
            self.diagnostics.push(
                Diagnostic::error(
                    "name",
                    format!("the new name `{}` contains `{bad}`", name.text),
                )
                .at(name.span)
                .help("use letters, digits and `_`"),
            );
            return None;
        }
        let instance = &self.instances[index];
        let clash = instance.sig_by_name.get(&name.text).copied();
        let is_param = instance.params.iter().any(|param| param.name == name.text);
        if clash.is_some() || is_param {
            let message = format!("`{}` is declared twice in this module", name.text);
            let mut error = Diagnostic::error("name", message)
                .at(name.span)
                .help("rename one of them");
            if let Some(span) = clash.and_then(|raw| self.raw_span(raw)) {
                error = error.related(span, "first declared here");
            }
            self.diagnostics.push(error);
            return None;
        }
        let raw = self.raw_sigs.push(RawSig {
            module: index,
            name: name.text.clone(),
            decl,
            is_private,
            id: builtin::NONE,
        });
        let instance = &mut self.instances[index];
        instance.sigs.push((name.text.clone(), raw));
        instance.sig_by_name.insert(name.text.clone(), raw);
        Some(raw)
    }

    /// Where a signature is named.
    pub(super) fn raw_span(&self, raw: RawId) -> Option<Span> {
        let sig = &self.raw_sigs[raw];
        let ast = &self.instances[sig.module].ast;
        let paragraph = |at: usize| ast.paragraphs.get(at).map(|paragraph| &paragraph.kind);
        match sig.decl {
            RawDecl::Builtin => None,
            RawDecl::Param(span) => Some(span),
            RawDecl::Enum(at) => match paragraph(at)? {
                ParagraphKind::Enum(e) => Some(e.name.span),
                _ => None,
            },
            RawDecl::EnumValue(at, value, _) => match paragraph(at)? {
                ParagraphKind::Enum(e) => e.values.get(value).map(|name| name.span),
                _ => None,
            },
            RawDecl::Sig(at, number) => match paragraph(at)? {
                ParagraphKind::Sig(sig) => sig.names.get(number).map(|name| name.span),
                _ => None,
            },
        }
    }

    fn add_opening(&mut self, openings: &mut Vec<Opening>, open: &ast::Open, span: Span) {
        let args: Vec<String> = open.args.iter().map(|arg| arg.text.clone()).collect();
        let alias = match &open.alias {
            Some(alias) => {
                if alias.text.contains(['/', '$']) {
                    self.diagnostics.push(
                        Diagnostic::error("name", format!("`{}` cannot be an alias", alias.text))
                            .at(alias.span)
                            .help("use letters, digits and `_`"),
                    );
                }
                alias.text.clone()
            }
            None if args.is_empty() && is_plain(&open.name.text) => open.name.text.clone(),
            None => format!("open${}", openings.len() + 1),
        };
        if let Some(other) = openings.iter().find(|other| other.alias == alias) {
            if other.args != args || other.name != open.name.text {
                let mut error = Diagnostic::error(
                    "module",
                    format!("two different modules are opened as `{alias}`"),
                )
                .at(span)
                .help("give one of them another name with `as`");
                if let Some(span) = other.span {
                    error = error.related(span, "the other one");
                }
                self.diagnostics.push(error);
            }
            return;
        }
        openings.push(Opening {
            alias,
            is_private: open.is_private,
            args,
            name: open.name.text.clone(),
            span: Some(span),
        });
    }
}

/// Whether a raw id is one of the built-in signatures, which come first.
pub(super) fn is_builtin(raw: RawId) -> bool {
    raw < builtin::COUNT
}

/// The name in the `module` line.
fn header_name(ast: &ast::Module) -> Option<&str> {
    ast.paragraphs
        .iter()
        .find_map(|paragraph| match &paragraph.kind {
            ParagraphKind::Header(header) => Some(header.name.text.as_str()),
            _ => None,
        })
}

/// An `open` without an alias is known by the last part of its name, if no other is.
fn rename_openings(openings: &mut [Opening]) {
    let given: HashSet<String> = openings.iter().map(|open| open.alias.clone()).collect();
    let mut taken: HashSet<String> = HashSet::new();
    for open in openings.iter_mut() {
        if open.alias.contains('$') {
            let base = open.name.rsplit('/').next().unwrap_or(&open.name);
            if !given.contains(base) && !taken.contains(base) && is_plain(base) {
                open.alias = base.to_owned();
            }
        }
        taken.insert(open.alias.clone());
    }
}

/// The path of a module opened from a file, given the module name the file says it has.
///
/// The name tells how far the root of all modules is above the file: `module a/b` in `x/a/b.als` means
/// that `open c/d` is `x/c/d.als`. Directories that both names start with count as reached.
fn module_path(importer_name: Option<&str>, importer_path: &str, opened: &str) -> String {
    let mut a: Vec<&str> = importer_name.unwrap_or("anything").split('/').collect();
    let mut b: Vec<&str> = opened.split('/').collect();
    while a.len() > 1 && b.len() > 1 && a.first() == b.first() {
        a.remove(0);
        b.remove(0);
    }
    let mut dirs: Vec<&str> = importer_path.split(['/', '\\']).collect();
    for _ in &a {
        match dirs.last() {
            Some(&"..") | None => dirs.push(".."),
            Some(&"") => {}
            Some(&".") => {
                dirs.pop();
                dirs.push("..");
            }
            Some(_) => {
                dirs.pop();
            }
        }
    }
    dirs.extend(b);
    format!("{}.als", dirs.join("/"))
}

/// Whether a predicate, function, assertion or field of this name was read.
fn declares(module: &ast::Module, name: &str) -> bool {
    let names = |names: &[ast::Name]| names.iter().any(|other| other.text == name);
    module
        .paragraphs
        .iter()
        .any(|paragraph| match &paragraph.kind {
            ParagraphKind::Func(func) => func.name.text == name,
            ParagraphKind::Assert(named) => {
                named.name.as_ref().is_some_and(|other| other.text == name)
            }
            ParagraphKind::Sig(sig) => sig.fields.iter().any(|field| names(&field.names)),
            _ => false,
        })
}

/// Whether a paragraph uses `seq` as a multiplicity, which opens `util/sequniv` as `seq`.
fn uses_seq(kind: &ParagraphKind) -> bool {
    let decls = |decls: &[ast::Decl]| decls.iter().any(|decl| decl.bound.uses_seq());
    match kind {
        ParagraphKind::Sig(sig) => {
            decls(&sig.fields) || sig.fact.as_ref().is_some_and(ast::Expr::uses_seq)
        }
        ParagraphKind::Fact(named) | ParagraphKind::Assert(named) => named.body.uses_seq(),
        ParagraphKind::Func(func) => {
            decls(&func.params)
                || func.result.as_ref().is_some_and(ast::Expr::uses_seq)
                || func.body.uses_seq()
        }
        ParagraphKind::Macro(m) => m.body.uses_seq(),
        ParagraphKind::Command(commands) => commands.iter().any(|command| match &command.target {
            ast::Target::Block(block) => block.uses_seq(),
            ast::Target::Name(_) => false,
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::module_path;

    #[test]
    fn a_module_is_found_from_the_root_that_the_header_implies() {
        assert_eq!(module_path(None, "m/a.als", "b"), "m/b.als");
        assert_eq!(module_path(Some("a"), "m/a.als", "sub/b"), "m/sub/b.als");
        assert_eq!(module_path(Some("x/a"), "m/x/a.als", "y/b"), "m/y/b.als");
        assert_eq!(module_path(Some("x/a"), "m/x/a.als", "x/b"), "m/x/b.als");
        assert_eq!(module_path(Some("x/a"), "a.als", "y/b"), "../y/b.als");
        assert_eq!(module_path(None, "a.als", "b"), "b.als");
        assert_eq!(module_path(None, "/a.als", "b"), "/b.als");
    }
}
