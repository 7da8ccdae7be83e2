//! Terms in negation normal form, and the queries among them.
//!
//! Negation is pushed inward as terms are built, universal quantifiers become negated existential ones, and an
//! existential quantifier within a conjunction of another joins it. What breaks a rule is thus one
//! [`Query`]: variables, what they range over, and conjuncts. Each existential quantifier, comprehension and sum has one.

use locus_terms::Interner;
use serde::{Deserialize, Serialize};

use super::node::{
    Decl, ExprId, ExprNode, FormulaId, FormulaNode, IntId, IntNode, Mult, Quant, Query, QueryId,
    VarId,
};

/// A sorted list of variables.
type VarSet = Box<[VarId]>;

fn merge(sets: &[&[VarId]]) -> VarSet {
    let mut all: Vec<VarId> = sets.iter().flat_map(|set| set.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

/// All terms of a program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Terms {
    arena: locus_terms::Terms,
    expr_vars: Vec<VarSet>,
    formula_vars: Vec<VarSet>,
    int_vars: Vec<VarSet>,
    queries: Interner<Query>,
    query_vars: Vec<VarSet>,
    /// The query of each expression, formula and integer that has one.
    expr_queries: Vec<Option<QueryId>>,
    formula_queries: Vec<Option<QueryId>>,
    int_queries: Vec<Option<QueryId>>,
}

#[expect(
    clippy::indexing_slicing,
    reason = "ids are made by the constructors of the same terms only"
)]
impl Terms {
    /// What an expression is.
    #[inline]
    pub fn expr(&self, id: ExprId) -> &ExprNode {
        self.arena.expr(id)
    }

    /// What a formula is.
    #[inline]
    pub fn formula(&self, id: FormulaId) -> &FormulaNode {
        self.arena.formula(id)
    }

    /// What an integer is.
    #[inline]
    pub fn int(&self, id: IntId) -> &IntNode {
        self.arena.int(id)
    }

    /// What a query is.
    #[inline]
    pub fn query(&self, id: QueryId) -> &Query {
        &self.queries.nodes()[id.index()]
    }

    /// The query whose answers a comprehension has.
    #[inline]
    pub fn expr_query(&self, id: ExprId) -> Option<QueryId> {
        self.expr_queries[id.index()]
    }

    /// The query of which an existential quantifier says that it has an answer.
    #[inline]
    pub fn formula_query(&self, id: FormulaId) -> Option<QueryId> {
        self.formula_queries[id.index()]
    }

    /// The query over whose answers a sum is taken.
    #[inline]
    pub fn int_query(&self, id: IntId) -> Option<QueryId> {
        self.int_queries[id.index()]
    }

    /// Number of columns of an expression.
    #[inline]
    pub fn arity(&self, id: ExprId) -> usize {
        self.arena.arity(id)
    }

    /// The variables that an expression mentions and does not bind.
    #[inline]
    pub fn expr_vars(&self, id: ExprId) -> &[VarId] {
        &self.expr_vars[id.index()]
    }

    /// The variables that a formula mentions and does not bind.
    #[inline]
    pub fn formula_vars(&self, id: FormulaId) -> &[VarId] {
        &self.formula_vars[id.index()]
    }

    /// The variables that an integer mentions and does not bind.
    #[inline]
    pub fn int_vars(&self, id: IntId) -> &[VarId] {
        &self.int_vars[id.index()]
    }

    /// The variables that a query mentions and does not bind.
    #[inline]
    pub fn query_vars(&self, id: QueryId) -> &[VarId] {
        &self.query_vars[id.index()]
    }

    /// The name of a variable.
    pub fn var_name(&self, id: VarId) -> &str {
        self.arena.var_name(id)
    }

    /// The expression of a variable, when it is used in any.
    pub fn var_expr(&self, var: VarId) -> Option<ExprId> {
        self.arena.find_expr(&ExprNode::Var(var))
    }

    /// Number of variables.
    pub fn var_count(&self) -> usize {
        self.arena.var_count()
    }

