//! Terms of rules in normal form: what names stand for in a configuration, and which terms a rule may use.

use std::collections::HashMap;

use locus_core::value::Value as Constant;
use locus_grammar::model::{FieldId, Model, SigId, builtin};
use locus_terms::lower::Vocabulary;
use locus_terms::{
    Atom, Count, Decl, Expr, ExprNode, Formula, FormulaNode, Int, IntCmp, IntNode, IntOp, Mult,
    Quant, Terms, Var,
};

use crate::builtin::Builtin;
use crate::logic::{ExprId, FormulaId, IntId, VarId};
use crate::program::{Program, RelationKind};

/// The signature whose fields are the built-in relations.
pub(super) const COMPUTED: &str = "Computed";

/// Why a rule cannot use a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unfit(pub(super) &'static str);

/// Terms as the language has them, and the same in the normal form of a program.
#[derive(Debug)]
pub(super) struct Normal<'p> {
    pub(super) program: &'p mut Program,
    plain: Terms,
    exprs: HashMap<Expr, ExprId>,
    formulas: HashMap<Formula, FormulaId>,
    ints: HashMap<Int, IntId>,
    vars: HashMap<Var, VarId>,
}

fn bare(label: &str) -> &str {
    label.rsplit('/').next().unwrap_or(label)
}

impl Vocabulary for Normal<'_> {
    fn terms(&mut self) -> &mut Terms {
        &mut self.plain
    }

    fn sig(&mut self, model: &Model, id: SigId) -> Expr {
        if id == builtin::UNIV {
            return self.plain.univ();
        }
        let name = bare(&model.sig(id).label);
        match name {
            "True" => self.constant(Constant::Bool(true)),
            "False" => self.constant(Constant::Bool(false)),
            _ => self.relation(RelationKind::Sig(name.to_owned()), 1),
        }
    }

    fn field(&mut self, model: &Model, id: FieldId) -> Result<Expr, String> {
        let field = model.field(id);
        let sig = bare(&model.sig(field.sig).label).to_owned();
        if sig == COMPUTED {
            let name = field.name.strip_prefix("rel_").unwrap_or(&field.name);
            let Some((builtin, columns)) = Builtin::named(name) else {
                return Err(format!("there is no built-in relation `{name}`"));
            };
            let relation = self.relation(RelationKind::Builtin(builtin), columns);
            // `Computed.less` is the relation itself: the one atom of `Computed` is joined away.
            let owner = self.sig(model, field.sig);
            return Ok(self.plain.product(owner, relation));
        }
        let arity = field.ty.arity().unwrap_or(2);
        let name = field.name.clone();
        Ok(self.relation(RelationKind::Field { sig, name }, arity))
    }

    fn text(&mut self, text: &str) -> Option<Expr> {
        Some(self.constant(Constant::str(text)))
    }

    fn int_range(&self) -> Option<(i64, i64)> {
        None
    }

    fn int_order(&self) -> Option<(Expr, Expr)> {
        None
    }

    fn fields_stay_inside(&self) -> bool {
        true
    }
}

impl<'p> Normal<'p> {
    pub(super) fn new(program: &'p mut Program) -> Self {
        Normal {
            program,
            plain: Terms::default(),
            exprs: HashMap::new(),
            formulas: HashMap::new(),
            ints: HashMap::new(),
            vars: HashMap::new(),
        }
    }

    fn relation(&mut self, kind: RelationKind, arity: usize) -> Expr {
        let relation = self.program.relation(kind, arity);
        self.plain.relation(relation, arity)
    }

    fn constant(&mut self, value: Constant) -> Expr {
        let constant = self.program.constant(value);
        self.plain.tuple(vec![Atom(constant)])
    }

    /// Declarations, each of single atoms.
    pub(super) fn decls(&mut self, decls: &[Decl]) -> Result<Vec<(VarId, ExprId)>, Unfit> {
        let mut out = Vec::with_capacity(decls.len());
        for decl in decls {
            if decl.mult != Mult::One || self.plain.arity(decl.bound) != 1 {
                return Err(Unfit("a variable of a rule ranges over single atoms"));
            }
            out.push((self.var(decl.var), self.expr(decl.bound)?));
        }
        Ok(out)
    }

    fn var(&mut self, var: Var) -> VarId {
        let (plain, terms) = (&self.plain, &mut self.program.terms);
        let entry = self.vars.entry(var);
        *entry.or_insert_with(|| terms.fresh(plain.var_name(var)))
    }

    /// A formula: negation inside, quantifiers as queries.
    pub(super) fn formula(&mut self, formula: Formula) -> Result<FormulaId, Unfit> {
        if let Some(&known) = self.formulas.get(&formula) {
            return Ok(known);
        }
        let normal = self.new_formula(formula)?;
        self.formulas.insert(formula, normal);
        Ok(normal)
    }

