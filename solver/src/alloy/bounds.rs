//! Signatures and fields as relations between bounds.

use locus_core::Diagnostic;
use locus_grammar::model::{
    BinaryOp, ExprKind, Field, FieldId, ListOp, Model, Mult, Sig, SigId, SigKind, UnaryOp, builtin,
};

use locus_terms::lower;

use super::Refusal;
use super::scope::{self, Scope, all_sigs, int_range, prim_sigs, short_name, top_level};
use crate::problem::{Atom, CapacityExceeded, Expr, Problem, Terms, TupleSet, Universe};

/// The relations of a command, before anything is demanded of them.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) problem: Problem,
    /// The value of each signature.
    pub(super) sigs: Vec<Expr>,
    /// What each signature certainly has, and what it may have.
    sig_bounds: Vec<(TupleSet, TupleSet)>,
    /// The value of each field.
    pub(super) fields: Vec<Expr>,
    /// Children of one signature whose disjointness the bounds do not ensure.
    pub(super) overlapping: Vec<(SigId, Expr, Expr)>,
    /// The atom of each string literal, by its name.
    pub(super) strings: Vec<(String, Atom)>,
    /// Signatures whose only fact, a total order of an enum, is settled by bounds.
    pub(super) settled_orders: Vec<SigId>,
    /// The successor relation of the integers, and the atom of zero.
    pub(super) int_next: Expr,
    pub(super) int_zero: Expr,
}

fn too_large(model: &Model, field: Option<&Field>, error: CapacityExceeded) -> Refusal {
    let diagnostic = Diagnostic::error("capacity", error.to_string());
    Box::new(match field {
        Some(field) => {
            let sig = short_name(model.sig(field.sig));
            diagnostic.label(field.span, format!("field `{}` of `{sig}`", field.name))
        }
        None => diagnostic,
    })
}

struct Builder<'a> {
    model: &'a Model,
    scope: &'a Scope,
    problem: Problem,
    lower: Vec<TupleSet>,
    upper: Vec<TupleSet>,
    sigs: Vec<Expr>,
    overlapping: Vec<(SigId, Expr, Expr)>,
}

impl Vocabulary {
    /// Makes the universe and gives every signature and field its relation.
    pub(super) fn build(model: &Model, scope: &Scope) -> Result<Self, Refusal> {
        let mut names = Vec::new();
        let mut taken = std::collections::HashSet::new();
        // Atoms are handed out in this order: signature by signature, children first.
        let mut ranges = vec![Vec::new(); model.sigs.len()];
        for (id, _) in top_level(model) {
            hand_out(model, scope, id, &mut names, &mut taken, &mut ranges);
        }
        let (min, max) = int_range(scope.bitwidth);
        let mut ints = Vec::new();
        for value in min..=max {
            ints.push((value, next_atom(&names)));
            names.push(value.to_string());
        }
        let mut strings = Vec::new();
        for text in &scope.strings {
            strings.push((text.clone(), next_atom(&names)));
            names.push(text.clone());
        }

        let universe = Universe::new(names);
        let empty = TupleSet::unary(&universe, []);
        let mut problem = Problem::new(universe);
        problem.bitwidth = scope.bitwidth;
        problem.ints = ints;
        let none = problem.terms.none(1);
        let mut builder = Builder {
            model,
            scope,
            problem,
            lower: vec![empty.clone(); model.sigs.len()],
            upper: vec![empty; model.sigs.len()],
            sigs: vec![none; model.sigs.len()],
            overlapping: Vec::new(),
        };
        builder.builtins(&strings);
        for (id, _) in top_level(model) {
            builder.lower_bound(id, &ranges);
        }
        for (id, _) in top_level(model) {
            builder.upper_bound(id);
        }
        for (id, _) in top_level(model) {
            builder.allocate(id);
        }
        builder.allocate_subsets();
        builder.univ();
        builder.finish(strings)
    }

