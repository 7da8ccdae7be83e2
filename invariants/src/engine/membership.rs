//! Whether a tuple is in an expression, without listing the expression; and joins.

use smallvec::SmallVec;

use super::Builtin;
use super::database::Kind;
use super::evaluate::{Evaluator, Stopped};
use super::set::{self, Atom, Rows, Set, Tri};
use super::table::Table;
use crate::logic::{ExprId, ExprNode};

/// More combinations of values of symbols than this are not gone through.
const COMBINATIONS: usize = 256;

impl<'a> Evaluator<'a> {
    /// Whether two tuples are the same.
    fn same(&self, a: &[Atom], b: &[Atom]) -> Tri {
        let mut all = Tri::True;
        for (&a, &b) in a.iter().zip(b) {
            all = all.and(self.equal(a, b));
        }
        all
    }

    fn has_symbol(&self, row: &[Atom]) -> bool {
        row.iter().any(|&atom| self.database.is_symbol(atom))
    }

    /// Whether a tuple is in a set.
    pub(super) fn member(&self, set: &Set, row: &[Atom]) -> Tri {
        if set::contains(&set.sure, set.arity, row) {
            return Tri::True;
        }
        let mut best = Tri::from(set.open).and(Tri::Unknown);
        if set::contains(&set.maybe, set.arity, row) {
            return Tri::Unknown;
        }
        if self.database.has_vague() {
            for (other, tri) in set.rows() {
                best = best.or(tri.and(self.same(row, other)));
            }
        }
        best
    }

    /// Whether a tuple is in a table.
    fn in_table(&self, table: &Table, row: &[Atom]) -> Tri {
        if let Some(builtin) = table.builtin() {
            return self.holds(builtin, row);
        }
        let Some(&first) = row.first() else {
            return Tri::False;
        };
        let mut best = Tri::from(table.is_open()).and(Tri::Unknown);
        if row.len() == 1 {
            for &at in table.starting(first) {
                best = best.or(self.certain(table, at as usize));
            }
        } else {
            for &at in table.starting(first) {
                let found = self.same(row, table.row(at as usize));
                best = best.or(found.and(self.certain(table, at as usize)));
            }
            if table.is_property() && self.database.is_existing(first) {
                best = best.or(Tri::Unknown);
            }
        }
        // What may be the same without being it is not found by the index.
        if best != Tri::True && self.database.has_vague() {
            let mut compare = |at: usize| {
                let found = self.same(row, table.row(at));
                best = best.or(found.and(self.certain(table, at)));
                best
            };
            if self.database.is_symbol(first) {
                // It may be nearly anything; it is certain to be only what its one value is.
                let enough = match self.database.is_settled(first) {
                    true => Tri::True,
                    false => Tri::Unknown,
                };
                let _ = (0..table.len()).find(|&at| compare(at) >= enough);
            } else {
                for &at in table.starting_vaguely(self.database) {
                    compare(at as usize);
                }
            }
        }
        best
    }

    /// The one atom that an expression certainly is, or that it certainly has none; nothing when that takes more than
    /// a look into a stored relation. Most of what rules compare is a property that a thing has once.
    pub(super) fn scalar(&self, expr: ExprId) -> Option<Option<Atom>> {
        let (table, rows) = match self.terms.expr(expr) {
            ExprNode::Var(var) => return self.bound(*var).map(Some),
            ExprNode::Tuple(tuple) => {
                return match tuple.as_slice() {
                    [atom] => Some(Some(*atom)),
                    _ => None,
                };
            }
            ExprNode::Relation(relation) => {
                let table = self.database.table(*relation);
                if table.arity() != 1 || table.len() != 1 || table.is_open() {
                    return None;
                }
                (table, &[0][..])
            }
            ExprNode::Join(a, b) => {
                let ExprNode::Relation(relation) = self.terms.expr(*b) else {
                    return None;
                };
                let table = self.database.table(*relation);
                let Some(atom) = self.scalar(*a)? else {
                    return Some(None);
                };
                if table.arity() != 2 || table.builtin().is_some() || self.opens(atom, table) {
                    return None;
                }
                (table, table.starting(atom))
            }
            _ => return None,
        };
        match rows {
            [] => Some(None),
            [at] if table.certain(*at as usize) == Tri::True => {
                table.row(*at as usize).last().copied().map(Some)
            }
            _ => None,
        }
    }