    fn new_formula(&mut self, formula: Formula) -> Result<FormulaId, Unfit> {
        Ok(match self.plain.formula(formula).clone() {
            FormulaNode::True => self.program.terms.truth(),
            FormulaNode::False => self.program.terms.falsity(),
            FormulaNode::Not(inner) => {
                let inner = self.formula(inner)?;
                self.program.terms.not(inner)
            }
            FormulaNode::And(parts) => {
                let parts = self.formulas(&parts)?;
                self.program.terms.and(parts)
            }
            FormulaNode::Or(parts) => {
                let parts = self.formulas(&parts)?;
                self.program.terms.or(parts)
            }
            FormulaNode::Implies(a, b) => {
                let (a, b) = (self.formula(a)?, self.formula(b)?);
                self.program.terms.implies(a, b)
            }
            FormulaNode::Iff(a, b) => {
                let (a, b) = (self.formula(a)?, self.formula(b)?);
                self.program.terms.iff(a, b)
            }
            FormulaNode::Subset(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.program.terms.subset(a, b)
            }
            FormulaNode::Equal(a, b) if self.is_computed(a) || self.is_computed(b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                self.program.terms.int_cmp(IntCmp::Eq, a, b)
            }
            FormulaNode::Equal(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.program.terms.equal(a, b)
            }
            FormulaNode::Count(set, Count::Exactly(n)) => {
                let set = self.expr(set)?;
                let terms = &mut self.program.terms;
                let least = terms.count(set, Count::AtLeast(n));
                let most = terms.count(set, Count::AtMost(n));
                terms.and([least, most])
            }
            FormulaNode::Count(set, count) => match self.apart(set) {
                Some(pairs) if count == Count::AtMost(0) => self.different(&pairs),
                _ => {
                    let set = self.expr(set)?;
                    self.program.terms.count(set, count)
                }
            },
            FormulaNode::Quant(quant, decls, body) => {
                let (decls, body) = (self.decls(&decls)?, self.formula(body)?);
                let terms = &mut self.program.terms;
                match quant {
                    Quant::All => terms.forall(decls, body),
                    Quant::Some => terms.exists(decls, body),
                }
            }
            FormulaNode::IntCmp(cmp, a, b) => {
                let (a, b) = (self.int(a)?, self.int(b)?);
                self.program.terms.int_cmp(cmp, a, b)
            }
            FormulaNode::TotalOrder { .. } => return Err(Unfit("rules cannot demand an order")),
        })
    }

    fn formulas(&mut self, formulas: &[Formula]) -> Result<Vec<FormulaId>, Unfit> {
        formulas.iter().map(|&part| self.formula(part)).collect()
    }

    /// The pairs of variables of which `no a & b` says that they differ.
    fn apart(&self, set: Expr) -> Option<Vec<(Var, Var)>> {
        let ExprNode::Intersection(sides) = self.plain.expr(set) else {
            return None;
        };
        let &[left, right] = sides.as_slice() else {
            return None;
        };
        let (left, right) = (self.variables(left)?, self.variables(right)?);
        let pairs = left
            .iter()
            .flat_map(|&a| right.iter().map(move |&b| (a, b)));
        Some(pairs.collect())
    }

    /// The variables of which a set is the union.
    fn variables(&self, set: Expr) -> Option<Vec<Var>> {
        match self.plain.expr(set) {
            ExprNode::Var(var) => Some(vec![*var]),
            ExprNode::Union(parts) => {
                let parts = parts.iter().map(|&part| self.variables(part));
                Some(parts.collect::<Option<Vec<_>>>()?.concat())
            }
            _ => None,
        }
    }

    fn different(&mut self, pairs: &[(Var, Var)]) -> FormulaId {
        let mut parts = Vec::with_capacity(pairs.len());
        for &(a, b) in pairs {
            let (a, b) = (self.var(a), self.var(b));
            let terms = &mut self.program.terms;
            let (a, b) = (terms.var(a), terms.var(b));
            let same = terms.equal(a, b);
            parts.push(terms.not(same));
        }
        self.program.terms.and(parts)
    }

    fn expr(&mut self, expr: Expr) -> Result<ExprId, Unfit> {
        if let Some(&known) = self.exprs.get(&expr) {
            return Ok(known);
        }
        let normal = self.new_expr(expr)?;
        self.exprs.insert(expr, normal);
        Ok(normal)
    }

