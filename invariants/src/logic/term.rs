//! Hash-consed terms in negation normal form.
//!
//! Negation is pushed inward as terms are built, universal quantifiers become negated existential ones, and an
//! existential quantifier within a conjunction of another joins it. What breaks a rule is thus one
//! [`Query`]: variables, what they range over, and conjuncts.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub struct $name(pub u32);

        impl $name {
            /// The position in its list.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id at a position.
            pub fn at(index: usize) -> Self {
                $name(u32::try_from(index).unwrap_or(u32::MAX))
            }
        }
    };
}

id! {
    /// A relation of the program.
    RelationId
}
id! {
    /// A relational expression.
    ExprId
}
id! {
    /// A formula.
    FormulaId
}
id! {
    /// An integer.
    IntId
}
id! {
    /// A quantified variable; it ranges over single atoms.
    VarId
}
id! {
    /// A query.
    QueryId
}

/// A relational expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ExprNode {
    /// A relation.
    Relation(RelationId),
    /// A variable.
    Var(VarId),
    /// A constant of the program.
    Constant(u32),
    /// The empty relation of this arity.
    None(usize),
    /// All atoms.
    Univ,
    /// Every atom with itself.
    Iden,
    /// Tuples of any.
    Union(Vec<ExprId>),
    /// Tuples of all.
    Intersection(Vec<ExprId>),
    /// Tuples of the first and not the second.
    Difference(ExprId, ExprId),
    /// The second, and of the first what the second says nothing about.
    Override(ExprId, ExprId),
    /// Relational composition.
    Join(ExprId, ExprId),
    /// Cross product.
    Product(ExprId, ExprId),
    /// Columns swapped.
    Transpose(ExprId),
    /// Transitive closure.
    Closure(ExprId),
    /// One or the other.
    Ite(FormulaId, ExprId, ExprId),
    /// The values of a query's own variables.
    Comprehension(QueryId),
    /// The atom of an integer.
    IntAtom(IntId),
}

/// How many tuples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Count {
    /// No more than.
    AtMost(u32),
    /// No fewer than.
    AtLeast(u32),
}

/// Comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IntCmp {
    /// Equal.
    Eq,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
}

/// A formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FormulaNode {
    /// Holds.
    True,
    /// Does not hold.
    False,
    /// Negation of a formula that is neither a conjunction, a disjunction nor a negation.
    Not(FormulaId),
    /// All hold.
    And(Vec<FormulaId>),
    /// Some holds.
    Or(Vec<FormulaId>),
    /// Every tuple of the first is in the second.
    Subset(ExprId, ExprId),
    /// The same tuples.
    Equal(ExprId, ExprId),
    /// Number of tuples.
    Count(ExprId, Count),
    /// The query has an answer.
    Exists(QueryId),
    /// Comparison of integers.
    IntCmp(IntCmp, IntId, IntId),
}

/// Operations on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IntOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient, towards zero.
    Div,
    /// Remainder.
    Rem,
}

/// An integer, not bounded by any width.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IntNode {
    /// A literal.
    Const(i64),
    /// Number of tuples.
    Card(ExprId),
    /// Sum of the numbers among the atoms of a set.
    SumOf(ExprId),
    /// Sum over the answers of a query.
    Sum(QueryId, IntId),
    /// An operation.
    Op(IntOp, IntId, IntId),
    /// One or the other.
    Ite(FormulaId, IntId, IntId),
}

/// Variables, what they range over, and what must hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Query {
    /// The variables and their bounds; a bound may mention earlier variables.
    pub decls: Vec<(VarId, ExprId)>,
    /// How many of the declarations, from the first, are its own and not joined from within.
    pub own: usize,
    /// The conjuncts.
    pub body: Vec<FormulaId>,
}

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

impl<N: Clone + Eq + std::hash::Hash> From<Vec<N>> for Interner<N> {
    fn from(nodes: Vec<N>) -> Self {
        let ids = nodes.iter().cloned().zip(0..).collect();
        Interner { nodes, ids }
    }
}

impl<N> From<Interner<N>> for Vec<N> {
    fn from(interner: Interner<N>) -> Self {
        interner.nodes
    }
}