    /// Number of queries.
    pub fn query_count(&self) -> usize {
        self.queries.nodes().len()
    }

    /// Number of expressions.
    pub fn expr_count(&self) -> usize {
        self.arena.expr_count()
    }

    /// A new variable, which ranges over single atoms.
    pub fn fresh(&mut self, name: impl Into<String>) -> VarId {
        self.arena.fresh_var(name, 1)
    }

    /// Adds an expression that has no query.
    pub(super) fn add_expr(&mut self, node: ExprNode, arity: usize) -> ExprId {
        let vars = match &node {
            ExprNode::Var(var) => merge(&[&[*var]]),
            ExprNode::Union(parts) | ExprNode::Intersection(parts) => {
                let sets: Vec<&[VarId]> = parts.iter().map(|&part| self.expr_vars(part)).collect();
                merge(&sets)
            }
            ExprNode::Difference(a, b)
            | ExprNode::Override(a, b)
            | ExprNode::Join(a, b)
            | ExprNode::Product(a, b) => merge(&[self.expr_vars(*a), self.expr_vars(*b)]),
            ExprNode::Transpose(a) | ExprNode::Closure(a) | ExprNode::ReflexiveClosure(a) => {
                merge(&[self.expr_vars(*a)])
            }
            ExprNode::Ite(c, a, b) => merge(&[
                self.formula_vars(*c),
                self.expr_vars(*a),
                self.expr_vars(*b),
            ]),
            ExprNode::IntAtom(int) => merge(&[self.int_vars(*int)]),
            ExprNode::Relation(_)
            | ExprNode::Tuple(_)
            | ExprNode::None(_)
            | ExprNode::Univ
            | ExprNode::Iden
            | ExprNode::Ints
            | ExprNode::Comprehension(..) => merge(&[]),
        };
        self.keep_expr(node, arity, vars, None)
    }

    fn keep_expr(
        &mut self,
        node: ExprNode,
        arity: usize,
        vars: VarSet,
        query: Option<QueryId>,
    ) -> ExprId {
        let (id, new) = self.arena.intern_expr(node, arity);
        if new {
            self.expr_vars.push(vars);
            self.expr_queries.push(query);
        }
        id
    }

    /// Adds the comprehension of a query's own variables.
    pub(super) fn add_comprehension(&mut self, query: QueryId, arity: usize) -> ExprId {
        let vars = merge(&[self.query_vars(query)]);
        let own = self.query(query).own;
        let (mut decls, mut body) = self.quantified(query);
        if own < decls.len() {
            let joined = decls.split_off(own);
            body = self.keep_exists(joined, body, None);
        }
        let node = ExprNode::Comprehension(decls, body);
        self.keep_expr(node, arity, vars, Some(query))
    }

    /// Adds a formula that has no query.
    pub(super) fn add_formula(&mut self, node: FormulaNode) -> FormulaId {
        let vars = match &node {
            FormulaNode::Not(a) => merge(&[self.formula_vars(*a)]),
            FormulaNode::And(parts) | FormulaNode::Or(parts) => {
                let sets: Vec<&[VarId]> = parts.iter().map(|&f| self.formula_vars(f)).collect();
                merge(&sets)
            }
            FormulaNode::Implies(a, b) | FormulaNode::Iff(a, b) => {
                merge(&[self.formula_vars(*a), self.formula_vars(*b)])
            }
            FormulaNode::Subset(a, b) | FormulaNode::Equal(a, b) => {
                merge(&[self.expr_vars(*a), self.expr_vars(*b)])
            }
            FormulaNode::Count(a, _) => merge(&[self.expr_vars(*a)]),
            FormulaNode::IntCmp(_, a, b) => merge(&[self.int_vars(*a), self.int_vars(*b)]),
            FormulaNode::True
            | FormulaNode::False
            | FormulaNode::Quant(..)
            | FormulaNode::TotalOrder { .. } => merge(&[]),
        };
        self.keep_formula(node, vars, None)
    }

