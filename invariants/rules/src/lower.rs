//! Expressions of a model as terms of a program.

use std::collections::HashMap;

use locus_core::Diagnostic;
use locus_core::value::Value as Constant;
use locus_grammar::model::{
    BinaryOp, Const, Decl, Expr, ExprKind, FuncId, ListOp, Model, Mult, Quant, SigId, UnaryOp,
    VarId as ModelVar, builtin,
};

use crate::builtin::Builtin;
use crate::logic::{Count, ExprId, FormulaId, IntCmp, IntId, IntOp, VarId};
use crate::program::{Program, RelationKind};

/// The signature whose fields are the built-in relations.
const COMPUTED: &str = "Computed";

/// Why a rule cannot be compiled.
pub(super) type Refusal = Box<Diagnostic>;

#[derive(Clone, Copy, Debug)]
enum Value {
    Formula(FormulaId),
    Set(ExprId),
    Int(IntId),
}

/// Variables with what they range over, and that they differ.
type Declared = (Vec<(VarId, ExprId)>, Vec<FormulaId>);

/// What breaks an assertion.
#[derive(Debug, Default)]
pub(super) struct Violation {
    pub(super) decls: Vec<(VarId, ExprId)>,
    pub(super) anchors: Vec<VarId>,
    pub(super) disjoint: Vec<Vec<VarId>>,
    pub(super) conjuncts: Vec<FormulaId>,
}

/// The lowering of one rule.
pub(super) struct Lowering<'a> {
    pub(super) model: &'a Model,
    pub(super) program: &'a mut Program,
    env: HashMap<ModelVar, Value>,
    calls: Vec<FuncId>,
}

fn refuse(expr: &Expr, message: &str) -> Refusal {
    Box::new(Diagnostic::error("rule", message).at(expr.span))
}

fn bare(label: &str) -> &str {
    label.rsplit('/').next().unwrap_or(label)
}

impl<'a> Lowering<'a> {
    pub(super) fn new(model: &'a Model, program: &'a mut Program) -> Self {
        Lowering {
            model,
            program,
            env: HashMap::new(),
            calls: Vec::new(),
        }
    }

    /// Lowers the negation of an assertion and keeps its outer universals apart.
    pub(super) fn violation(&mut self, expr: &Expr, out: &mut Violation) -> Result<(), Refusal> {
        match &expr.kind {
            ExprKind::Quant {
                quant: Quant::All,
                decls,
                body,
            } => {
                self.anchors(decls, out)?;
                self.violation(body, out)
            }
            ExprKind::Quant {
                quant: Quant::No,
                decls,
                body,
            } => {
                self.anchors(decls, out)?;
                let body = self.formula(body)?;
                out.conjuncts.push(body);
                Ok(())
            }
            ExprKind::Binary(BinaryOp::Implies, condition, body) => {
                let condition = self.formula(condition)?;
                out.conjuncts.push(condition);
                self.violation(body, out)
            }
            ExprKind::Let { var, value, body } => {
                let value = self.value(value)?;
                self.env.insert(*var, value);
                self.violation(body, out)
            }
            ExprKind::List(ListOp::And, parts) if parts.len() == 1 => {
                parts.iter().try_for_each(|part| self.violation(part, out))
            }
            _ => {
                let formula = self.formula(expr)?;
                let negated = self.program.terms.not(formula);
                out.conjuncts.push(negated);
                Ok(())
            }
        }
    }

    fn anchors(&mut self, decls: &[Decl], out: &mut Violation) -> Result<(), Refusal> {
        for decl in decls {
            let (vars, different) = self.declare(decl)?;
            let group: Vec<VarId> = vars.iter().map(|&(var, _)| var).collect();
            out.anchors.extend(&group);
            out.decls.extend(vars);
            out.conjuncts.extend(different);
            if decl.disjoint && group.len() > 1 {
                out.disjoint.push(group);
            }
        }
        Ok(())
    }

