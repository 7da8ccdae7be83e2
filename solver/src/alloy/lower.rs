//! Expressions of a model as terms of the problem.

use std::collections::HashMap;

use locus_core::Diagnostic;
use locus_grammar::model::{
    BinaryOp, Const, Expr as Source, ExprKind, FuncId, ListOp, Model, SigId, UnaryOp, VarId,
    builtin,
};

use super::Refusal;
use super::bounds::{self, Vocabulary};
use super::scope::int_range;
use crate::problem::{Expr, ExprNode, Formula, Int, IntCmp, IntOp, Terms};

/// What an expression of the model becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Formula(Formula),
    Expr(Expr),
    Int(Int),
}

/// The lowering of one command.
pub(super) struct Lowering<'a> {
    pub(super) model: &'a Model,
    pub(super) vocabulary: Vocabulary,
    /// What the variables in scope stand for.
    env: HashMap<VarId, Value>,
    /// The calls that are being expanded, innermost last.
    calls: Vec<FuncId>,
    /// Calls already expanded, by function and arguments: a body mentions nothing else.
    expanded: HashMap<(FuncId, Vec<Value>), Value>,
    /// Prefix of the names of skolem constants: the command or the innermost function.
    pub(super) prefix: String,
}

/// `left . right`, where `S . (S -> r)` is `r` for the sake of `one` signatures, whose fields are
/// stored without their first column.
pub(super) fn join(terms: &mut Terms, left: Expr, right: Expr) -> Expr {
    if let ExprNode::Product(owner, rest) = *terms.expr(right)
        && owner == left
    {
        return rest;
    }
    terms.join(left, right)
}

impl<'a> Lowering<'a> {
    pub(super) fn new(model: &'a Model, vocabulary: Vocabulary, prefix: &str) -> Self {
        Lowering {
            model,
            vocabulary,
            env: HashMap::new(),
            calls: Vec::new(),
            expanded: HashMap::new(),
            prefix: prefix.to_owned(),
        }
    }

    pub(super) fn terms(&mut self) -> &mut Terms {
        &mut self.vocabulary.problem.terms
    }

    pub(super) fn bind(&mut self, var: VarId, value: Value) {
        self.env.insert(var, value);
    }

    /// Sets the prefix of skolem names; returns the old one.
    pub(super) fn set_prefix(&mut self, prefix: String) -> String {
        std::mem::replace(&mut self.prefix, prefix)
    }

    /// Enters the body of a call to split it; [`leave`](Self::leave) undoes it.
    pub(super) fn enter(&mut self, func: FuncId, args: &[Source]) -> Result<Frame, Refusal> {
        let values = self.args(args)?;
        Ok(self.enter_with(func, &values))
    }

    fn args(&mut self, args: &[Source]) -> Result<Vec<Value>, Refusal> {
        args.iter()
            .map(|arg| Ok(Value::Expr(self.set(arg)?)))
            .collect()
    }

    fn enter_with(&mut self, func: FuncId, values: &[Value]) -> Frame {
        let params = self.model.func(func).params.iter();
        let env = params
            .flat_map(|decl| decl.vars.iter().copied())
            .zip(values.iter().copied())
            .collect();
        self.calls.push(func);
        let label = &self.model.func(func).label;
        let name = label.rsplit('/').next().unwrap_or(label).to_owned();
        Frame {
            env: std::mem::replace(&mut self.env, env),
            prefix: self.set_prefix(name),
        }
    }

    /// Leaves the body of a call.
    pub(super) fn leave(&mut self, frame: Frame) {
        self.calls.pop();
        self.env = frame.env;
        self.prefix = frame.prefix;
    }

    /// Whether a call would expand itself forever.
    pub(super) fn is_expanding(&self, func: FuncId) -> bool {
        self.calls.contains(&func)
    }

    /// A formula.
    pub(super) fn formula(&mut self, expr: &Source) -> Result<Formula, Refusal> {
        match self.value(expr)? {
            Value::Formula(formula) => Ok(formula),
            Value::Expr(_) | Value::Int(_) => Err(misfit(expr, "a formula")),
        }
    }