    /// What a signature certainly has, and what it may have.
    #[expect(
        clippy::indexing_slicing,
        reason = "the list has an entry for every signature of the model"
    )]
    pub(super) fn sig_bounds(&self, sig: SigId) -> (&TupleSet, &TupleSet) {
        let (lower, upper) = &self.sig_bounds[sig.index()];
        (lower, upper)
    }

    /// The expression of a signature.
    #[expect(
        clippy::indexing_slicing,
        reason = "the list has an entry for every signature of the model"
    )]
    pub(super) fn sig(&self, sig: SigId) -> Expr {
        self.sigs[sig.index()]
    }

    /// The expression of a field, first column included.
    #[expect(
        clippy::indexing_slicing,
        reason = "the list has an entry for every field of the model"
    )]
    pub(super) fn field(&self, field: FieldId) -> Expr {
        self.fields[field.index()]
    }
}

impl lower::Vocabulary for Vocabulary {
    fn terms(&mut self) -> &mut Terms {
        &mut self.problem.terms
    }

    fn sig(&mut self, _: &Model, id: SigId) -> Expr {
        Vocabulary::sig(self, id)
    }

    fn field(&mut self, _: &Model, id: FieldId) -> Result<Expr, String> {
        Ok(Vocabulary::field(self, id))
    }

    fn text(&mut self, text: &str) -> Option<Expr> {
        let name = scope::string_atom(text);
        let strings = &self.strings;
        let at = strings.binary_search_by(|(other, _)| other.as_str().cmp(&name));
        let &(_, atom) = strings.get(at.ok()?)?;
        Some(self.problem.terms.tuple(vec![atom]))
    }

    fn int_range(&self) -> Option<(i64, i64)> {
        Some(int_range(self.problem.bitwidth))
    }

    fn int_order(&self) -> Option<(Expr, Expr)> {
        Some((self.int_next, self.int_zero))
    }

    // That they stay inside is one of the constraints.
    fn fields_stay_inside(&self) -> bool {
        false
    }
}

fn next_atom(names: &[String]) -> Atom {
    Atom(u32::try_from(names.len()).unwrap_or(u32::MAX))
}

/// Names the atoms that a signature has of its own; returns how many atoms it certainly has.
#[expect(
    clippy::indexing_slicing,
    reason = "ranges has an entry for every signature of the model"
)]
fn hand_out(
    model: &Model,
    scope: &Scope,
    id: SigId,
    names: &mut Vec<String>,
    taken: &mut std::collections::HashSet<String>,
    ranges: &mut [Vec<Atom>],
) -> u32 {
    let sig = model.sig(id);
    let mut certain = 0;
    for &child in &sig.children {
        certain += hand_out(model, scope, child, names, taken, ranges);
    }
    let size = scope.size(id).unwrap_or(0);
    let own = scope.is_exact(id)
        || matches!(sig.kind, SigKind::Prim { parent } if parent == builtin::UNIV);
    if size > certain && own {
        let mut name = short_name(sig).to_owned();
        while !taken.insert(name.clone()) {
            name.push('\'');
        }
        for index in 0..size - certain {
            ranges[id.index()].push(next_atom(names));
            names.push(format!("{name}${index}"));
        }
        certain = size;
    }
    certain
}