    /// Fresh variables for a declaration, and what `disj` says about them.
    fn declare(&mut self, decl: &Decl) -> Result<Declared, Refusal> {
        let (mult, range) = match &decl.bound.kind {
            ExprKind::Unary(UnaryOp::OneOf, range) => (Mult::One, range.as_ref()),
            ExprKind::Unary(UnaryOp::SetOf, range) => (Mult::Set, range.as_ref()),
            ExprKind::Unary(UnaryOp::SomeOf, range) => (Mult::Some, range.as_ref()),
            ExprKind::Unary(UnaryOp::LoneOf, range) => (Mult::Lone, range.as_ref()),
            _ => (Mult::One, &decl.bound),
        };
        let range_expr = self.set(range)?;
        if mult != Mult::One || self.program.terms.arity(range_expr) != 1 {
            let message = "a variable of a rule ranges over single atoms";
            return Err(refuse(&decl.bound, message));
        }
        let mut vars = Vec::new();
        let mut different = Vec::new();
        for &model_var in &decl.vars {
            let var = self
                .program
                .terms
                .fresh(self.model.var(model_var).name.clone());
            let term = self.program.terms.var(var);
            self.env.insert(model_var, Value::Set(term));
            if decl.disjoint {
                for &(other, _) in &vars {
                    let other = self.program.terms.var(other);
                    let same = self.program.terms.equal(other, term);
                    different.push(self.program.terms.not(same));
                }
            }
            vars.push((var, range_expr));
        }
        Ok((vars, different))
    }

    pub(super) fn formula(&mut self, expr: &Expr) -> Result<FormulaId, Refusal> {
        match self.value(expr)? {
            Value::Formula(formula) => Ok(formula),
            _ => Err(refuse(expr, "a formula is expected here")),
        }
    }

    fn set(&mut self, expr: &Expr) -> Result<ExprId, Refusal> {
        match self.value(expr)? {
            Value::Set(set) => Ok(set),
            Value::Int(int) => match *self.program.terms.int(int) {
                crate::logic::IntNode::Const(n) => {
                    let constant = self.program.constant(Constant::Int(n.into()));
                    Ok(self.program.terms.constant(constant))
                }
                crate::logic::IntNode::SumOf(set) => Ok(set),
                _ => Err(refuse(
                    expr,
                    "a rule cannot use the atom of a computed number",
                )),
            },
            Value::Formula(_) => Err(refuse(expr, "a set is expected here")),
        }
    }

    fn int(&mut self, expr: &Expr) -> Result<IntId, Refusal> {
        match self.value(expr)? {
            Value::Int(int) => Ok(int),
            Value::Set(set) => Ok(self.program.terms.sum_of(set)),
            Value::Formula(_) => Err(refuse(expr, "a number is expected here")),
        }
    }

    fn sig(&mut self, id: SigId) -> Value {
        let terms = &mut self.program.terms;
        if id == builtin::UNIV {
            return Value::Set(terms.univ());
        }
        if id == builtin::NONE {
            return Value::Set(terms.none(1));
        }
        let name = bare(&self.model.sig(id).label).to_owned();
        let truth = match name.as_str() {
            "True" => Some(true),
            "False" => Some(false),
            _ => None,
        };
        if let Some(truth) = truth {
            let constant = self.program.constant(Constant::Bool(truth));
            return Value::Set(self.program.terms.constant(constant));
        }
        let relation = self.program.relation(RelationKind::Sig(name), 1);
        Value::Set(self.program.terms.relation(relation, 1))
    }

    fn field(&mut self, expr: &Expr, id: locus_grammar::model::FieldId) -> Result<Value, Refusal> {
        let field = self.model.field(id);
        let sig = bare(&self.model.sig(field.sig).label).to_owned();
        let arity = field.ty.arity().unwrap_or(2);
        if sig == COMPUTED {
            let name = field.name.strip_prefix("rel_").unwrap_or(&field.name);
            let Some((builtin, columns)) = Builtin::named(name) else {
                return Err(refuse(expr, "there is no such built-in relation"));
            };
            let relation = self
                .program
                .relation(RelationKind::Builtin(builtin), columns);
            let relation = self.program.terms.relation(relation, columns);
            // `Computed.less` is the relation itself: the one atom of `Computed` is joined away.
            let Value::Set(owner) = self.sig(field.sig) else {
                return Err(refuse(expr, "there is no such built-in relation"));
            };
            return Ok(Value::Set(self.program.terms.product(owner, relation)));
        }
        let kind = RelationKind::Field {
            sig,
            name: field.name.clone(),
        };
        let relation = self.program.relation(kind, arity);
        Ok(Value::Set(self.program.terms.relation(relation, arity)))
    }

