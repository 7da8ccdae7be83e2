//! The files of a library as a program.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use locus_core::{Diagnostic, Sources};
use locus_grammar::Loader;
use locus_grammar::model::{ExprKind, Model, UnaryOp};

use crate::doc::Rule;
use crate::library::Library;
use crate::logic::{Plan, QueryId, RelationId};
use crate::program::{Program, RelationKind, RuleProgram};
use crate::template::Template;
use crate::violation::Violation;
use locus_core::vocabulary::{Sig, Vocabulary};

/// Rules that could be compiled, and what is wrong with the others.
#[derive(Debug, Default)]
pub struct Compiled {
    /// The rules.
    pub program: Program,
    /// What is wrong with those that are not among them.
    pub diagnostics: Vec<Diagnostic>,
}

/// What opened modules are: files of the library, or the vocabulary of the language.
struct Files<'a> {
    library: &'a Library,
    vocabulary: Vec<(String, String)>,
}

impl Loader for Files<'_> {
    fn load(&self, path: &str) -> Option<String> {
        let module = path.strip_suffix(".als").unwrap_or(path);
        let mut vocabulary = self.vocabulary.iter();
        let declared = vocabulary.find(|(name, _)| {
            module
                .strip_suffix(name.as_str())
                .is_some_and(|before| before.is_empty() || before.ends_with('/'))
        });
        if let Some((_, text)) = declared {
            return Some(text.clone());
        }
        self.library.module(path).map(|source| source.text.clone())
    }
}

/// The name of the text that opens all files with rules.
const ROOT: &str = "rules.als";

/// The words of a text that may be names.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\''))
        .filter(|word| !word.is_empty())
}

impl Program {
    /// Compiles the rules of a library that are about one language.
    pub fn compile(library: &Library, vocabulary: &Vocabulary, sources: &mut Sources) -> Compiled {
        let language = vocabulary.language();
        let rules: Vec<&Rule> = library
            .rules()
            .iter()
            .filter(|rule| rule.language == language)
            .collect();
        let relevant = library.relevant(language);
        let mentioned: BTreeSet<&str> = relevant.flat_map(|source| words(&source.text)).collect();
        let sigs = vocabulary.reachable(&mentioned);
        let mut root = String::new();
        let mut modules: Vec<&str> = Vec::new();
        for rule in &rules {
            if !modules.contains(&rule.module.as_str()) {
                let _ = writeln!(root, "open {} as m{}", rule.module, modules.len());
                modules.push(&rule.module);
            }
        }
        for rule in &rules {
            let at = modules.iter().position(|module| *module == rule.module);
            let _ = writeln!(root, "check m{}/{}", at.unwrap_or(0), rule.assertion);
        }
        let files = Files {
            library,
            vocabulary: vocabulary.modules(&sigs),
        };
        let reading = locus_grammar::read(ROOT, &root, sources, &files);
        let mut compiled = Compiled {
            program: Program::default(),
            diagnostics: reading.diagnostics,
        };
        // That a rule is not there follows from what is wrong with its file; nobody has written the one that opens it.
        let is_echo = |problem: &Diagnostic| {
            let at = problem.primary();
            at.is_some_and(|span| sources.name(span.file) == ROOT)
        };
        if !compiled.diagnostics.iter().all(is_echo) {
            compiled.diagnostics.retain(|problem| !is_echo(problem));
        }
        if let Some(model) = reading.model {
            for (rule, command) in rules.iter().zip(&model.commands) {
                compiled.add(&model, rule, &command.formula);
            }
        }
        compiled.add_fields_of_messages(&sigs);
        compiled.find_origins(vocabulary, &sigs, &mentioned);
        let program = &mut compiled.program;
        let relations = &program.relations;
        let listed = |id: RelationId| {
            relations
                .get(id.index())
                .is_none_or(|entry| match entry.kind {
                    RelationKind::Builtin(builtin) => builtin.is_function(),
                    _ => true,
                })
        };
        program.plans = (0..program.terms.query_count())
            .map(|at| QueryId(u32::try_from(at).unwrap_or(u32::MAX)))
            .map(|query| Plan::new(&program.terms, program.terms.query(query), &listed))
            .collect();
        compiled
    }
}

impl Compiled {
    fn add(&mut self, model: &Model, rule: &Rule, negated: &locus_grammar::model::Expr) {
        let ExprKind::Unary(UnaryOp::Not, claim) = &negated.kind else {
            let message = format!("`{}` is not an assertion", rule.assertion);
            self.diagnostics
                .push(Diagnostic::error("rule", message).at(rule.span));
            return;
        };
        let violation = match Violation::of(claim, model, &mut self.program) {
            Ok(violation) => violation,
            Err(refusal) => {
                self.diagnostics.push(*refusal);
                return;
            }
        };
        let terms = &mut self.program.terms;
        let body = terms.and(violation.conjuncts);
        let query = terms.make_query(violation.decls, body);
        let names: Vec<&str> = match query {
            Some(query) => {
                let decls = &terms.query(query).decls;
                decls.iter().map(|&(var, _)| terms.var_name(var)).collect()
            }
            None => Vec::new(),
        };
        let unknown = holes(rule)
            .into_iter()
            .find(|start| !names.contains(start) && !start.starts_with(char::is_uppercase));
        if let (Some(start), true) = (unknown, query.is_some()) {
            let message = format!(
                "`{{{start}}}` in the message of {} is not a variable of the rule",
                rule.id
            );
            self.diagnostics
                .push(Diagnostic::error("rule", message).at(rule.span));
        }
        self.program.rules.push(RuleProgram {
            rule: rule.clone(),
            query,
            anchors: violation.anchors,
            disjoint: violation.disjoint,
        });
    }

    /// Fields and signatures that only messages mention.
    fn add_fields_of_messages(&mut self, declared: &[Sig]) {
        let mut fields: BTreeSet<String> = BTreeSet::new();
        let mut sigs: BTreeSet<String> = BTreeSet::new();
        for program in &self.program.rules {
            let rule = &program.rule;
            for template in rule.templates() {
                fields.extend(template.fields().map(str::to_owned));
                sigs.extend(template.paths().map(|path| path.start.clone()));
            }
            for path in rule.paths() {
                fields.extend(path.fields.iter().cloned());
            }
            fields.extend(rule.flow.iter().map(|(_, field)| field.clone()));
        }
        for sig in declared {
            if sigs.contains(&*sig.name) {
                self.program
                    .relation(RelationKind::Sig(sig.name.to_string()), 1);
            }
            for field in &sig.fields {
                if fields.contains(&*field.name) {
                    let kind = RelationKind::Field {
                        sig: sig.name.to_string(),
                        name: field.name.to_string(),
                    };
                    self.program.relation(kind, field.columns.len() + 1);
                }
            }
        }
    }
}

/// The variables that the messages of a rule mention.
fn holes(rule: &Rule) -> Vec<&str> {
    let templates = rule.templates().flat_map(Template::paths);
    let all = templates.chain(rule.paths());
    all.map(|path| path.start.as_str()).collect()
}
