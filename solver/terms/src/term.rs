//! Expressions, formulas and integers as hash-consed terms.
//!
//! Equal terms have equal ids, so that whoever walks them can remember results by id.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::node::{
    Arity, Atom, Count, Decl, Expr, ExprNode, Formula, FormulaNode, Int, IntCmp, IntNode, IntOp,
    Quant, RelationId, Var,
};

/// Nodes, each once, by the order in which they were added.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    from = "Vec<N>",
    into = "Vec<N>",
    bound(
        serialize = "N: Clone + Serialize",
        deserialize = "N: Clone + Eq + Hash + Deserialize<'de>"
    )
)]
pub struct Interner<N> {
    nodes: Vec<N>,
    ids: FxHashMap<N, usize>,
}

impl<N> Default for Interner<N> {
    fn default() -> Self {
        Interner {
            nodes: Vec::new(),
            ids: FxHashMap::default(),
        }
    }
}

impl<N> From<Vec<N>> for Interner<N> {
    fn from(nodes: Vec<N>) -> Self {
        Interner {
            nodes,
            ids: FxHashMap::default(),
        }
    }
}

impl<N> From<Interner<N>> for Vec<N> {
    fn from(interner: Interner<N>) -> Self {
        interner.nodes
    }
}

impl<N: Clone + Eq + Hash> Interner<N> {
    /// All nodes.
    pub fn nodes(&self) -> &[N] {
        &self.nodes
    }

    /// Where a node is.
    pub fn find(&self, node: &N) -> Option<usize> {
        match self.ids.len() < self.nodes.len() {
            true => self.nodes.iter().position(|other| other == node),
            false => self.ids.get(node).copied(),
        }
    }

    /// Where a node is, which is added when it is new, and whether it is.
    pub fn intern(&mut self, node: N) -> (usize, bool) {
        // Stored terms are mostly only read: their places are found out when one is added.
        if self.ids.len() < self.nodes.len() {
            self.ids = self.nodes.iter().cloned().zip(0..).collect();
        }
        if let Some(&at) = self.ids.get(&node) {
            return (at, false);
        }
        let at = self.nodes.len();
        self.nodes.push(node.clone());
        self.ids.insert(node, at);
        (at, true)
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct VarInfo {
    name: String,
    arity: Arity,
}

/// The terms of a problem.
///
/// The constructors simplify only what needs no knowledge of bounds: neutral elements, double
/// negation, nested conjunctions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Terms {
    exprs: Interner<ExprNode>,
    arities: Vec<Arity>,
    formulas: Interner<FormulaNode>,
    ints: Interner<IntNode>,
    vars: Vec<VarInfo>,
}

#[expect(
    clippy::indexing_slicing,
    reason = "ids are made by the constructors of the same Terms only"
)]
impl Terms {
    /// What an expression is.
    #[inline]
    pub fn expr(&self, expr: Expr) -> &ExprNode {
        &self.exprs.nodes[expr.0 as usize]
    }

    /// What a formula is.
    #[inline]
    pub fn formula(&self, formula: Formula) -> &FormulaNode {
        &self.formulas.nodes[formula.0 as usize]
    }

    /// What an integer is.
    #[inline]
    pub fn int(&self, int: Int) -> &IntNode {
        &self.ints.nodes[int.0 as usize]
    }

    /// Number of columns of an expression.
    #[inline]
    pub fn arity(&self, expr: Expr) -> Arity {
        self.arities[expr.0 as usize]
    }

    /// Name of a variable.
    #[inline]
    pub fn var_name(&self, var: Var) -> &str {
        &self.vars[var.0 as usize].name
    }

    /// Number of columns of the values of a variable.
    #[inline]
    pub fn var_arity(&self, var: Var) -> Arity {
        self.vars[var.0 as usize].arity
    }

    /// Number of terms: no term is nested deeper.
    pub fn len(&self) -> usize {
        self.exprs.nodes.len() + self.formulas.nodes.len() + self.ints.nodes.len()
    }

    /// Whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of expressions.
    pub fn expr_count(&self) -> usize {
        self.exprs.nodes.len()
    }