    /// A relation; an integer becomes the set of its atom.
    pub(super) fn set(&mut self, expr: &Source) -> Result<Expr, Refusal> {
        match self.value(expr)? {
            Value::Expr(set) => Ok(set),
            Value::Int(int) => Ok(self.terms().int_atom(int)),
            Value::Formula(_) => Err(misfit(expr, "a set or a relation")),
        }
    }

    /// An integer; a set of integers becomes its sum.
    pub(super) fn int(&mut self, expr: &Source) -> Result<Int, Refusal> {
        match self.value(expr)? {
            Value::Int(int) => Ok(int),
            Value::Expr(set) => Ok(self.terms().sum_of(set)),
            Value::Formula(_) => Err(misfit(expr, "an integer")),
        }
    }

    /// An expression of any kind.
    pub(super) fn value(&mut self, expr: &Source) -> Result<Value, Refusal> {
        match &expr.kind {
            ExprKind::Sig(id) if *id == builtin::NONE => Ok(Value::Expr(self.terms().none(1))),
            ExprKind::Sig(id) => Ok(Value::Expr(self.vocabulary.sig(*id))),
            ExprKind::Field(id) => Ok(Value::Expr(self.vocabulary.field(*id))),
            ExprKind::Var(var) => match self.env.get(var) {
                Some(&value) => Ok(value),
                None => Err(Box::new(
                    Diagnostic::error(
                        "internal",
                        format!("`{}` has no value here", self.model.var(*var).name),
                    )
                    .at(expr.span),
                )),
            },
            ExprKind::Const(constant) => self.constant(expr, constant),
            ExprKind::Unary(op, operand) => self.unary(expr, *op, operand),
            ExprKind::Binary(op, left, right) => self.binary(expr, *op, left, right),
            ExprKind::List(op, operands) => self.list(*op, operands).map(Value::Formula),
            ExprKind::Ite(condition, then, otherwise) => {
                let condition = self.formula(condition)?;
                self.ite(condition, then, otherwise)
            }
            ExprKind::Let { var, value, body } => {
                let value = self.value(value)?;
                self.bind(*var, value);
                self.value(body)
            }
            ExprKind::Quant { quant, decls, body } => self.quant(*quant, decls, body),
            ExprKind::Call { func, args } => self.call(expr, *func, args),
        }
    }

    fn constant(&mut self, expr: &Source, constant: &Const) -> Result<Value, Refusal> {
        let (min, max) = int_range(self.vocabulary.problem.bitwidth);
        Ok(match constant {
            Const::True => Value::Formula(self.terms().truth()),
            Const::False => Value::Formula(self.terms().falsity()),
            Const::Iden => Value::Expr(self.iden()),
            Const::Int(value) => Value::Int(self.terms().int_const(*value)),
            Const::MinInt => Value::Int(self.terms().int_const(min)),
            Const::MaxInt => Value::Int(self.terms().int_const(max)),
            Const::NextInt => Value::Expr(self.vocabulary.int_next),
            Const::Str(text) => match bounds::string_expr(&mut self.vocabulary, text) {
                Some(string) => Value::Expr(string),
                None => {
                    return Err(Box::new(
                        Diagnostic::error("internal", format!("no atom stands for `{text}`"))
                            .at(expr.span),
                    ));
                }
            },
        })
    }

    /// The identity over what is in some signature.
    fn iden(&mut self) -> Expr {
        let univ = self.vocabulary.sig(builtin::UNIV);
        let terms = self.terms();
        let (iden, all) = (terms.iden(), terms.univ());
        let domain = terms.product(univ, all);
        terms.intersection(iden, domain)
    }

