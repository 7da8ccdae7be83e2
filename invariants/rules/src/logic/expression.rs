//! Building expressions: what is equal to something simpler is built as that.

use super::node::{
    Atom, ExprId, ExprNode, FormulaId, FormulaNode, IntId, IntNode, RelationId, VarId,
};
use super::term::Terms;

impl Terms {
    /// A relation.
    pub fn relation(&mut self, id: RelationId, arity: usize) -> ExprId {
        self.add_expr(ExprNode::Relation(id), arity)
    }

    /// A variable.
    pub fn var(&mut self, id: VarId) -> ExprId {
        self.add_expr(ExprNode::Var(id), 1)
    }

    /// A constant.
    pub fn constant(&mut self, index: u32) -> ExprId {
        self.add_expr(ExprNode::Tuple(vec![Atom(index)]), 1)
    }

    /// The empty relation.
    pub fn none(&mut self, arity: usize) -> ExprId {
        self.add_expr(ExprNode::None(arity), arity)
    }

    /// All atoms.
    pub fn univ(&mut self) -> ExprId {
        self.add_expr(ExprNode::Univ, 1)
    }

    /// The identity.
    pub fn iden(&mut self) -> ExprId {
        self.add_expr(ExprNode::Iden, 2)
    }

    pub(super) fn is_none(&self, id: ExprId) -> bool {
        matches!(self.expr(id), ExprNode::None(_))
    }

    /// Union.
    pub fn union(&mut self, parts: impl IntoIterator<Item = ExprId>, arity: usize) -> ExprId {
        let mut flat = Vec::new();
        for part in parts {
            match self.expr(part) {
                ExprNode::None(_) => {}
                ExprNode::Union(inner) => flat.extend(inner.iter().copied()),
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat.as_slice() {
            [] => self.none(arity),
            [one] => *one,
            _ => self.add_expr(ExprNode::Union(flat), arity),
        }
    }

    /// Intersection.
    pub fn intersection(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let arity = self.arity(a);
        if self.is_none(a) || self.is_none(b) {
            return self.none(arity);
        }
        let mut flat = Vec::new();
        for part in [a, b] {
            match self.expr(part) {
                ExprNode::Intersection(inner) => flat.extend(inner.iter().copied()),
                ExprNode::Univ => {}
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat.as_slice() {
            [] => self.univ(),
            [one] => *one,
            _ => self.add_expr(ExprNode::Intersection(flat), arity),
        }
    }

    /// Difference.
    pub fn difference(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let arity = self.arity(a);
        if self.is_none(b) {
            a
        } else if a == b || self.is_none(a) {
            self.none(arity)
        } else {
            self.add_expr(ExprNode::Difference(a, b), arity)
        }
    }

    /// `a ++ b`.
    pub fn override_with(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let arity = self.arity(a);
        self.add_expr(ExprNode::Override(a, b), arity)
    }

    /// `a . b`; what the identity and `S -> r` joined with `S` come to is simplified.
    pub fn join(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let arity = (self.arity(a) + self.arity(b)).saturating_sub(2);
        if self.is_none(a) || self.is_none(b) {
            return self.none(arity);
        }
        match (self.expr(a).clone(), self.expr(b).clone()) {
            (_, ExprNode::Iden) => a,
            (ExprNode::Iden, _) => b,
            (_, ExprNode::Product(owner, rest)) if owner == a => rest,
            (_, ExprNode::Union(parts)) if self.has_iden(&parts) => {
                let joined: Vec<ExprId> = parts.iter().map(|&part| self.join(a, part)).collect();
                self.union(joined, arity)
            }
            (ExprNode::Union(parts), _) if self.has_iden(&parts) => {
                let joined: Vec<ExprId> = parts.iter().map(|&part| self.join(part, b)).collect();
                self.union(joined, arity)
            }
            _ => self.add_expr(ExprNode::Join(a, b), arity),
        }
    }

    fn has_iden(&self, parts: &[ExprId]) -> bool {
        parts
            .iter()
            .any(|&part| matches!(self.expr(part), ExprNode::Iden))
    }

    /// `a -> b`.
    pub fn product(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let arity = self.arity(a) + self.arity(b);
        if self.is_none(a) || self.is_none(b) {
            return self.none(arity);
        }
        self.add_expr(ExprNode::Product(a, b), arity)
    }

    /// `~a`.
    pub fn transpose(&mut self, a: ExprId) -> ExprId {
        match *self.expr(a) {
            ExprNode::Transpose(inner) => inner,
            ExprNode::Iden => a,
            _ => self.add_expr(ExprNode::Transpose(a), 2),
        }
    }

    /// `^a`.
    pub fn closure(&mut self, a: ExprId) -> ExprId {
        match *self.expr(a) {
            ExprNode::Closure(_) | ExprNode::Iden | ExprNode::None(_) => a,
            _ => self.add_expr(ExprNode::Closure(a), 2),
        }
    }

    /// `c => a else b`.
    pub fn ite(&mut self, c: FormulaId, a: ExprId, b: ExprId) -> ExprId {
        match self.formula(c) {
            FormulaNode::True => a,
            FormulaNode::False => b,
            _ if a == b => a,
            _ => {
                let arity = self.arity(a);
                self.add_expr(ExprNode::Ite(c, a, b), arity)
            }
        }
    }

    /// `{ decls | body }`.
    pub fn comprehension(&mut self, decls: Vec<(VarId, ExprId)>, body: FormulaId) -> ExprId {
        let arity = decls.len();
        match self.make_query(decls, body) {
            Some(query) => self.add_comprehension(query, arity),
            None => self.none(arity),
        }
    }

    /// The atom of an integer.
    pub fn int_atom(&mut self, int: IntId) -> ExprId {
        match *self.int(int) {
            IntNode::SumOf(set) if matches!(self.expr(set), ExprNode::Tuple(_)) => set,
            _ => self.add_expr(ExprNode::IntAtom(int), 1),
        }
    }
}