    /// The expression that is this node, when there is one.
    pub fn find_expr(&self, node: &ExprNode) -> Option<Expr> {
        self.exprs.find(node).map(Expr::at)
    }

    /// Number of variables.
    pub fn var_count(&self) -> usize {
        self.vars.len()
    }

    /// A fresh variable.
    pub fn fresh_var(&mut self, name: impl Into<String>, arity: Arity) -> Var {
        let id = u32::try_from(self.vars.len()).unwrap_or(u32::MAX);
        self.vars.push(VarInfo {
            name: name.into(),
            arity,
        });
        Var(id)
    }

    fn add_expr(&mut self, node: ExprNode, arity: Arity) -> Expr {
        self.intern_expr(node, arity).0
    }

    fn add_formula(&mut self, node: FormulaNode) -> Formula {
        self.intern_formula(node).0
    }

    fn add_int(&mut self, node: IntNode) -> Int {
        self.intern_int(node).0
    }

    /// The expression of a node as it is, and whether it is new.
    pub fn intern_expr(&mut self, node: ExprNode, arity: Arity) -> (Expr, bool) {
        let (at, new) = self.exprs.intern(node);
        if new {
            self.arities.push(arity);
        }
        (Expr::at(at), new)
    }

    /// The formula of a node as it is, and whether it is new.
    pub fn intern_formula(&mut self, node: FormulaNode) -> (Formula, bool) {
        let (at, new) = self.formulas.intern(node);
        (Formula::at(at), new)
    }

    /// The integer of a node as it is, and whether it is new.
    pub fn intern_int(&mut self, node: IntNode) -> (Int, bool) {
        let (at, new) = self.ints.intern(node);
        (Int::at(at), new)
    }
}

/// Relational expressions.
impl Terms {
    /// A relation.
    pub fn relation(&mut self, relation: RelationId, arity: Arity) -> Expr {
        self.add_expr(ExprNode::Relation(relation), arity)
    }

    /// A bound variable.
    pub fn var(&mut self, var: Var) -> Expr {
        let arity = self.var_arity(var);
        self.add_expr(ExprNode::Var(var), arity)
    }

    /// One tuple.
    pub fn tuple(&mut self, tuple: Vec<Atom>) -> Expr {
        let arity = tuple.len();
        self.add_expr(ExprNode::Tuple(tuple), arity)
    }

    /// The empty relation.
    pub fn none(&mut self, arity: Arity) -> Expr {
        self.add_expr(ExprNode::None(arity), arity)
    }

    /// All atoms.
    pub fn univ(&mut self) -> Expr {
        self.add_expr(ExprNode::Univ, 1)
    }

    /// The identity over all atoms.
    pub fn iden(&mut self) -> Expr {
        self.add_expr(ExprNode::Iden, 2)
    }

    /// The atoms of the integers.
    pub fn ints(&mut self) -> Expr {
        self.add_expr(ExprNode::Ints, 1)
    }

    fn is_none(&self, expr: Expr) -> bool {
        matches!(self.expr(expr), ExprNode::None(_))
    }

