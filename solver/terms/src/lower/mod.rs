//! Expressions of a model as terms: the one place where the language gets its meaning.
//!
//! What signatures, fields and literals stand for is the caller's [`Vocabulary`]: relations between bounds for a command,
//! the facts of a configuration for a rule.

mod multiplicity;
mod quantifier;

use std::collections::HashMap;

use locus_core::Diagnostic;
use locus_grammar::model::{
    BinaryOp, Const, Expr as Source, ExprKind, FieldId, FuncId, ListOp, Model, SigId, UnaryOp,
    VarId, builtin,
};

use crate::{Expr, ExprNode, Formula, Int, IntCmp, IntOp, Terms};

pub use quantifier::Declared;

/// Why an expression has no term, told to the user.
pub type Refusal = Box<Diagnostic>;

/// What the names and literals of a model stand for.
pub trait Vocabulary {
    /// Where terms are made.
    fn terms(&mut self) -> &mut Terms;

    /// The atoms of a signature.
    fn sig(&mut self, model: &Model, id: SigId) -> Expr;

    /// A field, first column included.
    ///
    /// # Errors
    /// Why there is no such relation.
    fn field(&mut self, model: &Model, id: FieldId) -> Result<Expr, String>;

    /// The atom of a text, when there is one.
    fn text(&mut self, text: &str) -> Option<Expr>;

    /// The least and the greatest integer; none when integers have any size.
    fn int_range(&self) -> Option<(i64, i64)>;

    /// The successor relation of the integers and the atom of zero; none when integers have any size.
    fn int_order(&self) -> Option<(Expr, Expr)>;

    /// Whether a field is known to have no tuple that starts outside of its signature.
    fn fields_stay_inside(&self) -> bool;
}

/// What an expression of the model becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Something that holds or does not.
    Formula(Formula),
    /// A relation.
    Expr(Expr),
    /// An integer.
    Int(Int),
}

/// The lowering of expressions of a model.
#[derive(Debug)]
pub struct Lowering<'a, V> {
    /// The model.
    pub model: &'a Model,
    /// What its names stand for.
    pub vocabulary: V,
    /// What the variables in scope stand for.
    env: HashMap<VarId, Value>,
    /// The calls that are being expanded, innermost last.
    calls: Vec<FuncId>,
    /// Calls already expanded, by function and arguments: a body mentions nothing else.
    expanded: HashMap<(FuncId, Vec<Value>), Value>,
    /// Prefix of the names of variables: the command or the innermost function.
    prefix: String,
}

/// `left . right`, where `S . (S -> r)` is `r` for the sake of `one` signatures, whose fields are
/// stored without their first column.
pub fn join(terms: &mut Terms, left: Expr, right: Expr) -> Expr {
    if let ExprNode::Product(owner, rest) = *terms.expr(right)
        && owner == left
    {
        return rest;
    }
    terms.join(left, right)
}

impl<'a, V: Vocabulary> Lowering<'a, V> {
    /// Nothing is lowered yet; names of variables start with `prefix`, unless it is empty.
    pub fn new(model: &'a Model, vocabulary: V, prefix: &str) -> Self {
        Lowering {
            model,
            vocabulary,
            env: HashMap::new(),
            calls: Vec::new(),
            expanded: HashMap::new(),
            prefix: prefix.to_owned(),
        }
    }

    /// Where terms are made.
    pub fn terms(&mut self) -> &mut Terms {
        self.vocabulary.terms()
    }

