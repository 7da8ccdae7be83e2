//! Expressions over a database.

use std::cell::Cell;
use std::ops::Deref;
use std::sync::atomic::Ordering;

use super::Builtin;
use super::closure::Reach;
use super::database::Database;
use super::query::Search;
use super::set::{Atom, Set, Tri};
use super::shared::Shared;
use super::table::Table;
use super::trail::{Touched, Trail};
use crate::logic::{ExprId, ExprNode, Plan, QueryId, Terms, VarId};

/// The evaluation was given up because it took too many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// The tuples of an expression: those of a stored relation, or computed for the values of variables.
#[derive(Debug)]
pub enum Listed<'a> {
    /// Stored.
    Stored(&'a Set),
    /// Computed.
    Computed(Set),
}

impl Deref for Listed<'_> {
    type Target = Set;

    fn deref(&self) -> &Set {
        match self {
            Listed::Stored(set) => set,
            Listed::Computed(set) => set,
        }
    }
}

impl Listed<'_> {
    fn into_owned(self) -> Set {
        match self {
            Listed::Stored(set) => set.clone(),
            Listed::Computed(set) => set,
        }
    }
}

/// Evaluates the terms of a program over a database.
#[derive(Debug)]
pub struct Evaluator<'a> {
    pub(super) terms: &'a Terms,
    pub(super) plans: &'a [Plan],
    pub(super) database: &'a Database,
    shared: &'a Shared<'a>,
    /// The value of each variable that is bound.
    pub(super) env: Vec<Option<Atom>>,
    /// Steps that may still be taken.
    budget: u64,
    /// A variable ranged over a set that may have members of which nothing is known.
    pub(super) met_open: bool,
    /// Values were met that a built-in relation cannot decide, such as a pattern that it cannot read.
    pub(super) undecidable: Cell<bool>,
    /// The symbols because of which something is not known.
    pub(super) trail: Trail,
    /// The only values to try for variables, where there are such.
    pinned: Vec<(VarId, Atom)>,
    /// Answers that queries have had.
    pub(super) visits: u64,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(
        terms: &'a Terms,
        plans: &'a [Plan],
        database: &'a Database,
        shared: &'a Shared<'a>,
        budget: u64,
    ) -> Self {
        Evaluator {
            terms,
            plans,
            database,
            shared,
            env: vec![None; terms.var_count()],
            budget,
            met_open: false,
            undecidable: Cell::new(false),
            trail: Trail::default(),
            pinned: Vec::new(),
            visits: 0,
        }
    }

    /// The symbols that decide a query whose variables have these values, as far as it is not known.
    pub(crate) fn depends(
        &mut self,
        query: QueryId,
        pinned: Vec<(VarId, Atom)>,
    ) -> Result<Vec<Touched>, Stopped> {
        self.pinned = pinned;
        self.trail.switch(true);
        let run = self.run(query, Search::Complete, &mut |_, _| {
            Ok(std::ops::ControlFlow::Continue(()))
        });
        let touched = self.trail.take();
        self.trail.switch(false);
        self.pinned.clear();
        run.map(|_| touched)
    }

    /// Whether a value is to be tried for a variable.
    pub(super) fn admits(&self, var: VarId, atom: Atom) -> bool {
        let mut pinned = self.pinned.iter();
        pinned.all(|&(other, only)| other != var || only == atom)
    }

    /// Whether two atoms stand for one thing.
    pub(super) fn equal(&self, a: Atom, b: Atom) -> Tri {
        let equal = self.database.equal(a, b);
        if equal == Tri::Unknown && self.trail.is_on() {
            self.trail.note_pair(self.database, a, b);
        }
        equal
    }

    /// Symbols, and the atoms that they may be as far as verdicts depended on it.
    pub(crate) fn compared(&self) -> Vec<(u32, Atom)> {
        self.trail.compared()
    }

    /// Symbols, and the atoms that built-in relations may relate them to as far as verdicts depended on it.
    pub(crate) fn met_with(&self) -> Vec<(u32, Atom)> {
        self.trail.met_with()
    }

    /// Symbols that verdicts compared with each other.
    pub(crate) fn linked(&self) -> Vec<(u32, u32)> {
        self.trail.linked()
    }

    /// Whether a tuple of a table is there.
    pub(super) fn certain(&self, table: &Table, at: usize) -> Tri {
        let certain = table.certain(at);
        if certain != Tri::True && self.trail.is_on() {
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            self.trail.note_reasons(table.reasons(at).iter().copied());
        }
        certain
    }

    /// Notes what decides which tuples a table has.
    fn note_table(&self, table: &Table) {
        if self.trail.is_on() {
            self.trail.note_reasons(table.all_reasons());
        }
    }

    /// The tuples of an expression that a variable ranges over, of which each is noted when it is tried.
    pub(super) fn range(&mut self, expr: ExprId) -> Result<Listed<'a>, Stopped> {
        match self.terms.expr(expr) {
            ExprNode::Relation(relation) if self.database.table(*relation).builtin().is_none() => {
                Ok(Listed::Stored(self.database.table(*relation).set()))
            }
            _ => self.expr(expr),
        }
    }

    /// Notes what decides whether a value is in the relation that its variable ranges over.
    pub(super) fn note_member(&self, bound: ExprId, atom: Atom) {
        if self.trail.is_on()
            && let ExprNode::Relation(relation) = self.terms.expr(bound)
        {
            let table = self.database.table(*relation);
            for &at in table.starting(atom) {
                self.certain(table, at as usize);
            }
        }
    }

    /// Makes it ready for another rule.
    pub(crate) fn restart(&mut self, budget: u64) {
        self.budget = budget;
        self.met_open = false;
        self.undecidable.set(false);
    }

    /// Whether values were met, since this was last asked, that a built-in relation cannot decide.
    pub(crate) fn met_undecidable(&self) -> bool {
        self.undecidable.take()
    }

    /// Counts a step.
    pub(super) fn step(&mut self) -> Result<(), Stopped> {
        self.budget = self.budget.checked_sub(1).ok_or(Stopped)?;
        Ok(())
    }

    /// The steps taken of a budget.
    pub(crate) fn steps(&self, budget: u64) -> u64 {
        budget.saturating_sub(self.budget)
    }

    /// Gives a variable a value; returns what it had.
    pub(crate) fn bind(&mut self, var: VarId, atom: Option<Atom>) -> Option<Atom> {
        self.env
            .get_mut(var.index())
            .and_then(|slot| std::mem::replace(slot, atom))
    }

    /// The value of a variable.
    pub(crate) fn bound(&self, var: VarId) -> Option<Atom> {
        self.env.get(var.index()).copied().flatten()
    }

    pub(super) fn is_closed(&self, expr: ExprId) -> bool {
        self.terms.expr_vars(expr).is_empty()
    }

    /// The table of an expression without variables, computed once.
    pub(super) fn table(&mut self, expr: ExprId) -> Result<&'a Table, Stopped> {
        if let ExprNode::Relation(relation) = self.terms.expr(expr) {
            return Ok(self.database.table(*relation));
        }
        let shared: &'a Shared<'a> = self.shared;
        #[expect(
            clippy::indexing_slicing,
            reason = "there is a slot for every such expression of the terms"
        )]
        let slot = &shared.closed[shared.place(expr)];
        if let Some(table) = slot.get() {
            if self.trail.is_on() {
                match shared.reasons(expr) {
                    Some(known) => self.trail.note(known.iter().copied()),
                    // Whoever computed it did not ask what decides it.
                    None => {
                        let mark = self.trail.mark();
                        self.compute(expr)?;
                        shared.remember(expr, self.trail.since(mark));
                    }
                }
            }
            return Ok(table);
        }
        let mark = self.trail.mark();
        let set = self.compute(expr)?.into_owned();
        if self.trail.is_on() {
            shared.remember(expr, self.trail.since(mark));
        }
        let database = self.database;
        let property = self.mentions_property(expr);
        Ok(slot.get_or_init(|| {
            let table = Table::of(set, property, |atom| database.is_vague(atom));
            Box::new(table)
        }))
    }

    /// Whether nothing is known of a closed expression for what exists already.
    fn mentions_property(&self, expr: ExprId) -> bool {
        match self.terms.expr(expr) {
            ExprNode::Relation(relation) => self.database.table(*relation).is_property(),
            ExprNode::Union(parts) | ExprNode::Intersection(parts) => {
                parts.iter().any(|&part| self.mentions_property(part))
            }
            ExprNode::Difference(a, b) | ExprNode::Override(a, b) | ExprNode::Join(a, b) => {
                self.mentions_property(*a) || self.mentions_property(*b)
            }
            ExprNode::Transpose(a) | ExprNode::Closure(a) => self.mentions_property(*a),
            _ => false,
        }
    }

    /// What can be reached by a binary expression without variables.
    pub(super) fn reach(&mut self, relation: ExprId) -> Result<&'a Reach, Stopped> {
        if self.trail.is_on() {
            // All of it matters to what can be reached; a table remembers what decides it.
            let table = self.table(relation)?;
            self.note_table(table);
        }
        let shared: &'a Shared<'a> = self.shared;
        #[expect(
            clippy::indexing_slicing,
            reason = "there is a slot for every such expression of the terms"
        )]
        let slot = &shared.reach[shared.place(relation)];
        if let Some(reach) = slot.get() {
            return Ok(reach);
        }
        let set = self.table(relation)?.set();
        Ok(slot.get_or_init(|| Box::new(Reach::new(set))))
    }

    /// The tuples of an expression.
    pub fn expr(&mut self, expr: ExprId) -> Result<Listed<'a>, Stopped> {
        match self.terms.expr(expr) {
            ExprNode::Var(var) => Ok(Listed::Computed(match self.bound(*var) {
                Some(atom) => Set::single(atom),
                None => Set::empty(1),
            })),
            ExprNode::Tuple(tuple) => {
                let mut set = Set::empty(tuple.len());
                set.push(tuple, Tri::True);
                Ok(Listed::Computed(set))
            }
            ExprNode::None(arity) => Ok(Listed::Computed(Set::empty(*arity))),
            ExprNode::Relation(relation) => {
                let table = self.database.table(*relation);
                match table.builtin() {
                    Some(builtin) => {
                        let set = self.list_builtin(builtin, table.arity())?;
                        Ok(Listed::Computed(set))
                    }
                    None => {
                        self.note_table(table);
                        Ok(Listed::Stored(table.set()))
                    }
                }
            }
            _ if self.is_closed(expr) => Ok(Listed::Stored(self.table(expr)?.set())),
            _ => self.compute(expr),
        }
    }

    fn compute(&mut self, expr: ExprId) -> Result<Listed<'a>, Stopped> {
        self.step()?;
        let terms = self.terms;
        let set = match terms.expr(expr) {
            ExprNode::Relation(_) | ExprNode::Var(_) | ExprNode::Tuple(_) | ExprNode::None(_) => {
                return self.expr(expr);
            }
            ExprNode::Univ => {
                let mut set = Set::empty(1);
                set.sure = self.database.atoms().collect();
                Ok(set)
            }
            ExprNode::Iden => {
                let mut set = Set::empty(2);
                set.sure = self.database.atoms().flat_map(|a| [a, a]).collect();
                Ok(set)
            }
            ExprNode::Union(parts) => {
                let mut all = Set::empty(terms.arity(expr));
                for &part in parts {
                    let set = self.expr(part)?;
                    all.extend(&set);
                }
                all.normalize();
                Ok(all)
            }
            ExprNode::Intersection(parts) => self.filter(parts),
            ExprNode::Difference(a, b) => {
                let from = self.expr(*a)?;
                let mut kept = Set::empty(from.arity);
                kept.open = from.open;
                for (row, tri) in from.rows() {
                    let inside = self.contains(*b, row)?;
                    kept.push(row, tri.and(!inside));
                }
                kept.normalize();
                Ok(kept)
            }
            ExprNode::Override(a, b) => self.override_with(*a, *b),
            ExprNode::Join(a, b) => self.join(*a, *b),
            ExprNode::Product(a, b) => {
                let (left, right) = (self.expr(*a)?, self.expr(*b)?);
                let mut product = Set::empty(left.arity + right.arity);
                product.open = left.open || right.open;
                for (a, sure) in left.rows() {
                    for (b, also) in right.rows() {
                        self.step()?;
                        product.push_parts(a, b, sure.and(also));
                    }
                }
                product.normalize();
                Ok(product)
            }
            ExprNode::Transpose(a) => {
                let set = self.expr(*a)?;
                let mut swapped = Set::empty(2);
                swapped.open = set.open;
                for (row, tri) in set.rows() {
                    if let [a, b] = row {
                        swapped.push(&[*b, *a], tri);
                    }
                }
                swapped.normalize();
                Ok(swapped)
            }
            ExprNode::Closure(a) => {
                let set = self.expr(*a)?;
                let reach = Reach::new(&set);
                let mut closure = Set::empty(2);
                closure.open = set.open;
                for start in reach.starts() {
                    for (end, tri) in reach.from(start) {
                        self.step()?;
                        closure.push(&[start, end], tri);
                    }
                }
                closure.normalize();
                Ok(closure)
            }
            ExprNode::Ite(condition, a, b) => match self.formula(*condition)? {
                Tri::True => return self.expr(*a),
                Tri::False => return self.expr(*b),
                Tri::Unknown => {
                    let mut set = self.expr(*a)?.into_owned();
                    let other = self.expr(*b)?;
                    set.extend(&other);
                    set.normalize();
                    set.doubt();
                    Ok(set)
                }
            },
            ExprNode::Comprehension(..) => match terms.expr_query(expr) {
                Some(query) => self.answers(query),
                None => Ok(unknown(terms.arity(expr))),
            },
            // Not made when rules are compiled.
            ExprNode::IntAtom(_) | ExprNode::Ints | ExprNode::ReflexiveClosure(_) => {
                Ok(unknown(terms.arity(expr)))
            }
        };
        set.map(Listed::Computed)
    }

    /// The values that are in a built-in set; of a wider relation nothing is listed, so all of it is possible.
    fn list_builtin(&mut self, builtin: Builtin, arity: usize) -> Result<Set, Stopped> {
        let mut set = Set::empty(arity);
        if arity != 1 {
            set.open = true;
            return Ok(set);
        }
        for atom in self.database.atoms() {
            self.step()?;
            let inside = self.holds(builtin, &[atom]);
            set.push(&[atom], inside);
        }
        set.normalize();
        Ok(set)
    }

    /// The intersection: tuples of the operand that is easiest to list, tested against the others.
    fn filter(&mut self, parts: &[ExprId]) -> Result<Set, Stopped> {
        let cheapest = parts
            .iter()
            .copied()
            .min_by_key(|&part| self.listing_cost(part));
        let Some(base) = cheapest else {
            return Ok(Set::empty(1));
        };
        let set = self.expr(base)?;
        let mut kept = Set::empty(set.arity);
        for (row, mut tri) in set.rows() {
            for &part in parts {
                if part != base && tri != Tri::False {
                    tri = tri.and(self.contains(part, row)?);
                }
            }
            kept.push(row, tri);
        }
        if set.open {
            // Members of which nothing is known, as far as the others may have them.
            kept.open = true;
            for &part in parts {
                if part != base && self.listing_cost(part) < 3 {
                    kept.open &= !self.expr(part)?.is_empty();
                }
            }
        }
        kept.normalize();
        Ok(kept)
    }

    /// How hard it is to list an expression.
    pub(super) fn listing_cost(&self, expr: ExprId) -> u8 {
        let Some(known) = self.shared.costs.get(expr.index()) else {
            return u8::MAX;
        };
        match known.load(Ordering::Relaxed) {
            0 => {
                let cost = self.find_listing_cost(expr);
                known.store(cost + 1, Ordering::Relaxed);
                cost
            }
            known => known - 1,
        }
    }

    fn find_listing_cost(&self, expr: ExprId) -> u8 {
        match self.terms.expr(expr) {
            ExprNode::Var(_) | ExprNode::Tuple(_) | ExprNode::None(_) => 0,
            ExprNode::Univ | ExprNode::Iden => 9,
            ExprNode::Relation(relation) => {
                let table = self.database.table(*relation);
                match table.builtin() {
                    Some(_) => 9,
                    None if table.len() <= 8 => 1,
                    None => 4,
                }
            }
            ExprNode::Join(a, b) => {
                let lists = |expr: &ExprId| self.lists(*expr);
                if lists(a) && lists(b) { 2 } else { 9 }
            }
            ExprNode::Union(parts) => parts
                .iter()
                .map(|&part| self.listing_cost(part))
                .max()
                .unwrap_or(0),
            ExprNode::Intersection(parts) => parts
                .iter()
                .map(|&part| self.listing_cost(part))
                .min()
                .unwrap_or(0),
            ExprNode::Difference(a, _) => self.listing_cost(*a),
            ExprNode::Transpose(a) if !self.lists(*a) => 9,
            _ => 3,
        }
    }

    /// Whether an expression can be listed without going through all values.
    fn lists(&self, expr: ExprId) -> bool {
        match self.terms.expr(expr) {
            ExprNode::Univ | ExprNode::Iden => false,
            ExprNode::Relation(relation) => self.database.table(*relation).builtin().is_none(),
            ExprNode::Transpose(a) | ExprNode::Closure(a) => self.lists(*a),
            ExprNode::Join(a, b) => self.lists(*a) && self.lists(*b),
            _ => true,
        }
    }

    fn override_with(&mut self, a: ExprId, b: ExprId) -> Result<Set, Stopped> {
        let (base, over) = (self.expr(a)?, self.expr(b)?);
        let mut set = Set::clone(&over);
        set.open = base.open || over.open;
        for (row, tri) in base.rows() {
            let mut replaced = Tri::from(over.open).and(Tri::Unknown);
            for (other, sure) in over.rows() {
                if row.first() == other.first() {
                    replaced = replaced.or(sure);
                }
            }
            set.push(row, tri.and(!replaced));
        }
        set.normalize();
        Ok(set)
    }
}

/// A set of which nothing is known, which is never wrong.
fn unknown(arity: usize) -> Set {
    let mut set = Set::empty(arity);
    set.open = true;
    set
}
