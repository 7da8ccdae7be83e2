//! Hash-consed terms in negation normal form.
//!
//! Negation is pushed inward as terms are built, universal quantifiers become negated existential ones, and an
//! existential quantifier within a conjunction of another joins it. What breaks a rule is thus one
//! [`Query`]: variables, what they range over, and conjuncts.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::node::{
    ExprId, ExprNode, FormulaId, FormulaNode, IntId, IntNode, Query, QueryId, VarId,
};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    from = "Vec<N>",
    into = "Vec<N>",
    bound(
        serialize = "N: Clone + Serialize",
        deserialize = "N: Clone + Eq + std::hash::Hash + Deserialize<'de>"
    )
)]
struct Interner<N> {
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

impl<N: Clone + Eq + std::hash::Hash> Interner<N> {
    /// Where a node is.
    fn find(&self, node: &N) -> Option<usize> {
        match self.ids.len() < self.nodes.len() {
            true => self.nodes.iter().position(|other| other == node),
            false => self.ids.get(node).copied(),
        }
    }

    fn intern(&mut self, node: N) -> (usize, bool) {
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
    exprs: Interner<ExprNode>,
    arities: Vec<usize>,
    expr_vars: Vec<VarSet>,
    formulas: Interner<FormulaNode>,
    formula_vars: Vec<VarSet>,
    ints: Interner<IntNode>,
    int_vars: Vec<VarSet>,
    queries: Interner<Query>,
    query_vars: Vec<VarSet>,
    vars: Vec<String>,
}

#[expect(
    clippy::indexing_slicing,
    reason = "ids are made by the constructors of the same terms only"
)]
impl Terms {
    /// What an expression is.
    pub fn expr(&self, id: ExprId) -> &ExprNode {
        &self.exprs.nodes[id.index()]
    }

    /// What a formula is.
    pub fn formula(&self, id: FormulaId) -> &FormulaNode {
        &self.formulas.nodes[id.index()]
    }

    /// What an integer is.
    pub fn int(&self, id: IntId) -> &IntNode {
        &self.ints.nodes[id.index()]
    }

    /// What a query is.
    pub fn query(&self, id: QueryId) -> &Query {
        &self.queries.nodes[id.index()]
    }

    /// Number of columns of an expression.
    pub fn arity(&self, id: ExprId) -> usize {
        self.arities[id.index()]
    }

    /// The variables that an expression mentions and does not bind.
    pub fn expr_vars(&self, id: ExprId) -> &[VarId] {
        &self.expr_vars[id.index()]
    }

    /// The variables that a formula mentions and does not bind.
    pub fn formula_vars(&self, id: FormulaId) -> &[VarId] {
        &self.formula_vars[id.index()]
    }

    /// The variables that an integer mentions and does not bind.
    pub fn int_vars(&self, id: IntId) -> &[VarId] {
        &self.int_vars[id.index()]
    }

    /// The variables that a query mentions and does not bind.
    pub fn query_vars(&self, id: QueryId) -> &[VarId] {
        &self.query_vars[id.index()]
    }

    /// The name of a variable.
    pub fn var_name(&self, id: VarId) -> &str {
        &self.vars[id.index()]
    }

    /// The expression of a variable, when it is used in any.
    pub fn var_expr(&self, var: VarId) -> Option<ExprId> {
        self.exprs.find(&ExprNode::Var(var)).map(ExprId::at)
    }

    /// Number of variables.
    pub fn var_count(&self) -> usize {
        self.vars.len()
    }

    /// Number of queries.
    pub fn query_count(&self) -> usize {
        self.queries.nodes.len()
    }

    /// Number of expressions.
    pub fn expr_count(&self) -> usize {
        self.exprs.nodes.len()
    }

    /// A new variable.
    pub fn fresh(&mut self, name: impl Into<String>) -> VarId {
        let id = VarId::at(self.vars.len());
        self.vars.push(name.into());
        id
    }

    pub(super) fn add_expr(&mut self, node: ExprNode, arity: usize) -> ExprId {
        let vars = match &node {
            ExprNode::Relation(_)
            | ExprNode::Constant(_)
            | ExprNode::None(_)
            | ExprNode::Univ
            | ExprNode::Iden => merge(&[]),
            ExprNode::Var(var) => merge(&[&[*var]]),
            ExprNode::Union(parts) | ExprNode::Intersection(parts) => {
                let sets: Vec<&[VarId]> = parts.iter().map(|&part| self.expr_vars(part)).collect();
                merge(&sets)
            }
            ExprNode::Difference(a, b)
            | ExprNode::Override(a, b)
            | ExprNode::Join(a, b)
            | ExprNode::Product(a, b) => merge(&[self.expr_vars(*a), self.expr_vars(*b)]),
            ExprNode::Transpose(a) | ExprNode::Closure(a) => merge(&[self.expr_vars(*a)]),
            ExprNode::Ite(c, a, b) => merge(&[
                self.formula_vars(*c),
                self.expr_vars(*a),
                self.expr_vars(*b),
            ]),
            ExprNode::Comprehension(query) => merge(&[self.query_vars(*query)]),
            ExprNode::IntAtom(int) => merge(&[self.int_vars(*int)]),
        };
        let (at, new) = self.exprs.intern(node);
        if new {
            self.arities.push(arity);
            self.expr_vars.push(vars);
        }
        ExprId::at(at)
    }

    pub(super) fn add_formula(&mut self, node: FormulaNode) -> FormulaId {
        let vars = match &node {
            FormulaNode::True | FormulaNode::False => merge(&[]),
            FormulaNode::Not(a) => merge(&[self.formula_vars(*a)]),
            FormulaNode::And(parts) | FormulaNode::Or(parts) => {
                let sets: Vec<&[VarId]> = parts.iter().map(|&f| self.formula_vars(f)).collect();
                merge(&sets)
            }
            FormulaNode::Subset(a, b) | FormulaNode::Equal(a, b) => {
                merge(&[self.expr_vars(*a), self.expr_vars(*b)])
            }
            FormulaNode::Count(a, _) => merge(&[self.expr_vars(*a)]),
            FormulaNode::Exists(query) => merge(&[self.query_vars(*query)]),
            FormulaNode::IntCmp(_, a, b) => merge(&[self.int_vars(*a), self.int_vars(*b)]),
        };
        let (at, new) = self.formulas.intern(node);
        if new {
            self.formula_vars.push(vars);
        }
        FormulaId::at(at)
    }

    pub(super) fn add_int(&mut self, node: IntNode) -> IntId {
        let vars = match &node {
            IntNode::Const(_) => merge(&[]),
            IntNode::Card(a) | IntNode::SumOf(a) => merge(&[self.expr_vars(*a)]),
            IntNode::Sum(query, body) => {
                let own: Vec<VarId> = self.query(*query).decls.iter().map(|d| d.0).collect();
                let body: Vec<VarId> = self
                    .int_vars(*body)
                    .iter()
                    .copied()
                    .filter(|var| !own.contains(var))
                    .collect();
                merge(&[self.query_vars(*query), &body])
            }
            IntNode::Op(_, a, b) => merge(&[self.int_vars(*a), self.int_vars(*b)]),
            IntNode::Ite(c, a, b) => {
                merge(&[self.formula_vars(*c), self.int_vars(*a), self.int_vars(*b)])
            }
        };
        let (at, new) = self.ints.intern(node);
        if new {
            self.int_vars.push(vars);
        }
        IntId::at(at)
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