    fn ite(
        &mut self,
        condition: Formula,
        then: &Source,
        otherwise: &Source,
    ) -> Result<Value, Refusal> {
        match self.value(then)? {
            Value::Formula(then) => {
                let otherwise = self.formula(otherwise)?;
                let terms = self.terms();
                let not = terms.not(condition);
                let yes = terms.implies(condition, then);
                let no = terms.implies(not, otherwise);
                Ok(Value::Formula(terms.and([yes, no])))
            }
            Value::Expr(then) => {
                let otherwise = self.set(otherwise)?;
                Ok(Value::Expr(self.terms().ite(condition, then, otherwise)))
            }
            Value::Int(then) => {
                let otherwise = self.int(otherwise)?;
                Ok(Value::Int(self.terms().int_ite(condition, then, otherwise)))
            }
        }
    }

    fn unary(&mut self, expr: &Source, op: UnaryOp, operand: &Source) -> Result<Value, Refusal> {
        match op {
            UnaryOp::SetOf
            | UnaryOp::SomeOf
            | UnaryOp::LoneOf
            | UnaryOp::OneOf
            | UnaryOp::ExactlyOf => self.set(operand).map(Value::Expr),
            UnaryOp::Not => {
                let formula = self.formula(operand)?;
                Ok(Value::Formula(self.terms().not(formula)))
            }
            UnaryOp::No | UnaryOp::Some | UnaryOp::Lone | UnaryOp::One => {
                let set = self.set(operand)?;
                let terms = self.terms();
                Ok(Value::Formula(match op {
                    UnaryOp::No => terms.no(set),
                    UnaryOp::Some => terms.some(set),
                    UnaryOp::Lone => terms.lone(set),
                    _ => terms.one(set),
                }))
            }
            UnaryOp::Transpose => {
                let set = self.set(operand)?;
                Ok(Value::Expr(self.terms().transpose(set)))
            }
            UnaryOp::Closure => {
                let set = self.set(operand)?;
                Ok(Value::Expr(self.terms().closure(set)))
            }
            UnaryOp::ReflexiveClosure => {
                let set = self.set(operand)?;
                let closure = self.terms().closure(set);
                let iden = self.iden();
                Ok(Value::Expr(self.terms().union(closure, iden)))
            }
            UnaryOp::Card => {
                let set = self.set(operand)?;
                Ok(Value::Int(self.terms().card(set)))
            }
            UnaryOp::CastToInt => self.int(operand).map(Value::Int),
            UnaryOp::CastToSigInt => self.set(operand).map(Value::Expr),
            UnaryOp::Prime
            | UnaryOp::Always
            | UnaryOp::Eventually
            | UnaryOp::After
            | UnaryOp::Before
            | UnaryOp::Historically
            | UnaryOp::Once => Err(misfit(expr, "free of operators about time")),
        }
    }

    fn binary(
        &mut self,
        expr: &Source,
        op: BinaryOp,
        left: &Source,
        right: &Source,
    ) -> Result<Value, Refusal> {
        let sets = |this: &mut Self| Ok::<_, Refusal>((this.set(left)?, this.set(right)?));
        match op {
            BinaryOp::Arrow(..) | BinaryOp::SeqArrow => {
                let (a, b) = sets(self)?;
                Ok(Value::Expr(self.terms().product(a, b)))
            }
            BinaryOp::Join => {
                let (a, b) = sets(self)?;
                Ok(Value::Expr(join(self.terms(), a, b)))
            }
            BinaryOp::Domain => {
                let (a, b) = sets(self)?;
                Ok(Value::Expr(self.restrict(a, b, true)))
            }
            BinaryOp::Range => {
                let (a, b) = sets(self)?;
                Ok(Value::Expr(self.restrict(b, a, false)))
            }
            BinaryOp::Intersect => {
                let (a, b) = sets(self)?;
                Ok(Value::Expr(self.terms().intersection(a, b)))
            }
            BinaryOp::Override => {
                let (a, b) = sets(self)?;
                Ok(Value::Expr(self.terms().override_with(a, b)))
            }
            BinaryOp::Union => {
                let (a, b) = sets(self)?;
                Ok(Value::Expr(self.terms().union(a, b)))
            }
            BinaryOp::Difference => {
                if let Some(min) = self.smallest_literal(left, right) {
                    return Ok(min);
                }
                let (a, b) = sets(self)?;
                Ok(Value::Expr(self.terms().difference(a, b)))
            }
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Shl
            | BinaryOp::Sha
            | BinaryOp::Shr => {
                let (a, b) = (self.int(left)?, self.int(right)?);
                let op = match op {
                    BinaryOp::Add => IntOp::Add,
                    BinaryOp::Sub => IntOp::Sub,
                    BinaryOp::Mul => IntOp::Mul,
                    BinaryOp::Div => IntOp::Div,
                    BinaryOp::Rem => IntOp::Rem,
                    BinaryOp::Shl => IntOp::Shl,
                    BinaryOp::Sha => IntOp::Sha,
                    _ => IntOp::Shr,
                };
                Ok(Value::Int(self.terms().int_op(op, a, b)))
            }
            BinaryOp::Until | BinaryOp::Releases | BinaryOp::Since | BinaryOp::Triggered => {
                Err(misfit(expr, "free of operators about time"))
            }
            _ => self.comparison(op, left, right).map(Value::Formula),
        }
    }