    /// Whether a tuple is in a built-in relation: for symbols, over all the values they may have.
    pub(super) fn holds(&self, builtin: Builtin, row: &[Atom]) -> Tri {
        let holds = self.decide(builtin, row);
        if holds == Tri::Unknown {
            self.trail.note_row(self.database, row);
        }
        holds
    }

    fn decide(&self, builtin: Builtin, row: &[Atom]) -> Tri {
        if builtin == Builtin::WrittenBefore {
            return match row {
                [a, b] => Tri::from(self.database.written_before(*a, *b)),
                _ => Tri::False,
            };
        }
        if !self.has_symbol(row) {
            let values: Option<SmallVec<[_; 3]>> = row
                .iter()
                .map(|&atom| self.database.atom(atom).value.as_ref())
                .collect();
            return match values.map(|values| builtin.holds(&values)) {
                Some(Some(holds)) => Tri::from(holds),
                Some(None) => {
                    self.undecidable.set(true);
                    Tri::Unknown
                }
                None => Tri::False,
            };
        }
        if let known @ (Tri::True | Tri::False) = self.by_bounds(builtin, row) {
            return known;
        }
        let mut choices = Vec::new();
        let mut combinations: usize = 1;
        for &atom in row {
            match self.database.values(atom) {
                Some(values) => {
                    combinations = combinations.saturating_mul(values.len());
                    choices.push(values);
                }
                None if self.database.is_symbol(atom) => return Tri::Unknown,
                None => return Tri::False,
            }
        }
        if combinations > COMBINATIONS || combinations == 0 {
            return Tri::Unknown;
        }
        let (mut any, mut all) = (false, true);
        for mut number in 0..combinations {
            let mut tuple = Vec::with_capacity(row.len());
            for values in &choices {
                tuple.extend(values.get(number % values.len()));
                number /= values.len();
            }
            match builtin.holds(&tuple) {
                Some(true) => any = true,
                Some(false) => all = false,
                None => return Tri::Unknown,
            }
        }
        match (any, all) {
            (_, true) => Tri::True,
            (true, false) => Tri::Unknown,
            (false, false) => Tri::False,
        }
    }

    /// What the limits of numbers say, whatever lies between them.
    fn by_bounds(&self, builtin: Builtin, row: &[Atom]) -> Tri {
        let bounds = |atom: &Atom| self.database.bounds(*atom);
        match (builtin, row) {
            (Builtin::Less, [a, b]) => match (bounds(a), bounds(b)) {
                (Some((_, Some(high))), Some((Some(low), _))) if high < low => Tri::True,
                (Some((Some(low), _)), Some((_, Some(high)))) if low >= high => Tri::False,
                _ => Tri::Unknown,
            },
            (Builtin::Negative, [a]) => match bounds(a) {
                Some((_, Some(high))) if high < 0 => Tri::True,
                Some((Some(low), _)) if low >= 0 => Tri::False,
                _ => Tri::Unknown,
            },
            (Builtin::IsNumber, [a]) if bounds(a).is_some() => Tri::True,
            _ => Tri::Unknown,
        }
    }

    /// Whether a tuple is in an expression.
    pub(super) fn contains(&mut self, expr: ExprId, row: &[Atom]) -> Result<Tri, Stopped> {
        if !self.trail.is_on() {
            return self.has(expr, row);
        }
        let mark = self.trail.mark();
        let tri = self.has(expr, row)?;
        if tri != Tri::Unknown {
            self.trail.forget(mark);
        }
        Ok(tri)
    }