impl<N: Clone + Eq + std::hash::Hash> Interner<N> {
    fn intern(&mut self, node: N) -> (usize, bool) {
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
        self.exprs
            .ids
            .get(&ExprNode::Var(var))
            .map(|&at| ExprId::at(at))
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

    fn add_expr(&mut self, node: ExprNode, arity: usize) -> ExprId {
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

    fn add_formula(&mut self, node: FormulaNode) -> FormulaId {
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

    fn add_int(&mut self, node: IntNode) -> IntId {
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
}

/// Expressions.
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
        self.add_expr(ExprNode::Constant(index), 1)
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

    fn is_none(&self, id: ExprId) -> bool {
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
            Some(query) => self.add_expr(ExprNode::Comprehension(query), arity),
            None => self.none(arity),
        }
    }

    /// The atom of an integer.
    pub fn int_atom(&mut self, int: IntId) -> ExprId {
        match *self.int(int) {
            IntNode::SumOf(set) if matches!(self.expr(set), ExprNode::Constant(_)) => set,
            _ => self.add_expr(ExprNode::IntAtom(int), 1),
        }
    }
}

/// Formulas.
impl Terms {
    /// Holds.
    pub fn truth(&mut self) -> FormulaId {
        self.add_formula(FormulaNode::True)
    }

    /// Does not hold.
    pub fn falsity(&mut self) -> FormulaId {
        self.add_formula(FormulaNode::False)
    }

    /// Negation, pushed inward.
    pub fn not(&mut self, formula: FormulaId) -> FormulaId {
        match self.formula(formula).clone() {
            FormulaNode::True => self.falsity(),
            FormulaNode::False => self.truth(),
            FormulaNode::Not(inner) => inner,
            FormulaNode::And(parts) => {
                let parts: Vec<FormulaId> = parts.iter().map(|&part| self.not(part)).collect();
                self.or(parts)
            }
            FormulaNode::Or(parts) => {
                let parts: Vec<FormulaId> = parts.iter().map(|&part| self.not(part)).collect();
                self.and(parts)
            }
            FormulaNode::Count(expr, Count::AtMost(n)) => {
                self.count(expr, Count::AtLeast(n.saturating_add(1)))
            }
            FormulaNode::Count(expr, Count::AtLeast(n)) => match n.checked_sub(1) {
                Some(n) => self.count(expr, Count::AtMost(n)),
                None => self.falsity(),
            },
            FormulaNode::IntCmp(IntCmp::Lt, a, b) => self.int_cmp(IntCmp::Lte, b, a),
            FormulaNode::IntCmp(IntCmp::Lte, a, b) => self.int_cmp(IntCmp::Lt, b, a),
            _ => self.add_formula(FormulaNode::Not(formula)),
        }
    }

    /// Conjunction.
    pub fn and(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        let mut flat = Vec::new();
        for part in parts {
            match self.formula(part) {
                FormulaNode::True => {}
                FormulaNode::False => return part,
                FormulaNode::And(inner) => flat.extend(inner.iter().copied()),
                _ => flat.push(part),
            }
        }
        dedup(&mut flat);
        match flat.as_slice() {
            [] => self.truth(),
            [one] => *one,
            _ => self.add_formula(FormulaNode::And(flat)),
        }
    }

    /// Disjunction.
    pub fn or(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        let mut flat = Vec::new();
        for part in parts {
            match self.formula(part) {
                FormulaNode::False => {}
                FormulaNode::True => return part,
                FormulaNode::Or(inner) => flat.extend(inner.iter().copied()),
                _ => flat.push(part),
            }
        }
        dedup(&mut flat);
        match flat.as_slice() {
            [] => self.falsity(),
            [one] => *one,
            _ => self.add_formula(FormulaNode::Or(flat)),
        }
    }

    /// Implication.
    pub fn implies(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        let not = self.not(a);
        self.or([not, b])
    }

    /// Equivalence.
    pub fn iff(&mut self, a: FormulaId, b: FormulaId) -> FormulaId {
        let (not_a, not_b) = (self.not(a), self.not(b));
        let both = self.and([a, b]);
        let neither = self.and([not_a, not_b]);
        self.or([both, neither])
    }

    /// `a in b`.
    pub fn subset(&mut self, a: ExprId, b: ExprId) -> FormulaId {
        if a == b || self.is_none(a) {
            self.truth()
        } else if self.is_none(b) {
            self.count(a, Count::AtMost(0))
        } else {
            self.add_formula(FormulaNode::Subset(a, b))
        }
    }

    /// `a = b`.
    pub fn equal(&mut self, a: ExprId, b: ExprId) -> FormulaId {
        if a == b {
            self.truth()
        } else if self.is_none(b) {
            self.count(a, Count::AtMost(0))
        } else if self.is_none(a) {
            self.count(b, Count::AtMost(0))
        } else {
            self.add_formula(FormulaNode::Equal(a, b))
        }
    }

    /// Number of tuples.
    pub fn count(&mut self, expr: ExprId, count: Count) -> FormulaId {
        match count {
            Count::AtLeast(0) => self.truth(),
            Count::AtLeast(_) if self.is_none(expr) => self.falsity(),
            Count::AtMost(_) if self.is_none(expr) => self.truth(),
            _ => self.add_formula(FormulaNode::Count(expr, count)),
        }
    }

    /// `some decls | body`.
    pub fn exists(&mut self, decls: Vec<(VarId, ExprId)>, body: FormulaId) -> FormulaId {
        match self.make_query(decls, body) {
            Some(query) => self.add_formula(FormulaNode::Exists(query)),
            None => self.falsity(),
        }
    }

    /// `all decls | body`.
    pub fn forall(&mut self, decls: Vec<(VarId, ExprId)>, body: FormulaId) -> FormulaId {
        let negated = self.not(body);
        let exists = self.exists(decls, negated);
        self.not(exists)
    }

    /// A query; none when it can have no answer.
    pub fn make_query(
        &mut self,
        mut decls: Vec<(VarId, ExprId)>,
        body: FormulaId,
    ) -> Option<QueryId> {
        let own = decls.len();
        let mut conjuncts = Vec::new();
        let mut open = vec![body];
        while let Some(formula) = open.pop() {
            match self.formula(formula) {
                FormulaNode::True => {}
                FormulaNode::False => return None,
                FormulaNode::And(parts) => open.extend(parts.iter().rev().copied()),
                FormulaNode::Exists(inner) => {
                    let inner = self.query(*inner);
                    let known = |var: &VarId| decls.iter().any(|(other, _)| other == var);
                    if inner.decls.iter().any(|(var, _)| known(var)) {
                        conjuncts.push(formula);
                        continue;
                    }
                    let inner = inner.clone();
                    decls.extend(inner.decls);
                    open.extend(inner.body.iter().rev().copied());
                }
                _ => conjuncts.push(formula),
            }
        }
        dedup(&mut conjuncts);
        let mut bound: Vec<VarId> = Vec::new();
        let mut free: Vec<VarId> = Vec::new();
        for (var, range) in &decls {
            free.extend(self.expr_vars(*range).iter().filter(|v| !bound.contains(v)));
            bound.push(*var);
        }
        for &conjunct in &conjuncts {
            free.extend(
                self.formula_vars(conjunct)
                    .iter()
                    .filter(|v| !bound.contains(v)),
            );
        }
        let (at, new) = self.queries.intern(Query {
            decls,
            own,
            body: conjuncts,
        });
        if new {
            self.query_vars.push(merge(&[&free]));
        }
        Some(QueryId::at(at))
    }

    /// Comparison.
    pub fn int_cmp(&mut self, cmp: IntCmp, a: IntId, b: IntId) -> FormulaId {
        self.add_formula(FormulaNode::IntCmp(cmp, a, b))
    }
}

/// Drops repeats and keeps the order, which is the author's and cheapest first as a rule.
fn dedup(list: &mut Vec<FormulaId>) {
    let mut seen = rustc_hash::FxHashSet::default();
    list.retain(|&item| seen.insert(item));
}

/// Integers.
impl Terms {
    /// A literal.
    pub fn int_const(&mut self, value: i64) -> IntId {
        self.add_int(IntNode::Const(value))
    }

    /// `#a`.
    pub fn card(&mut self, expr: ExprId) -> IntId {
        self.add_int(IntNode::Card(expr))
    }

    /// The sum of the numbers of a set.
    pub fn sum_of(&mut self, expr: ExprId) -> IntId {
        match *self.expr(expr) {
            ExprNode::IntAtom(int) => int,
            _ => self.add_int(IntNode::SumOf(expr)),
        }
    }

    /// `sum decls | body`.
    pub fn sum(&mut self, decls: Vec<(VarId, ExprId)>, body: IntId) -> IntId {
        let truth = self.truth();
        match self.make_query(decls, truth) {
            Some(query) => self.add_int(IntNode::Sum(query, body)),
            None => self.int_const(0),
        }
    }

    /// An operation.
    pub fn int_op(&mut self, op: IntOp, a: IntId, b: IntId) -> IntId {
        self.add_int(IntNode::Op(op, a, b))
    }

    /// One or the other.
    pub fn int_ite(&mut self, c: FormulaId, a: IntId, b: IntId) -> IntId {
        if a == b {
            a
        } else {
            self.add_int(IntNode::Ite(c, a, b))
        }
    }
}