    fn value(&mut self, expr: &Expr) -> Result<Value, Refusal> {
        match &expr.kind {
            ExprKind::Sig(id) => Ok(self.sig(*id)),
            ExprKind::Field(id) => self.field(expr, *id),
            ExprKind::Var(var) => match self.env.get(var) {
                Some(&value) => Ok(value),
                None => Err(refuse(expr, "this variable has no value here")),
            },
            ExprKind::Const(constant) => self.constant(expr, constant),
            ExprKind::Unary(op, operand) => self.unary(expr, *op, operand),
            ExprKind::Binary(op, left, right) => self.binary(expr, *op, left, right),
            ExprKind::List(op, operands) => self.list(expr, *op, operands),
            ExprKind::Ite(condition, then, otherwise) => {
                let condition = self.formula(condition)?;
                let then = self.value(then)?;
                let otherwise = self.value(otherwise)?;
                let terms = &mut self.program.terms;
                match (then, otherwise) {
                    (Value::Formula(a), Value::Formula(b)) => {
                        let not = terms.not(condition);
                        let (yes, no) = (terms.and([condition, a]), terms.and([not, b]));
                        Ok(Value::Formula(terms.or([yes, no])))
                    }
                    (Value::Set(a), Value::Set(b)) => Ok(Value::Set(terms.ite(condition, a, b))),
                    (Value::Int(a), Value::Int(b)) => {
                        Ok(Value::Int(terms.int_ite(condition, a, b)))
                    }
                    _ => Err(refuse(expr, "both alternatives must be of one kind")),
                }
            }
            ExprKind::Let { var, value, body } => {
                let value = self.value(value)?;
                self.env.insert(*var, value);
                self.value(body)
            }
            ExprKind::Quant { quant, decls, body } => self.quant(*quant, decls, body),
            ExprKind::Call { func, args } => self.call(expr, *func, args),
        }
    }

    fn constant(&mut self, expr: &Expr, constant: &Const) -> Result<Value, Refusal> {
        let terms = &mut self.program.terms;
        Ok(match constant {
            Const::True => Value::Formula(terms.truth()),
            Const::False => Value::Formula(terms.falsity()),
            Const::Iden => Value::Set(terms.iden()),
            Const::Int(n) => Value::Int(terms.int_const(*n)),
            Const::Str(text) => {
                let constant = self.program.constant(Constant::str(text.as_str()));
                Value::Set(self.program.terms.constant(constant))
            }
            Const::MinInt | Const::MaxInt | Const::NextInt => {
                return Err(refuse(
                    expr,
                    "the integers of a rule have no least or greatest",
                ));
            }
        })
    }

    fn unary(&mut self, expr: &Expr, op: UnaryOp, operand: &Expr) -> Result<Value, Refusal> {
        match op {
            UnaryOp::Not => {
                let formula = self.formula(operand)?;
                return Ok(Value::Formula(self.program.terms.not(formula)));
            }
            UnaryOp::CastToInt => return Ok(Value::Int(self.int(operand)?)),
            UnaryOp::CastToSigInt => return Ok(Value::Set(self.set(operand)?)),
            _ => {}
        }
        let set = self.set(operand)?;
        let terms = &mut self.program.terms;
        Ok(match op {
            UnaryOp::No => Value::Formula(terms.count(set, Count::AtMost(0))),
            UnaryOp::Some => Value::Formula(terms.count(set, Count::AtLeast(1))),
            UnaryOp::Lone => Value::Formula(terms.count(set, Count::AtMost(1))),
            UnaryOp::One => {
                let lone = terms.count(set, Count::AtMost(1));
                let some = terms.count(set, Count::AtLeast(1));
                Value::Formula(terms.and([some, lone]))
            }
            UnaryOp::SetOf
            | UnaryOp::SomeOf
            | UnaryOp::LoneOf
            | UnaryOp::OneOf
            | UnaryOp::ExactlyOf => Value::Set(set),
            UnaryOp::Transpose => Value::Set(terms.transpose(set)),
            UnaryOp::Closure => Value::Set(terms.closure(set)),
            UnaryOp::ReflexiveClosure => {
                let closure = terms.closure(set);
                let iden = terms.iden();
                Value::Set(terms.union([closure, iden], 2))
            }
            UnaryOp::Card => Value::Int(terms.card(set)),
            _ => {
                return Err(refuse(
                    expr,
                    "a configuration has no time: rules cannot use it",
                ));
            }
        })
    }

