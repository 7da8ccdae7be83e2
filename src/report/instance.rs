//! An instance in the words of its model: atoms named after their signatures, fields as tables.

use std::fmt::Write;

use locus_grammar::model::{Model, Sig, SigId, SigKind};
use locus_solver::alloy::Translation;
use locus_solver::evaluate::{EvaluateError, Evaluator};
use locus_solver::problem::{Atom, TupleSet};
use locus_solver::search::Instance;
use serde::Serialize;

/// An instance as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct View {
    /// The atoms of every signature.
    pub sigs: Vec<Set>,
    /// The tuples of every field.
    pub fields: Vec<Table>,
    /// What the command's existentially quantified variables are.
    pub skolems: Vec<Table>,
}

/// The atoms of a signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Set {
    /// Its name.
    pub name: String,
    /// Their names.
    pub atoms: Vec<String>,
}

/// The tuples of a relation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// The atoms of each, by their names.
    pub tuples: Vec<Vec<String>>,
}

fn short(label: &str) -> &str {
    label.strip_prefix("this/").unwrap_or(label)
}

fn sigs(model: &Model) -> impl Iterator<Item = (SigId, &Sig)> {
    model
        .sigs
        .iter()
        .enumerate()
        .map(|(index, sig)| (SigId(u32::try_from(index).unwrap_or(u32::MAX)), sig))
        .filter(|(_, sig)| sig.kind != SigKind::Builtin)
}

impl View {
    /// Reads an instance back into the words of its model.
    ///
    /// # Errors
    /// When a value of it cannot be computed.
    pub fn new(
        model: &Model,
        translation: &Translation,
        instance: &Instance,
    ) -> Result<Self, EvaluateError> {
        let mut evaluator = Evaluator::new(&translation.problem, instance);
        let values: Vec<(SigId, &Sig, TupleSet)> = sigs(model)
            .map(|(id, sig)| Ok((id, sig, evaluator.expr(translation.sig(id))?)))
            .collect::<Result<_, EvaluateError>>()?;
        let names = names(translation, &values);
        let atom = |atom: &Atom| names.get(atom.0 as usize).cloned().unwrap_or_default();
        let table = |name: String, set: &TupleSet| Table {
            name,
            tuples: set
                .tuples()
                .map(|tuple| tuple.iter().map(atom).collect())
                .collect(),
        };
        let mut view = View {
            sigs: Vec::new(),
            fields: Vec::new(),
            skolems: Vec::new(),
        };
        for (_, sig, value) in &values {
            if sig.is_private {
                continue;
            }
            view.sigs.push(Set {
                name: short(&sig.label).to_owned(),
                atoms: value.tuples().flatten().map(|a| atom(&a)).collect(),
            });
            for &id in &sig.fields {
                let field = model.field(id);
                if !field.is_private {
                    let name = format!("{}.{}", short(&sig.label), field.name);
                    view.fields
                        .push(table(name, &evaluator.expr(translation.field(id))?));
                }
            }
        }
        for skolem in &instance.skolems {
            view.skolems
                .push(table(format!("${}", skolem.name), &skolem.value));
        }
        Ok(view)
    }

    /// The instance as aligned lines.
    pub fn text(&self, indent: &str) -> String {
        let mut rows: Vec<(String, Vec<String>)> = Vec::new();
        for set in &self.sigs {
            let atoms = if set.atoms.is_empty() {
                "(none)".to_owned()
            } else {
                set.atoms.join(", ")
            };
            rows.push((set.name.clone(), wrap(&atoms)));
        }
        for table in self.fields.iter().chain(&self.skolems) {
            rows.push((table.name.clone(), columns(&table.tuples)));
        }
        let width = rows
            .iter()
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or(0);
        let mut out = String::new();
        for (name, lines) in rows {
            for (index, line) in lines.iter().enumerate() {
                let name = if index == 0 { name.as_str() } else { "" };
                let _ = writeln!(out, "{indent}{name:width$}  {line}");
            }
        }
        out
    }
}

/// Breaks a list of atoms into lines that fit a terminal.
fn wrap(text: &str) -> Vec<String> {
    const WIDTH: usize = 80;
    let mut lines = vec![String::new()];
    for word in text.split_inclusive(", ") {
        if let Some(line) = lines.last_mut()
            && (line.is_empty() || line.chars().count() + word.chars().count() <= WIDTH)
        {
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
        .iter()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// Tuples as lines whose arrows stand below each other.
fn columns(tuples: &[Vec<String>]) -> Vec<String> {
    if tuples.is_empty() {
        return vec!["(none)".to_owned()];
    }
    if tuples.iter().all(|tuple| tuple.len() == 1) {
        return wrap(&tuples.concat().join(", "));
    }
    let mut widths = Vec::new();
    for tuple in tuples {
        widths.resize(tuple.len().max(widths.len()), 0);
        for (width, atom) in widths.iter_mut().zip(tuple) {
            *width = (*width).max(atom.chars().count());
        }
    }
    tuples
        .iter()
        .map(|tuple| {
            let cells: Vec<String> = tuple
                .iter()
                .zip(&widths)
                .map(|(atom, &width)| format!("{atom:width$}"))
                .collect();
            cells.join(" -> ").trim_end().to_owned()
        })
        .collect()
}

/// Names every atom after the most specific signature it is in, as Alloy does.
fn names(translation: &Translation, values: &[(SigId, &Sig, TupleSet)]) -> Vec<String> {
    let universe = &translation.problem.universe;
    let mut names: Vec<Option<String>> = vec![None; universe.len()];
    for &(_, atom) in &translation.problem.ints {
        if let Some(name) = names.get_mut(atom.0 as usize) {
            *name = Some(universe.name(atom).to_owned());
        }
    }
    // A child is declared in the list after its parent or before it; depth decides.
    let parent = |id: SigId| {
        values
            .iter()
            .find(|(other, ..)| *other == id)
            .and_then(|(_, sig, _)| match sig.kind {
                SigKind::Prim { parent } => Some(parent),
                _ => None,
            })
    };
    let depth = |id: SigId| std::iter::successors(Some(id), |&id| parent(id)).count();
    let mut order: Vec<_> = values
        .iter()
        .filter(|(_, sig, _)| matches!(sig.kind, SigKind::Prim { .. }))
        .collect();
    order.sort_by_key(|(id, ..)| std::cmp::Reverse(depth(*id)));
    for (_, sig, value) in order {
        let mut next = 0;
        for atom in value.tuples().flatten() {
            if let Some(name @ None) = names.get_mut(atom.0 as usize) {
                *name = Some(format!("{}${next}", short(&sig.label)));
                next += 1;
            }
        }
    }
    universe
        .atoms()
        .zip(names)
        .map(|(atom, name)| name.unwrap_or_else(|| universe.name(atom).to_owned()))
        .collect()
}