    /// `0 - 8` is the smallest integer of four bits, although 8 is none of them.
    fn smallest_literal(&mut self, left: &Source, right: &Source) -> Option<Value> {
        fn literal(expr: &Source) -> Option<i64> {
            match &expr.kind {
                ExprKind::Const(Const::Int(value)) => Some(*value),
                ExprKind::Unary(UnaryOp::CastToSigInt | UnaryOp::CastToInt, inner) => {
                    literal(inner)
                }
                _ => None,
            }
        }
        let (min, max) = int_range(self.vocabulary.problem.bitwidth);
        (literal(left) == Some(0) && literal(right) == Some(max + 1))
            .then(|| Value::Int(self.terms().int_const(min)))
    }

    fn comparison(
        &mut self,
        op: BinaryOp,
        left: &Source,
        right: &Source,
    ) -> Result<Formula, Refusal> {
        match op {
            BinaryOp::Implies | BinaryOp::Iff => {
                let (a, b) = (self.formula(left)?, self.formula(right)?);
                Ok(if op == BinaryOp::Iff {
                    self.terms().iff(a, b)
                } else {
                    self.terms().implies(a, b)
                })
            }
            BinaryOp::In | BinaryOp::NotIn => {
                let set = self.set(left)?;
                let formula = self.is_in(set, right)?;
                Ok(if op == BinaryOp::NotIn {
                    self.terms().not(formula)
                } else {
                    formula
                })
            }
            BinaryOp::Eq | BinaryOp::NotEq => {
                let (a, b) = (self.set(left)?, self.set(right)?);
                let terms = self.terms();
                let formula = match (terms.expr(a), terms.expr(b)) {
                    (&ExprNode::IntAtom(a), &ExprNode::IntAtom(b)) => {
                        terms.int_cmp(IntCmp::Eq, a, b)
                    }
                    _ => terms.equal(a, b),
                };
                Ok(if op == BinaryOp::NotEq {
                    terms.not(formula)
                } else {
                    formula
                })
            }
            _ => {
                let (a, b) = (self.int(left)?, self.int(right)?);
                let terms = self.terms();
                let (cmp, a, b, negated) = match op {
                    BinaryOp::Lt => (IntCmp::Lt, a, b, false),
                    BinaryOp::Lte => (IntCmp::Lte, a, b, false),
                    BinaryOp::Gt => (IntCmp::Lt, b, a, false),
                    BinaryOp::Gte => (IntCmp::Lte, b, a, false),
                    BinaryOp::NotLt => (IntCmp::Lt, a, b, true),
                    BinaryOp::NotLte => (IntCmp::Lte, a, b, true),
                    BinaryOp::NotGt => (IntCmp::Lt, b, a, true),
                    _ => (IntCmp::Lte, b, a, true),
                };
                let formula = terms.int_cmp(cmp, a, b);
                Ok(if negated { terms.not(formula) } else { formula })
            }
        }
    }