    /// The model that is lowered.
    pub fn model(&self) -> &'a Model {
        self.model
    }

    /// Says what a variable stands for.
    pub fn bind(&mut self, var: VarId, value: Value) {
        self.env.insert(var, value);
    }

    /// Sets the prefix of skolem names; returns the old one.
    pub fn set_prefix(&mut self, prefix: String) -> String {
        std::mem::replace(&mut self.prefix, prefix)
    }

    /// Enters the body of a call to split it; [`leave`](Self::leave) undoes it.
    pub fn enter(&mut self, func: FuncId, args: &[Source]) -> Result<Frame, Refusal> {
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
    pub fn leave(&mut self, frame: Frame) {
        self.calls.pop();
        self.env = frame.env;
        self.prefix = frame.prefix;
    }

    /// Whether a call would expand itself forever.
    pub fn is_expanding(&self, func: FuncId) -> bool {
        self.calls.contains(&func)
    }

    /// A formula.
    pub fn formula(&mut self, expr: &Source) -> Result<Formula, Refusal> {
        match self.value(expr)? {
            Value::Formula(formula) => Ok(formula),
            Value::Expr(_) | Value::Int(_) => Err(misfit(expr, "a formula")),
        }
    }

    /// A relation; an integer becomes the set of its atom.
    pub fn set(&mut self, expr: &Source) -> Result<Expr, Refusal> {
        match self.value(expr)? {
            Value::Expr(set) => Ok(set),
            Value::Int(int) => Ok(self.terms().int_atom(int)),
            Value::Formula(_) => Err(misfit(expr, "a set or a relation")),
        }
    }

    /// An integer; a set of integers becomes its sum.
    pub fn int(&mut self, expr: &Source) -> Result<Int, Refusal> {
        match self.value(expr)? {
            Value::Int(int) => Ok(int),
            Value::Expr(set) => Ok(self.terms().sum_of(set)),
            Value::Formula(_) => Err(misfit(expr, "an integer")),
        }
    }

    /// An expression of any kind.
    pub fn value(&mut self, expr: &Source) -> Result<Value, Refusal> {
        match &expr.kind {
            ExprKind::Sig(id) if *id == builtin::NONE => Ok(Value::Expr(self.terms().none(1))),
            ExprKind::Sig(id) => Ok(Value::Expr(self.vocabulary.sig(self.model, *id))),
            ExprKind::Field(id) => match self.vocabulary.field(self.model, *id) {
                Ok(field) => Ok(Value::Expr(field)),
                Err(message) => Err(Box::new(Diagnostic::error("name", message).at(expr.span))),
            },
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
        let missing = |message: &str| {
            let diagnostic = Diagnostic::error("type", message);
            Err(Box::new(diagnostic.at(expr.span)))
        };
        let endless = "these integers have any size: there is no least, greatest or next one";
        Ok(match constant {
            Const::True => Value::Formula(self.terms().truth()),
            Const::False => Value::Formula(self.terms().falsity()),
            Const::Iden => Value::Expr(self.iden()),
            Const::Int(value) => Value::Int(self.terms().int_const(*value)),
            Const::MinInt | Const::MaxInt => match self.vocabulary.int_range() {
                Some((min, max)) => {
                    let value = if *constant == Const::MinInt { min } else { max };
                    Value::Int(self.terms().int_const(value))
                }
                None => return missing(endless),
            },
            Const::NextInt => match self.vocabulary.int_order() {
                Some((next, _)) => Value::Expr(next),
                None => return missing(endless),
            },
            Const::Str(text) => match self.vocabulary.text(text) {
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
        let univ = self.vocabulary.sig(self.model, builtin::UNIV);
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
            BinaryOp::Domain if self.owns(left, right) => self.value(right),
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

    /// Whether the left side is the signature that declares the field on the right, and nothing starts outside of it.
    fn owns(&self, left: &Source, right: &Source) -> bool {
        match (&left.kind, &right.kind) {
            (ExprKind::Sig(sig), ExprKind::Field(field)) => {
                self.model.field(*field).sig == *sig && self.vocabulary.fields_stay_inside()
            }
            _ => false,
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
        let (min, max) = self.vocabulary.int_range()?;
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
    pub fn disjoint(&mut self, sets: &[Expr]) -> Formula {
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
#[derive(Debug)]
pub struct Frame {
    env: HashMap<VarId, Value>,
    prefix: String,
}

fn misfit(expr: &Source, what: &str) -> Refusal {
    Box::new(Diagnostic::error("type", format!("this must be {what}")).at(expr.span))
}