    fn keep_formula(
        &mut self,
        node: FormulaNode,
        vars: VarSet,
        query: Option<QueryId>,
    ) -> FormulaId {
        let (id, new) = self.arena.intern_formula(node);
        if new {
            self.formula_vars.push(vars);
            self.formula_queries.push(query);
        } else if let (Some(slot @ None), Some(_)) =
            (self.formula_queries.get_mut(id.index()), query)
        {
            // It was a part of a comprehension before.
            *slot = query;
        }
        id
    }

    /// Adds that a query has an answer.
    pub(super) fn add_exists(&mut self, query: QueryId) -> FormulaId {
        let (decls, body) = self.quantified(query);
        self.keep_exists(decls, body, Some(query))
    }

    fn keep_exists(
        &mut self,
        decls: Vec<Decl>,
        body: FormulaId,
        query: Option<QueryId>,
    ) -> FormulaId {
        let mut free: Vec<VarId> = self.formula_vars(body).to_vec();
        for decl in decls.iter().rev() {
            free.retain(|&var| var != decl.var);
            free.extend_from_slice(self.expr_vars(decl.bound));
        }
        let vars = merge(&[&free]);
        self.keep_formula(FormulaNode::Quant(Quant::Some, decls, body), vars, query)
    }

    /// The declarations of a query, and its conjuncts as one formula.
    fn quantified(&mut self, query: QueryId) -> (Vec<Decl>, FormulaId) {
        let Query { decls, body, .. } = self.query(query).clone();
        let decls = decls.into_iter().map(|(var, bound)| Decl {
            var,
            mult: Mult::One,
            bound,
        });
        let body = match body.as_slice() {
            [] => self.add_formula(FormulaNode::True),
            [one] => *one,
            _ => self.add_formula(FormulaNode::And(body)),
        };
        (decls.collect(), body)
    }

    /// Adds an integer that has no query.
    pub(super) fn add_int(&mut self, node: IntNode) -> IntId {
        let vars = match &node {
            IntNode::Card(a) | IntNode::SumOf(a) => merge(&[self.expr_vars(*a)]),
            IntNode::Neg(a) => merge(&[self.int_vars(*a)]),
            IntNode::Op(_, a, b) => merge(&[self.int_vars(*a), self.int_vars(*b)]),
            IntNode::Ite(c, a, b) => {
                merge(&[self.formula_vars(*c), self.int_vars(*a), self.int_vars(*b)])
            }
            IntNode::Const(_) | IntNode::Sum(..) => merge(&[]),
        };
        self.keep_int(node, vars, None)
    }

    fn keep_int(&mut self, node: IntNode, vars: VarSet, query: Option<QueryId>) -> IntId {
        let (id, new) = self.arena.intern_int(node);
        if new {
            self.int_vars.push(vars);
            self.int_queries.push(query);
        }
        id
    }

    /// Adds the sum of an integer over the answers of a query, which has no conjuncts.
    pub(super) fn add_sum(&mut self, query: QueryId, body: IntId) -> IntId {
        let (decls, _) = self.quantified(query);
        let inner = self.int_vars(body).iter().copied();
        let inner: Vec<VarId> = inner
            .filter(|var| decls.iter().all(|decl| decl.var != *var))
            .collect();
        let vars = merge(&[self.query_vars(query), &inner]);
        self.keep_int(IntNode::Sum(decls, body), vars, Some(query))
    }

    pub(super) fn add_query(&mut self, query: Query) -> QueryId {
        let mut bound: Vec<VarId> = Vec::new();
        let mut free: Vec<VarId> = Vec::new();
        for (var, range) in &query.decls {
            let vars = self.expr_vars(*range).iter();
            free.extend(vars.filter(|var| !bound.contains(var)));
            bound.push(*var);
        }
        for &conjunct in &query.body {
            let vars = self.formula_vars(conjunct).iter();
            free.extend(vars.filter(|var| !bound.contains(var)));
        }
        let (at, new) = self.queries.intern(query);
        if new {
            self.query_vars.push(merge(&[&free]));
        }
        QueryId::at(at)
    }
}