    fn new_expr(&mut self, expr: Expr) -> Result<ExprId, Unfit> {
        let arity = self.plain.arity(expr);
        Ok(match self.plain.expr(expr).clone() {
            ExprNode::Relation(id) => self.program.terms.relation(id, arity),
            ExprNode::Var(var) => {
                let var = self.var(var);
                self.program.terms.var(var)
            }
            ExprNode::Tuple(atoms) => match atoms.as_slice() {
                [one] => self.program.terms.constant(one.0),
                _ => return Err(Unfit("rules cannot use a tuple of constants")),
            },
            ExprNode::None(arity) => self.program.terms.none(arity),
            ExprNode::Univ => self.program.terms.univ(),
            ExprNode::Iden => self.program.terms.iden(),
            ExprNode::Ints => return Err(Unfit("rules cannot use the set of all integers")),
            ExprNode::Union(parts) => {
                let parts = self.exprs(&parts)?;
                self.program.terms.union(parts, arity)
            }
            ExprNode::Intersection(mut parts) => {
                if !parts.iter().all(|&part| self.is_everything(part)) {
                    parts.retain(|&part| !self.is_everything(part));
                }
                let parts = self.exprs(&parts)?;
                let terms = &mut self.program.terms;
                let joined = parts.into_iter().reduce(|a, b| terms.intersection(a, b));
                joined.unwrap_or_else(|| terms.none(arity))
            }
            ExprNode::Difference(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.program.terms.difference(a, b)
            }
            ExprNode::Override(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.program.terms.override_with(a, b)
            }
            ExprNode::Join(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.program.terms.join(a, b)
            }
            ExprNode::Product(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.program.terms.product(a, b)
            }
            ExprNode::Transpose(a) => {
                let a = self.expr(a)?;
                self.program.terms.transpose(a)
            }
            ExprNode::Closure(a) => {
                let a = self.expr(a)?;
                self.program.terms.closure(a)
            }
            ExprNode::ReflexiveClosure(a) => {
                let a = self.expr(a)?;
                let terms = &mut self.program.terms;
                let (closure, iden) = (terms.closure(a), terms.iden());
                terms.union([closure, iden], 2)
            }
            ExprNode::Ite(condition, a, b) => {
                let condition = self.formula(condition)?;
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.program.terms.ite(condition, a, b)
            }
            ExprNode::Comprehension(decls, body) => {
                let (decls, body) = (self.decls(&decls)?, self.formula(body)?);
                self.program.terms.comprehension(decls, body)
            }
            ExprNode::IntAtom(int) => match *self.plain.int(int) {
                IntNode::Const(n) => {
                    let constant = self.program.constant(Constant::Int(n.into()));
                    self.program.terms.constant(constant)
                }
                IntNode::SumOf(set) => self.expr(set)?,
                _ => return Err(Unfit("a rule cannot use the atom of a computed number")),
            },
        })
    }

    fn exprs(&mut self, exprs: &[Expr]) -> Result<Vec<ExprId>, Unfit> {
        exprs.iter().map(|&part| self.expr(part)).collect()
    }

    /// Whether an expression has all tuples of its arity.
    fn is_everything(&self, expr: Expr) -> bool {
        match *self.plain.expr(expr) {
            ExprNode::Univ => true,
            ExprNode::Product(a, b) => self.is_everything(a) && self.is_everything(b),
            _ => false,
        }
    }

    /// Whether an expression is the atom of a number that nobody wrote down.
    fn is_computed(&self, expr: Expr) -> bool {
        match *self.plain.expr(expr) {
            ExprNode::IntAtom(int) => {
                !matches!(self.plain.int(int), IntNode::Const(_) | IntNode::SumOf(_))
            }
            _ => false,
        }
    }

    /// The number that an expression stands for.
    fn number(&mut self, expr: Expr) -> Result<IntId, Unfit> {
        match *self.plain.expr(expr) {
            ExprNode::IntAtom(int) => self.int(int),
            _ => {
                let set = self.expr(expr)?;
                Ok(self.program.terms.sum_of(set))
            }
        }
    }

    fn int(&mut self, int: Int) -> Result<IntId, Unfit> {
        if let Some(&known) = self.ints.get(&int) {
            return Ok(known);
        }
        let normal = self.new_int(int)?;
        self.ints.insert(int, normal);
        Ok(normal)
    }

    fn new_int(&mut self, int: Int) -> Result<IntId, Unfit> {
        Ok(match self.plain.int(int).clone() {
            IntNode::Const(n) => self.program.terms.int_const(n),
            IntNode::Card(set) => {
                let set = self.expr(set)?;
                self.program.terms.card(set)
            }
            IntNode::SumOf(set) => {
                let set = self.expr(set)?;
                self.program.terms.sum_of(set)
            }
            IntNode::Sum(decls, body) => {
                let (decls, body) = (self.decls(&decls)?, self.int(body)?);
                self.program.terms.sum(decls, body)
            }
            IntNode::Neg(a) => {
                let a = self.int(a)?;
                let terms = &mut self.program.terms;
                let zero = terms.int_const(0);
                terms.int_op(IntOp::Sub, zero, a)
            }
            IntNode::Op(IntOp::Shl | IntOp::Sha | IntOp::Shr, ..) => {
                return Err(Unfit("rules cannot shift the bits of a number"));
            }
            IntNode::Op(op, a, b) => {
                let (a, b) = (self.int(a)?, self.int(b)?);
                self.program.terms.int_op(op, a, b)
            }
            IntNode::Ite(condition, a, b) => {
                let condition = self.formula(condition)?;
                let (a, b) = (self.int(a)?, self.int(b)?);
                self.program.terms.int_ite(condition, a, b)
            }
        })
    }
}
