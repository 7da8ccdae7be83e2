//! Quantifiers, comprehensions and sums of a model as terms.

use locus_grammar::model::{Decl, Expr as Source, ExprKind, Quant as SourceQuant, UnaryOp};

use super::{Lowering, Refusal, Value, Vocabulary};
use crate::{Decl as TermDecl, Expr, Formula, Mult, Quant};

/// Declarations as terms, and what must hold of their variables besides.
#[derive(Debug)]
pub struct Declared {
    /// The declarations.
    pub decls: Vec<TermDecl>,
    /// What must hold besides.
    pub guards: Vec<Formula>,
}

impl<V: Vocabulary> Lowering<'_, V> {
    /// A quantified formula, a comprehension or a sum.
    pub(super) fn quant(
        &mut self,
        quant: SourceQuant,
        decls: &[Decl],
        body: &Source,
    ) -> Result<Value, Refusal> {
        let first_order = decls
            .iter()
            .all(|decl| decl.bound.ty.arity() == Some(1) && mult_of(&decl.bound) == Mult::One);
        match quant {
            SourceQuant::All => self.forall(decls, body, false).map(Value::Formula),
            SourceQuant::No => self.forall(decls, body, true).map(Value::Formula),
            SourceQuant::Some => {
                let bound = self.declare(decls)?;
                let mut parts = bound.guards;
                parts.push(self.formula(body)?);
                let terms = self.terms();
                let body = terms.and(parts);
                Ok(Value::Formula(terms.quant(Quant::Some, bound.decls, body)))
            }
            SourceQuant::One | SourceQuant::Lone if first_order => {
                let set = self.comprehension(decls, body)?;
                let terms = self.terms();
                Ok(Value::Formula(if quant == SourceQuant::One {
                    terms.one(set)
                } else {
                    terms.lone(set)
                }))
            }
            SourceQuant::Lone => self.lone(decls, body).map(Value::Formula),
            SourceQuant::One => {
                let lone = self.lone(decls, body)?;
                let bound = self.declare(decls)?;
                let mut parts = bound.guards;
                parts.push(self.formula(body)?);
                let terms = self.terms();
                let body = terms.and(parts);
                let some = terms.quant(Quant::Some, bound.decls, body);
                Ok(Value::Formula(terms.and([lone, some])))
            }
            SourceQuant::Comprehension => self.comprehension(decls, body).map(Value::Expr),
            SourceQuant::Sum => {
                let bound = self.declare(decls)?;
                let mut int = self.int(body)?;
                let terms = self.terms();
                if !bound.guards.is_empty() {
                    let guard = terms.and(bound.guards);
                    let zero = terms.int_const(0);
                    int = terms.int_ite(guard, int, zero);
                }
                Ok(Value::Int(terms.sum(bound.decls, int)))
            }
        }
    }

    fn forall(&mut self, decls: &[Decl], body: &Source, negated: bool) -> Result<Formula, Refusal> {
        let bound = self.declare(decls)?;
        let mut formula = self.formula(body)?;
        let terms = self.terms();
        if negated {
            formula = terms.not(formula);
        }
        let guard = terms.and(bound.guards);
        let body = terms.implies(guard, formula);
        Ok(terms.quant(Quant::All, bound.decls, body))
    }

    fn comprehension(&mut self, decls: &[Decl], body: &Source) -> Result<Expr, Refusal> {
        let bound = self.declare(decls)?;
        let mut parts = bound.guards;
        parts.push(self.formula(body)?);
        let terms = self.terms();
        let body = terms.and(parts);
        Ok(terms.comprehension(bound.decls, body))
    }

    /// At most one choice of the variables: any two choices that satisfy the body are equal.
    fn lone(&mut self, decls: &[Decl], body: &Source) -> Result<Formula, Refusal> {
        let mut all_decls = Vec::new();
        let mut holds = Vec::new();
        let mut choices = Vec::new();
        for _ in 0..2 {
            let bound = self.declare(decls)?;
            choices.push(bound.decls.iter().map(|decl| decl.var).collect::<Vec<_>>());
            all_decls.extend(bound.decls);
            holds.extend(bound.guards);
            holds.push(self.formula(body)?);
        }
        let terms = self.terms();
        let mut equal = Vec::new();
        if let [a, b] = choices.as_slice() {
            for (&a, &b) in a.iter().zip(b) {
                let (a, b) = (terms.var(a), terms.var(b));
                equal.push(terms.equal(a, b));
            }
        }
        let both = terms.and(holds);
        let equal = terms.and(equal);
        let body = terms.implies(both, equal);
        Ok(terms.quant(Quant::All, all_decls, body))
    }

    /// Gives the variables of declarations fresh variables.
    ///
    /// # Errors
    /// When a bound has no term.
    pub fn declare(&mut self, decls: &[Decl]) -> Result<Declared, Refusal> {
        let mut declared = Declared {
            decls: Vec::new(),
            guards: Vec::new(),
        };
        for decl in decls {
            let bound = self.set(&decl.bound)?;
            let arity = self.terms().arity(bound);
            let mut sets = Vec::new();
            for &id in &decl.vars {
                let name = self.model.var(id).name.as_str();
                let name = match self.prefix.as_str() {
                    "" => name.to_owned(),
                    prefix => format!("{prefix}_{name}"),
                };
                let var = self.terms().fresh_var(name, arity);
                let expr = self.terms().var(var);
                self.bind(id, Value::Expr(expr));
                sets.push(expr);
                let mult = if arity == 1 {
                    mult_of(&decl.bound)
                } else {
                    // A relation as a whole; its multiplicities are a condition on it.
                    let guard = self.is_in(expr, &decl.bound)?;
                    declared.guards.push(guard);
                    Mult::Set
                };
                declared.decls.push(TermDecl { var, mult, bound });
            }
            if decl.disjoint && sets.len() > 1 {
                let guard = self.disjoint(&sets);
                declared.guards.push(guard);
            }
        }
        Ok(declared)
    }
}

/// How many values a unary bound gives its variable; one, unless it says otherwise.
fn mult_of(bound: &Source) -> Mult {
    match &bound.kind {
        ExprKind::Unary(UnaryOp::SetOf | UnaryOp::ExactlyOf, _) => Mult::Set,
        ExprKind::Unary(UnaryOp::SomeOf, _) => Mult::Some,
        ExprKind::Unary(UnaryOp::LoneOf, _) => Mult::Lone,
        _ => Mult::One,
    }
}