    fn has(&mut self, expr: ExprId, row: &[Atom]) -> Result<Tri, Stopped> {
        self.step()?;
        let terms = self.terms;
        match terms.expr(expr) {
            ExprNode::Relation(relation) => Ok(self.in_table(self.database.table(*relation), row)),
            ExprNode::Var(var) => Ok(match (self.bound(*var), row) {
                (Some(atom), [other]) => self.equal(atom, *other),
                _ => Tri::False,
            }),
            ExprNode::Tuple(tuple) => Ok(self.same(tuple, row)),
            ExprNode::None(_) => Ok(Tri::False),
            ExprNode::Univ => Ok(Tri::True),
            ExprNode::Iden => match row {
                [a, b] => Ok(self.equal(*a, *b)),
                _ => Ok(Tri::False),
            },
            ExprNode::Union(parts) => {
                let mut any = Tri::False;
                for &part in parts {
                    any = any.or(self.contains(part, row)?);
                    if any == Tri::True {
                        break;
                    }
                }
                Ok(any)
            }
            ExprNode::Intersection(parts) => {
                let mut all = Tri::True;
                for &part in parts {
                    all = all.and(self.contains(part, row)?);
                    if all == Tri::False {
                        break;
                    }
                }
                Ok(all)
            }
            ExprNode::Difference(a, b) => {
                let inside = self.contains(*a, row)?;
                if inside == Tri::False {
                    return Ok(inside);
                }
                Ok(inside.and(!self.contains(*b, row)?))
            }
            ExprNode::Product(a, b) => {
                let split = terms.arity(*a).min(row.len());
                let (left, right) = row.split_at(split);
                let inside = self.contains(*a, left)?;
                if inside == Tri::False {
                    return Ok(inside);
                }
                Ok(inside.and(self.contains(*b, right)?))
            }
            ExprNode::Transpose(a) => match row {
                [x, y] => self.contains(*a, &[*y, *x]),
                _ => Ok(Tri::False),
            },
            ExprNode::Closure(a) if self.is_closed(*a) => match row {
                [x, y] => Ok(self.reach(*a)?.connects(*x, *y)),
                _ => Ok(Tri::False),
            },
            ExprNode::Ite(condition, a, b) => match self.formula(*condition)? {
                Tri::True => self.contains(*a, row),
                Tri::False => self.contains(*b, row),
                Tri::Unknown => {
                    let (a, b) = (self.contains(*a, row)?, self.contains(*b, row)?);
                    Ok(if a == b { a } else { Tri::Unknown })
                }
            },
            ExprNode::Join(a, b) if !self.is_closed(expr) => self.in_join(*a, *b, row),
            _ if self.is_closed(expr) => {
                let table = self.table(expr)?;
                Ok(self.in_table(table, row))
            }
            _ => {
                let set = self.expr(expr)?;
                Ok(self.member(&set, row))
            }
        }
    }

    /// Whether a tuple is in `a . b`: lists the side that is easier and looks the rest up in the other.
    fn in_join(&mut self, a: ExprId, b: ExprId, row: &[Atom]) -> Result<Tri, Stopped> {
        match self.scalar(a) {
            Some(Some(atom)) => {
                let mut link = Rows::new();
                link.push(atom);
                link.extend_from_slice(row);
                return self.contains(b, &link);
            }
            Some(None) => return Ok(Tri::False),
            None => {}
        }
        let left_columns = self.terms.arity(a).saturating_sub(1).min(row.len());
        let (head, tail) = row.split_at(left_columns);
        let mut any = Tri::False;
        if self.listing_cost(a) <= self.listing_cost(b) {
            let left = self.expr(a)?;
            for (found, tri) in left.rows() {
                let Some((last, before)) = found.split_last() else {
                    continue;
                };
                let tri = tri.and(self.same(head, before));
                if tri != Tri::False {
                    let mut link = Rows::from_slice(&[*last]);
                    link.extend_from_slice(tail);
                    any = any.or(tri.and(self.contains(b, &link)?));
                }
            }
            if left.open {
                any = any.or(Tri::Unknown);
            }
        } else {
            let right = self.expr(b)?;
            for (found, tri) in right.rows() {
                let Some((first, after)) = found.split_first() else {
                    continue;
                };
                let tri = tri.and(self.same(tail, after));
                if tri != Tri::False {
                    let mut link = Rows::from_slice(head);
                    link.push(*first);
                    any = any.or(tri.and(self.contains(a, &link)?));
                }
            }
            if right.open {
                any = any.or(Tri::Unknown);
            }
        }
        Ok(any)
    }