    fn binary(
        &mut self,
        expr: &Expr,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
    ) -> Result<Value, Refusal> {
        match op {
            BinaryOp::Implies | BinaryOp::Iff => {
                let (a, b) = (self.formula(left)?, self.formula(right)?);
                let terms = &mut self.program.terms;
                return Ok(Value::Formula(match op {
                    BinaryOp::Implies => terms.implies(a, b),
                    _ => terms.iff(a, b),
                }));
            }
            BinaryOp::Eq | BinaryOp::NotEq => {
                let (a, b) = (self.value(left)?, self.value(right)?);
                let equal = match (a, b) {
                    (Value::Int(_), _) | (_, Value::Int(_)) if !is_set_like(left, right) => {
                        let (a, b) = (self.int(left)?, self.int(right)?);
                        self.program.terms.int_cmp(IntCmp::Eq, a, b)
                    }
                    _ => {
                        let (a, b) = (self.set(left)?, self.set(right)?);
                        self.program.terms.equal(a, b)
                    }
                };
                let terms = &mut self.program.terms;
                return Ok(Value::Formula(if op == BinaryOp::Eq {
                    equal
                } else {
                    terms.not(equal)
                }));
            }
            BinaryOp::Lt | BinaryOp::Lte | BinaryOp::Gt | BinaryOp::Gte => {
                let (a, b) = (self.int(left)?, self.int(right)?);
                let terms = &mut self.program.terms;
                return Ok(Value::Formula(match op {
                    BinaryOp::Lt => terms.int_cmp(IntCmp::Lt, a, b),
                    BinaryOp::Lte => terms.int_cmp(IntCmp::Lte, a, b),
                    BinaryOp::Gt => terms.int_cmp(IntCmp::Lt, b, a),
                    _ => terms.int_cmp(IntCmp::Lte, b, a),
                }));
            }
            BinaryOp::NotLt | BinaryOp::NotLte | BinaryOp::NotGt | BinaryOp::NotGte => {
                let positive = match op {
                    BinaryOp::NotLt => BinaryOp::Lt,
                    BinaryOp::NotLte => BinaryOp::Lte,
                    BinaryOp::NotGt => BinaryOp::Gt,
                    _ => BinaryOp::Gte,
                };
                return match self.binary(expr, positive, left, right)? {
                    Value::Formula(formula) => Ok(Value::Formula(self.program.terms.not(formula))),
                    other => Ok(other),
                };
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
                let (a, b) = (self.int(left)?, self.int(right)?);
                let op = match op {
                    BinaryOp::Add => IntOp::Add,
                    BinaryOp::Sub => IntOp::Sub,
                    BinaryOp::Mul => IntOp::Mul,
                    BinaryOp::Div => IntOp::Div,
                    _ => IntOp::Rem,
                };
                return Ok(Value::Int(self.program.terms.int_op(op, a, b)));
            }
            _ => {}
        }
        let (a, b) = (self.set(left)?, self.set(right)?);
        let terms = &mut self.program.terms;
        Ok(match op {
            BinaryOp::Arrow(Mult::Set, Mult::Set) => Value::Set(terms.product(a, b)),
            BinaryOp::Join => Value::Set(terms.join(a, b)),
            // All of a field starts in the signature that declares it.
            BinaryOp::Domain if owns(left, right, self.model) => Value::Set(b),
            BinaryOp::Domain => {
                let rest = everything(terms, terms.arity(b).saturating_sub(1));
                let product = rest.map_or(a, |rest| terms.product(a, rest));
                Value::Set(terms.intersection(product, b))
            }
            BinaryOp::Range => {
                let rest = everything(terms, terms.arity(a).saturating_sub(1));
                let product = rest.map_or(b, |rest| terms.product(rest, b));
                Value::Set(terms.intersection(a, product))
            }
            BinaryOp::Intersect => Value::Set(terms.intersection(a, b)),
            BinaryOp::Override => Value::Set(terms.override_with(a, b)),
            BinaryOp::Union => {
                let arity = terms.arity(a);
                Value::Set(terms.union([a, b], arity))
            }
            BinaryOp::Difference => Value::Set(terms.difference(a, b)),
            BinaryOp::In => Value::Formula(terms.subset(a, b)),
            BinaryOp::NotIn => {
                let inside = terms.subset(a, b);
                Value::Formula(terms.not(inside))
            }
            _ => return Err(refuse(expr, "rules cannot use this operator")),
        })
    }

