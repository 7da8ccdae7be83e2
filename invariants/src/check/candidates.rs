//! What may break a rule for some input, and the symbols that decide it.

use std::ops::ControlFlow;

use locus_core::diagnostic::Verdict;
use locus_core::value::{SymbolId, Value};
use locus_core::{Diagnostic, LocationGraph, Span};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::populate::populate;
use super::report::{Binding, Reporter};
use super::run::{ALONE, Checker, Configuration, Options, identity};
use crate::engine::{Atom, Database, Evaluator, Search, Shared, Slots, Touched, Tri};
use crate::rules::{Program, RuleProgram};

/// Things that break a rule for some inputs, unless they do so for none.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// What would be reported.
    pub finding: Diagnostic,
    /// The symbols that decide it.
    pub depends: Vec<Dependence>,
    /// Where the same members are reported in the order of the text, when this is another order and both may break the
    /// rule.
    pub mirrors: Option<Span>,
}

/// A symbol that decides something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dependence {
    /// The symbol.
    pub symbol: SymbolId,
    /// Whether more matters than what it is equal to: its text or its size is looked at.
    pub opaque: bool,
}

/// All of them, and what symbols are compared with.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// What may break a rule for some input.
    pub list: Vec<Candidate>,
    /// Symbols, and values that rules compare them with.
    pub compared: Vec<(SymbolId, Value)>,
    /// Symbols, and values that decide together with them: an address and the block that it must be in.
    pub met: Vec<(SymbolId, Value)>,
    /// Symbols that rules compare with each other.
    pub linked: Vec<(SymbolId, SymbolId)>,
}

/// Candidates of one rule whose symbols are told apart; those of the others are taken together.
const APART: usize = 4096;

impl Checker {
    /// What may break a rule for some input of a configuration that was loaded for all inputs.
    pub fn candidates(
        &self,
        configuration: Configuration<'_>,
        options: &Options<'_>,
    ) -> Candidates {
        let graph = configuration.graph;
        let database = populate(self.program(), configuration, true);
        let slots = Slots::new(&self.program().terms);
        let enabled = self.enabled(options);
        let rules = self.program().rules.iter().zip(&enabled);
        let rules = rules.filter(|(_, enabled)| **enabled);
        let rules: Vec<&RuleProgram> = rules.map(|(rule, _)| rule).collect();
        let search = |rules: &[&RuleProgram]| {
            // What closed expressions depend on is noted by whoever computes them first, so all is asked of one.
            let shared = Shared::new(&slots);
            let Program { terms, plans, .. } = self.program();
            let mut evaluator = Evaluator::new(terms, plans, &database, &shared, options.budget);
            let mut found = Candidates::default();
            for rule in rules {
                let list = &mut found.list;
                self.of_rule(rule, &mut evaluator, &database, graph, options, list);
            }
            let symbols: Vec<SymbolId> = graph.symbols().map(|(id, _)| id).collect();
            let symbol = |at: u32| symbols.get(at as usize).copied();
            for (at, atom) in evaluator.compared() {
                let value = database.compared_as(atom).cloned();
                found.compared.extend(symbol(at).zip(value));
            }
            for (at, atom) in evaluator.met_with() {
                let value = database.compared_as(atom).cloned();
                found.met.extend(symbol(at).zip(value));
            }
            for (a, b) in evaluator.linked() {
                found.linked.extend(symbol(a).zip(symbol(b)));
            }
            found
        };
        if graph.len() < ALONE {
            return search(&rules);
        }
        let parts: Vec<Candidates> = rules.par_chunks(16).map(search).collect();
        let mut all = Candidates::default();
        for part in parts {
            all.list.extend(part.list);
            all.compared.extend(part.compared);
            all.met.extend(part.met);
            all.linked.extend(part.linked);
        }
        all
    }

    fn of_rule(
        &self,
        rule: &RuleProgram,
        evaluator: &mut Evaluator<'_>,
        database: &Database,
        graph: &LocationGraph,
        options: &Options<'_>,
        found: &mut Vec<Candidate>,
    ) {
        let Some(query) = rule.query else { return };
        if evaluator.is_hopeless(query) {
            return;
        }
        evaluator.restart(options.budget);
        let terms = &self.program().terms;
        // Of two orders of the same members, that of the text is reported where both break the rule.
        let mut known: FxHashSet<(Vec<Atom>, bool)> = FxHashSet::default();
        let mut open: Vec<(Binding, Vec<Atom>, bool)> = Vec::new();
        // Bindings that hold for every input are found by the plain check.
        let run = evaluator.run(query, Search::Complete, &mut |this, tri| {
            // That an input may be equal to a member of a set makes no second member of it.
            for &(var, range) in &terms.query(query).decls {
                let input = this.bound(var).filter(|&atom| database.is_symbol(atom));
                if let Some(atom) = input {
                    let set = this.expr(range)?;
                    if !set.open && !set.rows().any(|(row, _)| row == [atom]) {
                        return Ok(ControlFlow::Continue(()));
                    }
                }
            }
            if tri == Tri::Unknown {
                let decls = terms.query(query).decls.iter();
                let values = decls.filter_map(|&(var, _)| Some((var, this.bound(var)?)));
                let binding = Binding {
                    values: values.collect(),
                };
                let (key, ascending) = identity(rule, &binding);
                if known.insert((key.clone(), ascending)) {
                    open.push((binding, key, ascending));
                }
            }
            Ok(ControlFlow::Continue(()))
        });
        let reporter = Reporter {
            program: self.program(),
            database,
            texts: None,
        };
        let symbols: Vec<SymbolId> = graph.symbols().map(|(id, _)| id).collect();
        let dependence = |touched: Touched| {
            Some(Dependence {
                symbol: *symbols.get(touched.symbol as usize)?,
                opaque: touched.opaque,
            })
        };
        // Where each of those in the order of the text is reported, of which there is another order too.
        let mut first: FxHashMap<Vec<Atom>, Option<Span>> = FxHashMap::default();
        for (binding, key, ascending) in &open {
            if *ascending && known.contains(&(key.clone(), false)) {
                let place = reporter.finding(rule, binding).primary();
                first.insert(key.clone(), place);
            }
        }
        let given_up = run.is_err() || open.len() > APART;
        for (binding, key, ascending) in open.into_iter().take(APART) {
            let mirrors = match ascending {
                true => None,
                false => first.get(&key).copied().flatten(),
            };
            evaluator.restart(options.budget);
            let anchors = binding.values.iter().copied();
            let anchors = anchors.filter(|(var, _)| rule.anchors.contains(var));
            let depends = match evaluator.depends(query, anchors.collect()) {
                Ok(touched) => touched.into_iter().filter_map(dependence).collect(),
                Err(_) => everything(&symbols),
            };
            let mut finding = reporter.finding(rule, &binding);
            finding.message.clone_from(&rule.rule.title);
            finding.help = None;
            finding.fixes.clear();
            finding.verdict = Verdict::Undecided { why: String::new() };
            found.push(Candidate {
                finding,
                depends,
                mirrors,
            });
        }
        if given_up {
            let finding = Diagnostic::warning(rule.rule.id.clone(), rule.rule.title.clone());
            found.push(Candidate {
                finding,
                depends: everything(&symbols),
                mirrors: None,
            });
        }
    }
}

fn everything(symbols: &[SymbolId]) -> Vec<Dependence> {
    let all = symbols.iter().map(|&symbol| Dependence {
        symbol,
        opaque: true,
    });
    all.collect()
}