    /// Whether an expression has a tuple, when that can be told without listing it.
    pub(super) fn some(&mut self, expr: ExprId) -> Result<Option<Tri>, Stopped> {
        match self.terms.expr(expr) {
            ExprNode::Join(a, b) => self.some_joined(*a, *b),
            ExprNode::Intersection(parts) => self.some_common(parts),
            _ => Ok(None),
        }
    }

    /// Whether `a . b` has a tuple, when that is one look into a stored relation.
    fn some_joined(&mut self, a: ExprId, b: ExprId) -> Result<Option<Tri>, Stopped> {
        let ExprNode::Relation(relation) = self.terms.expr(b) else {
            return Ok(None);
        };
        let table = self.database.table(*relation);
        let Some(atom) = self.scalar(a) else {
            return Ok(None);
        };
        let Some(atom) = atom else {
            return Ok(Some(Tri::False));
        };
        if table.builtin().is_some() || table.arity() < 2 {
            return Ok(None);
        }
        self.step()?;
        let mut some = Tri::from(self.opens(atom, table)).and(Tri::Unknown);
        for &at in table.starting(atom) {
            some = some.or(self.certain(table, at as usize));
        }
        Ok(Some(some))
    }

    /// Whether an intersection has a tuple, when one of its operands is one atom.
    fn some_common(&mut self, parts: &[ExprId]) -> Result<Option<Tri>, Stopped> {
        let scalar = |&part: &ExprId| Some((part, self.scalar(part)?));
        let Some((base, atom)) = parts.iter().find_map(scalar) else {
            return Ok(None);
        };
        let Some(atom) = atom else {
            return Ok(Some(Tri::False));
        };
        let mut all = Tri::True;
        for &part in parts {
            if part != base && all != Tri::False {
                all = all.and(self.contains(part, &[atom])?);
            }
        }
        Ok(Some(all))
    }

    /// `a . b`.
    pub(super) fn join(&mut self, a: ExprId, b: ExprId) -> Result<Set, Stopped> {
        let terms = self.terms;
        let arity = (terms.arity(a) + terms.arity(b)).saturating_sub(2);
        let mut out = Set::empty(arity);
        if self.is_closed(b)
            && terms.arity(b) > 1
            && !matches!(terms.expr(b), ExprNode::Closure(_))
            && let Some(atom) = self.scalar(a)
        {
            let Some(atom) = atom else {
                return Ok(out);
            };
            let table = self.table(b)?;
            if table.builtin().is_none() {
                let rows = table.starting(atom);
                for &at in rows {
                    self.step()?;
                    let found = table.row(at as usize).get(1..).unwrap_or(&[]);
                    out.push(found, self.certain(table, at as usize));
                }
                out.open = self.opens(atom, table);
                if rows.len() > 1 {
                    out.normalize();
                }
                return Ok(out);
            }
        }
        if self.is_closed(b) && terms.arity(b) > 1 {
            let left = self.expr(a)?;
            if let ExprNode::Closure(relation) = terms.expr(b)
                && self.is_closed(*relation)
            {
                let reach = self.reach(*relation)?;
                out.open = left.open || reach.is_open();
                for (row, tri) in left.rows() {
                    if let Some((last, head)) = row.split_last() {
                        for (end, sure) in reach.from(*last) {
                            self.step()?;
                            out.push_parts(head, &[end], tri.and(sure));
                        }
                        out.open |= self.database.is_symbol(*last);
                    }
                }
            } else {
                let table = self.table(b)?;
                self.join_table(&left, table, &mut out)?;
            }
        } else if self.is_closed(a) && terms.arity(a) > 1 {
            let right = self.expr(b)?;
            let table = self.table(a)?;
            self.join_back(table, &right, &mut out)?;
        } else {
            let (left, right) = (self.expr(a)?, self.expr(b)?);
            out.open = left.open || right.open;
            for (x, sure) in left.rows() {
                for (y, also) in right.rows() {
                    self.step()?;
                    if let (Some((last, head)), Some((first, tail))) =
                        (x.split_last(), y.split_first())
                    {
                        let met = self.equal(*last, *first);
                        out.push_parts(head, tail, sure.and(also).and(met));
                    }
                }
            }
        }
        out.normalize();
        Ok(out)
    }

