//! Running the plan of a query.

use std::ops::ControlFlow;

use smallvec::SmallVec;

use super::evaluate::{Evaluator, Stopped};
use super::integers::Interval;
use super::set::{Atom, Rows, Set, Tri};
use crate::logic::{Count, ExprId, ExprNode, FormulaNode, Hop, IntId, QueryId, Source, Step};

type Flow = Result<ControlFlow<()>, Stopped>;

/// Values to try for a variable, each with whether it is certainly among them.
type Candidates = SmallVec<[(Atom, Tri); 4]>;

/// How candidates are found for a variable that a conjunct leads back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// Every binding for which the query may hold for some input; needed wherever its failure counts.
    Complete,
    /// Every binding for which it holds for all inputs, and those that depend on listed inputs.
    Certain,
}

impl<'a> Evaluator<'a> {
    /// Whether a query has an answer.
    pub(super) fn exists(&mut self, query: QueryId) -> Result<Tri, Stopped> {
        let mut best = Tri::False;
        let outer = std::mem::replace(&mut self.met_open, false);
        let _ = self.run(query, Search::Complete, &mut |_, tri| {
            best = best.or(tri);
            Ok(if best == Tri::True {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        if std::mem::replace(&mut self.met_open, outer) {
            best = best.or(Tri::Unknown);
        }
        Ok(best)
    }

    /// The values of a query's own variables in its answers.
    pub(super) fn answers(&mut self, query: QueryId) -> Result<Set, Stopped> {
        let terms = self.terms;
        let node = terms.query(query);
        let own: Vec<_> = node
            .decls
            .iter()
            .take(node.own)
            .map(|decl| decl.0)
            .collect();
        let mut set = Set::empty(own.len());
        let outer = std::mem::replace(&mut self.met_open, false);
        let _ = self.run(query, Search::Complete, &mut |this, tri| {
            let row: Rows = own.iter().filter_map(|&var| this.bound(var)).collect();
            set.push(&row, tri);
            Ok(ControlFlow::Continue(()))
        })?;
        set.open = std::mem::replace(&mut self.met_open, outer);
        set.normalize();
        Ok(set)
    }

    /// The sum of an integer over the answers of a query.
    pub(super) fn sum_over(&mut self, query: QueryId, body: IntId) -> Result<Interval, Stopped> {
        let mut total: Interval = (0, 0);
        let outer = std::mem::replace(&mut self.met_open, false);
        let _ = self.run(query, Search::Complete, &mut |this, tri| {
            let (low, high) = this.int(body)?;
            let (low, high) = if tri == Tri::True {
                (low, high)
            } else {
                (low.min(0), high.max(0))
            };
            total = (total.0.saturating_add(low), total.1.saturating_add(high));
            Ok(ControlFlow::Continue(()))
        })?;
        if std::mem::replace(&mut self.met_open, outer) {
            total = (i128::MIN, i128::MAX);
        }
        Ok(total)
    }

    /// Whether a query certainly has no answer, because a variable ranges over nothing, or something that must not be
    /// empty is. Most rules are about what a given configuration does not have.
    pub(crate) fn is_hopeless(&self, query: QueryId) -> bool {
        let plan = self.plans.get(query.index());
        let mut steps = plan.into_iter().flat_map(|plan| &plan.steps);
        steps.any(|step| match step {
            Step::Bind { bound, .. } => bound.is_some_and(|bound| self.is_nothing(bound)),
            Step::Within { bound, .. } => self.is_nothing(*bound),
            Step::Test(formula) => match self.terms.formula(*formula) {
                FormulaNode::Count(expr, Count::AtLeast(1..)) => self.is_nothing(*expr),
                _ => false,
            },
        })
    }

    /// Whether an expression has no tuple, whatever its variables are, as far as that can be told at a glance.
    fn is_nothing(&self, expr: ExprId) -> bool {
        match self.terms.expr(expr) {
            ExprNode::None(_) => true,
            ExprNode::Relation(relation) => {
                let table = self.database.table(*relation);
                // Of what exists already, properties are not known.
                let known = !table.is_property() || self.database.existing().next().is_none();
                known && table.is_empty() && table.builtin().is_none() && !table.is_open()
            }
            // Anything else may have tuples of which nothing is known.
            ExprNode::Join(a, b) => match (self.terms.expr(*a), self.terms.expr(*b)) {
                (ExprNode::Var(_) | ExprNode::Tuple(_), _) => self.is_nothing(*b),
                (_, ExprNode::Relation(_)) => self.is_nothing(*a),
                _ => false,
            },
            ExprNode::Intersection(parts) => parts.iter().any(|&part| self.is_nothing(part)),
            ExprNode::Union(parts) => parts.iter().all(|&part| self.is_nothing(part)),
            ExprNode::Difference(a, _) => self.is_nothing(*a),
            _ => false,
        }
    }

    /// Calls `visit` for each answer, with the variables bound.
    pub(crate) fn run(
        &mut self,
        query: QueryId,
        search: Search,
        visit: &mut dyn FnMut(&mut Self, Tri) -> Flow,
    ) -> Flow {
        self.advance(query, 0, Tri::True, search, visit)
    }

    fn advance(
        &mut self,
        query: QueryId,
        at: usize,
        so_far: Tri,
        search: Search,
        visit: &mut dyn FnMut(&mut Self, Tri) -> Flow,
    ) -> Flow {
        self.step()?;
        let plans = self.plans;
        let step = plans.get(query.index()).and_then(|plan| plan.steps.get(at));
        match step {
            None => {
                self.visits += 1;
                visit(self, so_far)
            }
            Some(Step::Test(formula)) => {
                let tri = so_far.and(self.formula(*formula)?);
                if tri == Tri::False {
                    return Ok(ControlFlow::Continue(()));
                }
                self.advance(query, at + 1, tri, search, visit)
            }
            Some(Step::Within { var, bound }) => {
                let atom = self.bound(*var);
                let inside = match atom {
                    Some(atom) => self.contains(*bound, &[atom])?,
                    None => Tri::False,
                };
                let tri = so_far.and(inside);
                if tri == Tri::False {
                    return Ok(ControlFlow::Continue(()));
                }
                self.advance(query, at + 1, tri, search, visit)
            }
            Some(Step::Bind { var, bound, source }) => {
                let mut attempt = |this: &mut Self, atom: Atom, tri: Tri| {
                    if !this.admits(*var, atom) {
                        return Ok(ControlFlow::Continue(()));
                    }
                    let (mark, visits) = (this.trail.mark(), this.visits);
                    if let (Tri::Unknown, Some(bound)) = (tri, bound) {
                        this.note_member(*bound, atom);
                    }
                    let before = this.bind(*var, Some(atom));
                    let flow = this.advance(query, at + 1, so_far.and(tri), search, visit);
                    this.bind(*var, before);
                    if this.visits == visits {
                        this.trail.forget(mark);
                    }
                    flow
                };
                if let (Source::Bound, Some(bound)) = (source, bound) {
                    // Mostly a whole relation: not copied.
                    let set = self.range(*bound)?;
                    self.met_open |= set.open;
                    for (row, tri) in set.rows() {
                        if let Some(&atom) = row.first()
                            && attempt(self, atom, tri)?.is_break()
                        {
                            return Ok(ControlFlow::Break(()));
                        }
                    }
                    return Ok(ControlFlow::Continue(()));
                }
                for (atom, tri) in self.candidates(*bound, source, search)? {
                    if attempt(self, atom, tri)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            }
        }
    }

    /// The values to try for a variable.
    fn candidates(
        &mut self,
        bound: Option<ExprId>,
        source: &Source,
        search: Search,
    ) -> Result<Candidates, Stopped> {
        let Source::Reverse {
            value,
            paths,
            vacuous,
        } = source
        else {
            return self.all_of(bound);
        };
        let values = self.expr(*value)?;
        if values.open && search == Search::Complete {
            return self.all_of(bound);
        }
        if values.sure.is_empty() && values.maybe.is_empty() {
            return if *vacuous {
                self.all_of(bound)
            } else {
                Ok(Candidates::new())
            };
        }
        let mut found = Rows::new();
        for path in paths {
            let mut frontier: Rows = values
                .rows()
                .filter_map(|(row, _)| row.first().copied())
                .collect();
            for hop in path {
                match self.walk(&frontier, *hop, search)? {
                    Some(next) => frontier = next,
                    None => return self.all_of(bound),
                }
            }
            found.extend(frontier);
        }
        found.sort_unstable();
        found.dedup();
        let Some(bound) = bound else {
            return Ok(found.into_iter().map(|atom| (atom, Tri::True)).collect());
        };
        let mut kept = Candidates::new();
        for atom in found {
            let inside = self.contains(bound, &[atom])?;
            if inside != Tri::False {
                kept.push((atom, inside));
            }
        }
        Ok(kept)
    }

    fn all_of(&mut self, bound: Option<ExprId>) -> Result<Candidates, Stopped> {
        let Some(bound) = bound else {
            return Ok(self
                .database
                .atoms()
                .map(|atom| (atom, Tri::True))
                .collect());
        };
        let set = self.range(bound)?;
        self.met_open |= set.open;
        let rows = set.rows();
        Ok(rows
            .filter_map(|(row, tri)| Some((*row.first()?, tri)))
            .collect())
    }

    /// Walks one relation from atoms; `None` when that is no cheaper than trying everything.
    fn walk(&mut self, from: &[Atom], hop: Hop, search: Search) -> Result<Option<Rows>, Stopped> {
        let database = self.database;
        if matches!(self.terms.expr(hop.relation), ExprNode::Closure(_)) {
            return Ok(None);
        }
        let table = self.table(hop.relation)?;
        let complete = search == Search::Complete;
        if table.builtin().is_some() || (table.is_open() && complete) {
            return Ok(None);
        }
        let mut next = Rows::new();
        for &atom in from {
            self.step()?;
            let expands =
                |atom: Atom| complete || (database.is_symbol(atom) && database.expands(atom));
            if hop.forward {
                if database.is_symbol(atom) && expands(atom) && !table.is_empty() {
                    return Ok(None);
                }
                let rows = table.starting(atom).iter();
                next.extend(rows.filter_map(|&at| table.row(at as usize).last().copied()));
                continue;
            }
            let may = |row: &[Atom]| {
                let last = row.last().map(|&last| database.equal(last, atom));
                last.is_some_and(|met| met != Tri::False)
            };
            if database.is_symbol(atom) && expands(atom) {
                // Much may be equal to it.
                let rows = (0..table.len()).map(|at| table.row(at));
                next.extend(
                    rows.filter(|row| may(row))
                        .filter_map(|row| row.first().copied()),
                );
                continue;
            }
            let rows = table.ending(atom).iter();
            next.extend(rows.filter_map(|&at| table.row(at as usize).first().copied()));
            for &at in table.ending_vaguely(database, atom) {
                let row = table.row(at as usize);
                if let (Some(first), Some(last)) = (row.first(), row.last())
                    && expands(*last)
                    && may(row)
                {
                    next.push(*first);
                }
            }
            if complete && table.is_property() {
                next.extend(database.existing());
            }
        }
        if complete
            && hop.forward
            && table.is_property()
            && from.iter().any(|&a| database.is_existing(a))
        {
            return Ok(None);
        }
        next.sort_unstable();
        next.dedup();
        Ok(Some(next))
    }
}