    fn list(&mut self, expr: &Expr, op: ListOp, operands: &[Expr]) -> Result<Value, Refusal> {
        match op {
            ListOp::And | ListOp::Or => {
                let parts: Vec<FormulaId> = operands
                    .iter()
                    .map(|operand| self.formula(operand))
                    .collect::<Result<_, _>>()?;
                let terms = &mut self.program.terms;
                Ok(Value::Formula(match op {
                    ListOp::And => terms.and(parts),
                    _ => terms.or(parts),
                }))
            }
            ListOp::Disjoint => {
                let sets: Vec<ExprId> = operands
                    .iter()
                    .map(|operand| self.set(operand))
                    .collect::<Result<_, _>>()?;
                let terms = &mut self.program.terms;
                let mut parts = Vec::new();
                for (at, &a) in sets.iter().enumerate() {
                    for &b in sets.iter().skip(at + 1) {
                        let common = terms.intersection(a, b);
                        parts.push(terms.count(common, Count::AtMost(0)));
                    }
                }
                Ok(Value::Formula(terms.and(parts)))
            }
            ListOp::TotalOrder => Err(refuse(expr, "rules cannot demand an order")),
        }
    }

    fn quant(&mut self, quant: Quant, decls: &[Decl], body: &Expr) -> Result<Value, Refusal> {
        let mut vars = Vec::new();
        let mut different = Vec::new();
        for decl in decls {
            let (new, conjuncts) = self.declare(decl)?;
            vars.extend(new);
            different.extend(conjuncts);
        }
        if quant == Quant::Sum {
            let body = self.int(body)?;
            return Ok(Value::Int(self.program.terms.sum(vars, body)));
        }
        let body = self.formula(body)?;
        let terms = &mut self.program.terms;
        if quant == Quant::All {
            let guard = terms.and(different);
            let body = terms.implies(guard, body);
            return Ok(Value::Formula(terms.forall(vars, body)));
        }
        let body = terms.and(different.into_iter().chain([body]));
        Ok(match quant {
            Quant::Some => Value::Formula(terms.exists(vars, body)),
            Quant::No => {
                let some = terms.exists(vars, body);
                Value::Formula(terms.not(some))
            }
            Quant::Lone | Quant::One => {
                let set = terms.comprehension(vars, body);
                let lone = terms.count(set, Count::AtMost(1));
                let some = terms.count(set, Count::AtLeast(1));
                Value::Formula(if quant == Quant::One {
                    terms.and([some, lone])
                } else {
                    lone
                })
            }
            _ => Value::Set(terms.comprehension(vars, body)),
        })
    }

    fn call(&mut self, expr: &Expr, func: FuncId, args: &[Expr]) -> Result<Value, Refusal> {
        if self.calls.contains(&func) {
            return Err(refuse(expr, "a rule cannot call itself"));
        }
        let values: Vec<Value> = args
            .iter()
            .map(|arg| self.set(arg).map(Value::Set))
            .collect::<Result<_, _>>()?;
        let model = self.model;
        let callee = model.func(func);
        let params = callee
            .params
            .iter()
            .flat_map(|decl| decl.vars.iter().copied());
        let inner: HashMap<ModelVar, Value> = params.zip(values).collect();
        let outer = std::mem::replace(&mut self.env, inner);
        self.calls.push(func);
        let value = self.value(&callee.body);
        self.calls.pop();
        self.env = outer;
        value
    }
}

/// Whether both sides are sets of integers rather than numbers to compare.
fn is_set_like(left: &Expr, right: &Expr) -> bool {
    let literal = |expr: &Expr| match &expr.kind {
        ExprKind::Const(Const::Int(_)) => true,
        ExprKind::Unary(UnaryOp::CastToSigInt, inner) => {
            matches!(inner.kind, ExprKind::Const(Const::Int(_)))
        }
        _ => false,
    };
    let relation = |expr: &Expr| !expr.ty.is_int && expr.ty.arity().is_some();
    (literal(left) || relation(left)) && (literal(right) || relation(right))
}

/// Whether the left side is the signature that declares the field on the right.
fn owns(left: &Expr, right: &Expr, model: &Model) -> bool {
    match (&left.kind, &right.kind) {
        (ExprKind::Sig(sig), ExprKind::Field(field)) => model.field(*field).sig == *sig,
        _ => false,
    }
}

/// All tuples of an arity; none of arity zero.
fn everything(terms: &mut crate::logic::Terms, arity: usize) -> Option<ExprId> {
    let univ = terms.univ();
    let mut all = None;
    for _ in 0..arity {
        all = Some(match all {
            None => univ,
            Some(all) => terms.product(all, univ),
        });
    }
    all
}