#[expect(
    clippy::indexing_slicing,
    reason = "the lists have an entry for every signature of the model"
)]
impl Builder<'_> {
    fn builtins(&mut self, strings: &[(String, Atom)]) {
        let universe = self.problem.universe.clone();
        let ints: Vec<Atom> = self.problem.ints.iter().map(|&(_, atom)| atom).collect();
        let indices: Vec<Atom> = self
            .problem
            .ints
            .iter()
            .filter(|&&(value, _)| value >= 0 && value < i64::from(self.scope.max_seq))
            .map(|&(_, atom)| atom)
            .collect();
        let literals: Vec<Atom> = strings.iter().map(|&(_, atom)| atom).collect();
        for (id, atoms, name) in [
            (builtin::INT, ints, "Int"),
            (builtin::SEQ_INT, indices, "seq/Int"),
            (builtin::STRING, literals, "String"),
        ] {
            let set = TupleSet::unary(&universe, atoms);
            let relation = self.problem.add_relation(name, set.clone(), set.clone());
            self.sigs[id.index()] = self.problem.relation_expr(relation);
            self.lower[id.index()] = set.clone();
            self.upper[id.index()] = set;
        }
    }

    /// Everything that is in some signature; an atom that no signature has is not in `univ`.
    fn univ(&mut self) {
        let mut parts: Vec<SigId> = top_level(self.model).map(|(id, _)| id).collect();
        parts.extend([builtin::INT, builtin::STRING]);
        let exprs: Vec<Expr> = parts.iter().map(|id| self.sigs[id.index()]).collect();
        let univ = builtin::UNIV.index();
        self.sigs[univ] = self.problem.terms.union_all(1, exprs);
        for id in parts {
            self.lower[univ] = self.lower[univ].union(&self.lower[id.index()]);
            self.upper[univ] = self.upper[univ].union(&self.upper[id.index()]);
        }
    }

    /// What each signature certainly has, bottom-up, and a first upper bound.
    fn lower_bound(&mut self, id: SigId, ranges: &[Vec<Atom>]) {
        let sig = self.model.sig(id);
        let mut lower = TupleSet::unary(&self.problem.universe, []);
        for &child in &sig.children {
            self.lower_bound(child, ranges);
            lower = lower.union(&self.lower[child.index()]);
        }
        let own = TupleSet::unary(&self.problem.universe, ranges[id.index()].iter().copied());
        self.upper[id.index()] = lower.union(&own);
        self.lower[id.index()] = if self.scope.is_exact(id) {
            lower.union(&own)
        } else {
            lower
        };
    }

    /// What each signature may have, top-down: an atom that is not certainly in a sibling.
    fn upper_bound(&mut self, id: SigId) {
        let sig = self.model.sig(id);
        let mut free = self.upper[id.index()].clone();
        for child in &sig.children {
            free = free.difference(&self.lower[child.index()]);
        }
        for &child in &sig.children {
            let size = self.scope.size(child).unwrap_or(0) as usize;
            if size > self.lower[child.index()].len() {
                self.upper[child.index()] = self.upper[child.index()].union(&free);
            }
            self.upper_bound(child);
        }
    }

    /// A signature without children is a relation; with children it is their union, and unless
    /// abstract, a relation for what is in none of them.
    fn allocate(&mut self, id: SigId) -> Expr {
        let sig = self.model.sig(id);
        let mut sum: Option<(Expr, TupleSet)> = None;
        for &child in &sig.children {
            let expr = self.allocate(child);
            let upper = self.upper[child.index()].clone();
            sum = Some(match sum {
                None => (expr, upper),
                Some((before, covered)) => {
                    if !covered.intersection(&upper).is_empty() {
                        self.overlapping.push((child, before, expr));
                    }
                    (
                        self.problem.terms.union(before, expr),
                        covered.union(&upper),
                    )
                }
            });
        }
        let mut lower = self.lower[id.index()].clone();
        let mut upper = self.upper[id.index()].clone();
        let name = short_name(sig).to_owned();
        let expr = match sum {
            None => self.relation(name, lower, upper),
            Some((sum, _)) if sig.is_abstract => sum,
            Some((sum, _)) => {
                for child in &sig.children {
                    lower = lower.difference(&self.lower[child.index()]);
                    upper = upper.difference(&self.lower[child.index()]);
                }
                let rest = self.relation(format!("{name}_remainder"), lower, upper);
                self.problem.terms.union(sum, rest)
            }
        };
        // An abstract signature is the union of its children: an atom that was handed out to it is
        // in it only when a child takes it.
        if sig.is_abstract && !sig.children.is_empty() {
            let empty = TupleSet::unary(&self.problem.universe, []);
            let (mut lower, mut upper) = (empty.clone(), empty);
            for child in &sig.children {
                lower = lower.union(&self.lower[child.index()]);
                upper = upper.union(&self.upper[child.index()]);
            }
            self.lower[id.index()] = lower;
            self.upper[id.index()] = upper;
        }
        self.sigs[id.index()] = expr;
        expr
    }

    fn relation(&mut self, name: String, lower: TupleSet, upper: TupleSet) -> Expr {
        if upper.is_empty() {
            return self.problem.terms.none(upper.arity());
        }
        let relation = self.problem.add_relation(name, lower, upper);
        self.problem.relation_expr(relation)
    }

    /// Subset signatures, each after the signatures it is a subset of.
    fn allocate_subsets(&mut self) {
        let mut done = vec![false; self.model.sigs.len()];
        for (id, sig) in all_sigs(self.model) {
            done[id.index()] = !matches!(sig.kind, SigKind::Subset { .. });
        }
        loop {
            let mut progress = false;
            for (id, sig) in all_sigs(self.model) {
                let SigKind::Subset { parents, exact } = &sig.kind else {
                    continue;
                };
                if done[id.index()] || !parents.iter().all(|parent| done[parent.index()]) {
                    continue;
                }
                done[id.index()] = true;
                progress = true;
                self.allocate_subset(id, sig, parents, *exact);
            }
            if !progress {
                return;
            }
        }
    }

    fn allocate_subset(&mut self, id: SigId, sig: &Sig, parents: &[SigId], exact: bool) {
        let empty = TupleSet::unary(&self.problem.universe, []);
        let (mut lower, mut upper) = (empty.clone(), empty);
        for parent in parents {
            lower = lower.union(&self.lower[parent.index()]);
            upper = upper.union(&self.upper[parent.index()]);
        }
        if parents.contains(&builtin::UNIV) {
            upper = TupleSet::unary(&self.problem.universe, self.problem.universe.atoms());
        }
        let exprs: Vec<Expr> = parents
            .iter()
            .map(|parent| self.sigs[parent.index()])
            .collect();
        let index = id.index();
        if exact {
            self.sigs[index] = self.problem.terms.union_all(1, exprs);
            self.lower[index] = lower;
        } else {
            let none = TupleSet::unary(&self.problem.universe, []);
            self.sigs[index] = self.relation(short_name(sig).to_owned(), none, upper.clone());
        }
        self.upper[index] = upper;
    }

    fn finish(mut self, strings: Vec<(String, Atom)>) -> Result<Vocabulary, Refusal> {
        let (int_next, int_zero) = self.integer_order();
        let none = self.problem.terms.none(1);
        let mut fields = vec![none; self.model.fields.len()];
        let mut settled_orders = Vec::new();
        for (id, sig) in all_sigs(self.model) {
            if let Some((first, next)) = self.enum_order(id, sig) {
                fields[sig.fields[0].index()] = first;
                fields[sig.fields[1].index()] = next;
                settled_orders.push(id);
                continue;
            }
            for &field in &sig.fields {
                fields[field.index()] = self.field(id, sig, self.model.field(field), &fields)?;
            }
        }
        let sig_bounds = self.lower.into_iter().zip(self.upper).collect();
        Ok(Vocabulary {
            problem: self.problem,
            sigs: self.sigs,
            sig_bounds,
            fields,
            overlapping: self.overlapping,
            strings,
            settled_orders,
            int_next,
            int_zero,
        })
    }

    fn integer_order(&mut self) -> (Expr, Expr) {
        let universe = self.problem.universe.clone();
        let atoms = universe.len() as u64;
        let next = TupleSet::from_unsorted(
            2,
            atoms,
            self.problem
                .ints
                .windows(2)
                .filter_map(|pair| match pair {
                    [(_, a), (_, b)] => Some(u64::from(a.0) * atoms + u64::from(b.0)),
                    _ => None,
                })
                .collect(),
        );
        let zero = TupleSet::unary(
            &universe,
            self.problem
                .ints
                .iter()
                .filter(|&&(value, _)| value == 0)
                .map(|&(_, atom)| atom),
        );
        let next = self.problem.add_relation("Int/next", next.clone(), next);
        let zero = self.problem.add_relation("Int/zero", zero.clone(), zero);
        (
            self.problem.relation_expr(next),
            self.problem.relation_expr(zero),
        )
    }

    /// The relation of a field. A field of a `one` signature needs no first column in the relation.
    fn field(
        &mut self,
        id: SigId,
        sig: &Sig,
        field: &Field,
        fields: &[Expr],
    ) -> Result<Expr, Refusal> {
        let is_one = sig.mult == Mult::One;
        if is_one
            && field.is_defined
            && let Some(value) = self.simple(&field.bound, fields)
        {
            let owner = self.sigs[id.index()];
            return Ok(self.problem.terms.product(owner, value));
        }
        let mut upper: Option<TupleSet> = None;
        for product in &field.ty.products {
            let columns = if is_one {
                product.get(1..)
            } else {
                Some(product.as_slice())
            };
            let mut columns = columns.unwrap_or_default().iter();
            let Some(&first) = columns.next() else {
                continue;
            };
            let mut tuples = self.type_bound(first);
            for &column in columns {
                tuples = tuples
                    .product(&self.type_bound(column))
                    .map_err(|error| too_large(self.model, Some(field), error))?;
            }
            upper = Some(match upper {
                None => tuples,
                Some(before) if before.arity() == tuples.arity() => before.union(&tuples),
                Some(before) => before,
            });
        }
        let upper = upper.unwrap_or_else(|| TupleSet::unary(&self.problem.universe, []));
        let lower = TupleSet::empty(upper.arity(), &self.problem.universe)
            .map_err(|error| too_large(self.model, Some(field), error))?;
        let name = format!("{}.{}", short_name(sig), field.name);
        let relation = self.relation(name, lower, upper);
        Ok(if is_one {
            let owner = self.sigs[id.index()];
            self.problem.terms.product(owner, relation)
        } else {
            relation
        })
    }

    /// The atoms that a column of this type may hold.
    fn type_bound(&self, sig: SigId) -> TupleSet {
        self.upper[sig.index()].clone()
    }

    /// The value of a defined field's bound when it is a plain combination of relations that are
    /// already there.
    fn simple(&mut self, expr: &locus_grammar::model::Expr, fields: &[Expr]) -> Option<Expr> {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::ExactlyOf, inner) => self.simple(inner, fields),
            ExprKind::Binary(op, left, right) => {
                let left = self.simple(left, fields)?;
                let right = self.simple(right, fields)?;
                match op {
                    BinaryOp::Arrow(Mult::Set, Mult::Set) => {
                        Some(self.problem.terms.product(left, right))
                    }
                    BinaryOp::Union => Some(self.problem.terms.union(left, right)),
                    BinaryOp::Join => Some(lower::join(&mut self.problem.terms, left, right)),
                    _ => None,
                }
            }
            ExprKind::Sig(id) => Some(self.sigs[id.index()]),
            // A field whose own relation comes later is not there yet.
            ExprKind::Field(id) => fields.get(id.index()).copied().filter(|&value| {
                self.problem.terms.arity(value) == self.model.field(*id).ty.arity().unwrap_or(0)
            }),
            _ => None,
        }
    }

    /// The order of an enum's values is the order they are written in: both relations are exact.
    fn enum_order(&mut self, id: SigId, sig: &Sig) -> Option<(Expr, Expr)> {
        let ([first, next], [fact], Mult::One) =
            (sig.fields.as_slice(), sig.facts.as_slice(), sig.mult)
        else {
            return None;
        };
        let ExprKind::List(ListOp::TotalOrder, args) = &fact.kind else {
            return None;
        };
        let Some(ExprKind::Sig(elem)) = args.first().map(|arg| &arg.kind) else {
            return None;
        };
        let elem_sig = self.model.sig(*elem);
        if !elem_sig.is_enum || elem_sig.children.is_empty() {
            return None;
        }
        let universe = self.problem.universe.clone();
        let mut values = Vec::new();
        for child in &elem_sig.children {
            let (lower, upper) = (&self.lower[child.index()], &self.upper[child.index()]);
            let [index] = upper.indices() else {
                return None;
            };
            if lower != upper {
                return None;
            }
            values.push(Atom(u32::try_from(*index).ok()?));
        }
        let first_set = TupleSet::unary(&universe, values.first().copied());
        let mut next_set = TupleSet::empty(2, &universe).ok()?;
        for pair in values.windows(2) {
            next_set.insert(pair);
        }
        let owner = self.sigs[id.index()];
        let mut exact = |name: &str, field: FieldId, set: TupleSet| {
            let name = format!("{}.{}", name, self.model.field(field).name);
            let relation = self.problem.add_relation(name, set.clone(), set);
            let expr = self.problem.relation_expr(relation);
            self.problem.terms.product(owner, expr)
        };
        let name = short_name(sig);
        Some((exact(name, *first, first_set), exact(name, *next, next_set)))
    }
}

/// Signatures whose number of atoms must still be demanded, with what to demand.
pub(super) fn sizes_to_demand<'a>(
    model: &'a Model,
    scope: &'a Scope,
    vocabulary: &'a Vocabulary,
) -> impl Iterator<Item = (SigId, u32, bool)> + 'a {
    prim_sigs(model).filter_map(move |(id, _)| {
        let size = scope.size(id)?;
        let (lower, upper) = vocabulary.sig_bounds(id);
        let exact = scope.is_exact(id);
        let n = size as usize;
        let settled = if exact {
            lower.len() == n && upper.len() == n
        } else {
            upper.len() <= n
        };
        (!settled).then_some((id, size, exact))
    })
}