    /// The tuples of `relation` whose first (or last) atom is in `set`.
    fn restrict(&mut self, set: Expr, relation: Expr, first: bool) -> Expr {
        let terms = self.terms();
        let univ = terms.univ();
        let mut mask = set;
        for _ in 1..terms.arity(relation) {
            mask = if first {
                terms.product(mask, univ)
            } else {
                terms.product(univ, mask)
            };
        }
        terms.intersection(mask, relation)
    }

    fn list(&mut self, op: ListOp, operands: &[Source]) -> Result<Formula, Refusal> {
        match op {
            ListOp::And | ListOp::Or => {
                let mut formulas = Vec::with_capacity(operands.len());
                for operand in operands {
                    formulas.push(self.formula(operand)?);
                }
                Ok(if op == ListOp::And {
                    self.terms().and(formulas)
                } else {
                    self.terms().or(formulas)
                })
            }
            ListOp::Disjoint => {
                let mut sets = Vec::with_capacity(operands.len());
                for operand in operands {
                    sets.push(self.set(operand)?);
                }
                Ok(self.disjoint(&sets))
            }
            ListOp::TotalOrder => {
                let mut sets = Vec::with_capacity(operands.len());
                for operand in operands {
                    sets.push(self.set(operand)?);
                }
                let &[elem, first, next] = sets.as_slice() else {
                    return Ok(self.terms().falsity());
                };
                if !matches!(self.terms().expr(elem), ExprNode::None(_)) {
                    return Ok(self.terms().total_order(elem, first, next));
                }
                // Alloy demands a first element of a relation, and nothing of an empty union.
                let is_relation = operands.first().is_some_and(
                    |elem| matches!(elem.kind, ExprKind::Sig(id) if self.is_relation(id)),
                );
                Ok(if is_relation {
                    self.terms().falsity()
                } else {
                    self.terms().truth()
                })
            }
        }
    }

    /// Whether a signature is one relation, and not a union of its children.
    fn is_relation(&self, id: SigId) -> bool {
        let sig = self.model.sig(id);
        match sig.children.as_slice() {
            [] => true,
            [child] => sig.is_abstract && self.is_relation(*child),
            _ => false,
        }
    }

    /// No tuple is in two of the sets.
    pub(super) fn disjoint(&mut self, sets: &[Expr]) -> Formula {
        let terms = self.terms();
        let mut parts = Vec::new();
        let mut before: Option<Expr> = None;
        for &set in sets {
            before = Some(match before {
                None => set,
                Some(before) => {
                    let common = terms.intersection(before, set);
                    parts.push(terms.no(common));
                    terms.union(before, set)
                }
            });
        }
        terms.and(parts)
    }

    fn call(&mut self, expr: &Source, func: FuncId, args: &[Source]) -> Result<Value, Refusal> {
        let values = self.args(args)?;
        let key = (func, values);
        if let Some(&value) = self.expanded.get(&key) {
            return Ok(value);
        }
        if self.is_expanding(func) {
            let func = self.model.func(func);
            let name = func.label.strip_prefix("this/").unwrap_or(&func.label);
            return Err(Box::new(
                Diagnostic::error("recursion", format!("`{name}` cannot call itself"))
                    .at(expr.span)
                    .related(func.span, format!("`{name}` is declared here"))
                    .help("use transitive closure (`^r`, `*r`) to follow a relation any number of times"),
            ));
        }
        let frame = self.enter_with(func, &key.1);
        let value = self.value(&self.model.func(func).body);
        self.leave(frame);
        let value = value?;
        self.expanded.insert(key, value);
        Ok(value)
    }
}

/// What to restore after a call.
pub(super) struct Frame {
    env: HashMap<VarId, Value>,
    prefix: String,
}

fn misfit(expr: &Source, what: &str) -> Refusal {
    Box::new(Diagnostic::error("type", format!("this must be {what}")).at(expr.span))
}