    fn join_table(&mut self, left: &Set, table: &Table, out: &mut Set) -> Result<(), Stopped> {
        if let Some(builtin) = table.builtin() {
            return self.join_builtin(left, builtin, out);
        }
        out.open |= left.open && !table.is_empty();
        for (row, tri) in left.rows() {
            let Some((last, head)) = row.split_last() else {
                continue;
            };
            for &at in table.starting(*last) {
                self.step()?;
                let found = table.row(at as usize).get(1..).unwrap_or(&[]);
                let sure = tri.and(self.certain(table, at as usize));
                out.push_parts(head, found, sure);
            }
            out.open |= self.opens(*last, table);
        }
        out.open |= table.is_open();
        Ok(())
    }

    /// Whether a relation may relate an atom to more than it says.
    fn opens(&self, atom: Atom, table: &Table) -> bool {
        // What is not known may be the owner of anything that the relation says.
        let opens = table.is_open()
            || (self.database.is_symbol(atom) && !table.is_empty())
            || (table.is_property() && self.database.is_existing(atom));
        if opens {
            self.trail.note_atom(self.database, atom, true);
        }
        opens
    }

    fn join_back(&mut self, table: &Table, right: &Set, out: &mut Set) -> Result<(), Stopped> {
        let database = self.database;
        out.open |= table.is_open() || (right.open && !table.is_empty());
        if let Some(builtin) = table.builtin() {
            for (row, tri) in right.rows() {
                let Some((first, tail)) = row.split_first() else {
                    continue;
                };
                for atom in database.atoms() {
                    self.step()?;
                    if database.atom(atom).kind == Kind::Value {
                        let sure = tri.and(self.holds(builtin, &[atom, *first]));
                        out.push_parts(&[atom], tail, sure);
                    }
                }
            }
            return Ok(());
        }
        for (row, tri) in right.rows() {
            let Some((first, tail)) = row.split_first() else {
                continue;
            };
            for &at in table.ending(*first) {
                self.step()?;
                push_head(
                    table,
                    at,
                    tail,
                    tri.and(self.certain(table, at as usize)),
                    out,
                );
            }
            if database.is_symbol(*first) {
                for at in 0..u32::try_from(table.len()).unwrap_or(u32::MAX) {
                    let met = self.meets(table, at as usize, *first);
                    let sure = tri.and(met).and(self.certain(table, at as usize));
                    push_head(table, at, tail, sure, out);
                }
                continue;
            }
            for &at in table.ending_vaguely(database, *first) {
                let met = self.meets(table, at as usize, *first);
                let sure = tri.and(met).and(self.certain(table, at as usize));
                push_head(table, at, tail, sure, out);
            }
        }
        Ok(())
    }

    fn meets(&self, table: &Table, at: usize, atom: Atom) -> Tri {
        let last = table.row(at).last();
        last.map_or(Tri::False, |&last| self.equal(last, atom))
    }

    /// All values that a built-in relation relates a value to, among those present.
    fn join_builtin(&mut self, left: &Set, builtin: Builtin, out: &mut Set) -> Result<(), Stopped> {
        let database = self.database;
        out.open |= left.open;
        for (row, tri) in left.rows() {
            let Some((last, head)) = row.split_last() else {
                continue;
            };
            for atom in database.atoms() {
                self.step()?;
                if out.arity == head.len() + 1 && database.atom(atom).kind != Kind::Symbol {
                    let sure = tri.and(self.holds(builtin, &[*last, atom]));
                    out.push_parts(head, &[atom], sure);
                }
            }
            out.open |= database.has_vague();
        }
        Ok(())
    }
}

fn push_head(table: &Table, at: u32, tail: &[Atom], sure: Tri, out: &mut Set) {
    let row = table.row(at as usize);
    let head = row.get(..row.len().saturating_sub(1)).unwrap_or(&[]);
    out.push_parts(head, tail, sure);
}