    /// Union of expressions of one arity; `arity` is that of the empty union.
    pub fn union_all(&mut self, arity: Arity, exprs: impl IntoIterator<Item = Expr>) -> Expr {
        let mut flat = Vec::new();
        for expr in exprs {
            match self.expr(expr) {
                ExprNode::None(_) => {}
                ExprNode::Union(parts) => flat.extend(parts.iter().copied()),
                _ => flat.push(expr),
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

    /// Union of two.
    pub fn union(&mut self, left: Expr, right: Expr) -> Expr {
        self.union_all(self.arity(left), [left, right])
    }

    /// Intersection of two.
    pub fn intersection(&mut self, left: Expr, right: Expr) -> Expr {
        let arity = self.arity(left);
        if self.is_none(left) || self.is_none(right) {
            return self.none(arity);
        }
        let mut flat = Vec::new();
        for expr in [left, right] {
            match self.expr(expr) {
                ExprNode::Intersection(parts) => flat.extend(parts.iter().copied()),
                _ => flat.push(expr),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        match flat.as_slice() {
            [one] => *one,
            _ => self.add_expr(ExprNode::Intersection(flat), arity),
        }
    }

    /// What is in `left` and not in `right`.
    pub fn difference(&mut self, left: Expr, right: Expr) -> Expr {
        let arity = self.arity(left);
        if self.is_none(right) {
            left
        } else if left == right || self.is_none(left) {
            self.none(arity)
        } else {
            self.add_expr(ExprNode::Difference(left, right), arity)
        }
    }

    /// `left ++ right`.
    pub fn override_with(&mut self, left: Expr, right: Expr) -> Expr {
        let arity = self.arity(left);
        self.add_expr(ExprNode::Override(left, right), arity)
    }

    /// `left . right`.
    pub fn join(&mut self, left: Expr, right: Expr) -> Expr {
        let arity = (self.arity(left) + self.arity(right)).saturating_sub(2);
        if self.is_none(left) || self.is_none(right) {
            return self.none(arity);
        }
        self.add_expr(ExprNode::Join(left, right), arity)
    }

    /// `left -> right`.
    pub fn product(&mut self, left: Expr, right: Expr) -> Expr {
        let arity = self.arity(left) + self.arity(right);
        if self.is_none(left) || self.is_none(right) {
            return self.none(arity);
        }
        self.add_expr(ExprNode::Product(left, right), arity)
    }

    /// `~expr`.
    pub fn transpose(&mut self, expr: Expr) -> Expr {
        match *self.expr(expr) {
            ExprNode::Transpose(inner) => inner,
            _ => self.add_expr(ExprNode::Transpose(expr), 2),
        }
    }

    /// `^expr`.
    pub fn closure(&mut self, expr: Expr) -> Expr {
        self.add_expr(ExprNode::Closure(expr), 2)
    }

    /// `*expr`.
    pub fn reflexive_closure(&mut self, expr: Expr) -> Expr {
        self.add_expr(ExprNode::ReflexiveClosure(expr), 2)
    }

    /// `condition => then else otherwise`.
    pub fn ite(&mut self, condition: Formula, then: Expr, otherwise: Expr) -> Expr {
        match self.formula(condition) {
            FormulaNode::True => then,
            FormulaNode::False => otherwise,
            _ if then == otherwise => then,
            _ => {
                let arity = self.arity(then);
                self.add_expr(ExprNode::Ite(condition, then, otherwise), arity)
            }
        }
    }

    /// `{ decls | formula }`.
    pub fn comprehension(&mut self, decls: Vec<Decl>, formula: Formula) -> Expr {
        let arity = decls.iter().map(|decl| self.var_arity(decl.var)).sum();
        self.add_expr(ExprNode::Comprehension(decls, formula), arity)
    }

    /// The atom of an integer.
    pub fn int_atom(&mut self, int: Int) -> Expr {
        self.add_expr(ExprNode::IntAtom(int), 1)
    }
}

/// Formulas.
impl Terms {
    /// The true formula.
    pub fn truth(&mut self) -> Formula {
        self.add_formula(FormulaNode::True)
    }

    /// The false formula.
    pub fn falsity(&mut self) -> Formula {
        self.add_formula(FormulaNode::False)
    }

    /// Negation.
    pub fn not(&mut self, formula: Formula) -> Formula {
        match *self.formula(formula) {
            FormulaNode::True => self.falsity(),
            FormulaNode::False => self.truth(),
            FormulaNode::Not(inner) => inner,
            _ => self.add_formula(FormulaNode::Not(formula)),
        }
    }

    /// Conjunction.
    pub fn and(&mut self, formulas: impl IntoIterator<Item = Formula>) -> Formula {
        let mut flat = Vec::new();
        for formula in formulas {
            match self.formula(formula) {
                FormulaNode::True => {}
                FormulaNode::False => return formula,
                FormulaNode::And(parts) => flat.extend(parts.iter().copied()),
                _ => flat.push(formula),
            }
        }
        match flat.as_slice() {
            [] => self.truth(),
            [one] => *one,
            _ => self.add_formula(FormulaNode::And(flat)),
        }
    }

    /// Disjunction.
    pub fn or(&mut self, formulas: impl IntoIterator<Item = Formula>) -> Formula {
        let mut flat = Vec::new();
        for formula in formulas {
            match self.formula(formula) {
                FormulaNode::False => {}
                FormulaNode::True => return formula,
                FormulaNode::Or(parts) => flat.extend(parts.iter().copied()),
                _ => flat.push(formula),
            }
        }
        match flat.as_slice() {
            [] => self.falsity(),
            [one] => *one,
            _ => self.add_formula(FormulaNode::Or(flat)),
        }
    }

    /// Implication. One of falsity is no negation: overflow is judged by the negations around it.
    pub fn implies(&mut self, left: Formula, right: Formula) -> Formula {
        match (self.formula(left), self.formula(right)) {
            (FormulaNode::False, _) | (_, FormulaNode::True) => self.truth(),
            (FormulaNode::True, _) => right,
            _ => self.add_formula(FormulaNode::Implies(left, right)),
        }
    }

    /// Equivalence.
    pub fn iff(&mut self, left: Formula, right: Formula) -> Formula {
        self.add_formula(FormulaNode::Iff(left, right))
    }

    /// `left in right`.
    pub fn subset(&mut self, left: Expr, right: Expr) -> Formula {
        if left == right || self.is_none(left) {
            return self.truth();
        }
        self.add_formula(FormulaNode::Subset(left, right))
    }

    /// `left = right`.
    pub fn equal(&mut self, left: Expr, right: Expr) -> Formula {
        if left == right {
            return self.truth();
        }
        self.add_formula(FormulaNode::Equal(left, right))
    }

    /// The number of tuples.
    pub fn count(&mut self, expr: Expr, count: Count) -> Formula {
        self.add_formula(FormulaNode::Count(expr, count))
    }

    /// `no expr`.
    pub fn no(&mut self, expr: Expr) -> Formula {
        self.count(expr, Count::AtMost(0))
    }

    /// `some expr`.
    pub fn some(&mut self, expr: Expr) -> Formula {
        self.count(expr, Count::AtLeast(1))
    }

    /// `lone expr`.
    pub fn lone(&mut self, expr: Expr) -> Formula {
        self.count(expr, Count::AtMost(1))
    }

    /// `one expr`.
    pub fn one(&mut self, expr: Expr) -> Formula {
        self.count(expr, Count::Exactly(1))
    }

    /// A quantified formula; without declarations, its body.
    pub fn quant(&mut self, quant: Quant, decls: Vec<Decl>, body: Formula) -> Formula {
        if decls.is_empty() {
            return body;
        }
        self.add_formula(FormulaNode::Quant(quant, decls, body))
    }

    /// Comparison of integers.
    pub fn int_cmp(&mut self, cmp: IntCmp, left: Int, right: Int) -> Formula {
        self.add_formula(FormulaNode::IntCmp(cmp, left, right))
    }

    /// `next` orders `elem` totally from `first`.
    pub fn total_order(&mut self, elem: Expr, first: Expr, next: Expr) -> Formula {
        self.add_formula(FormulaNode::TotalOrder { elem, first, next })
    }
}

/// Integers.
impl Terms {
    /// A literal.
    pub fn int_const(&mut self, value: i64) -> Int {
        self.add_int(IntNode::Const(value))
    }

    /// `#expr`.
    pub fn card(&mut self, expr: Expr) -> Int {
        self.add_int(IntNode::Card(expr))
    }

    /// The sum of a set of integers.
    pub fn sum_of(&mut self, expr: Expr) -> Int {
        match *self.expr(expr) {
            ExprNode::IntAtom(int) => int,
            _ => self.add_int(IntNode::SumOf(expr)),
        }
    }

    /// `sum decls | body`.
    pub fn sum(&mut self, decls: Vec<Decl>, body: Int) -> Int {
        self.add_int(IntNode::Sum(decls, body))
    }

    /// Negation.
    pub fn neg(&mut self, int: Int) -> Int {
        self.add_int(IntNode::Neg(int))
    }

    /// An operation.
    pub fn int_op(&mut self, op: IntOp, left: Int, right: Int) -> Int {
        self.add_int(IntNode::Op(op, left, right))
    }

    /// One or the other.
    pub fn int_ite(&mut self, condition: Formula, then: Int, otherwise: Int) -> Int {
        if then == otherwise {
            return then;
        }
        self.add_int(IntNode::Ite(condition, then, otherwise))
    }
}
