//! What a command demands: the meaning of declarations, the facts, and its own formula.

use locus_core::Span;
use locus_grammar::model::{
    Command, Expr as Source, ExprKind, FieldId, ListOp, Model, Mult, Quant as SourceQuant, Sig,
    SigId, SigKind, UnaryOp,
};

use locus_terms::lower::{Lowering, Value, join};

use super::bounds::{self, Vocabulary};
use super::scope::{Scope, all_sigs, short_name};
use super::{Refusal, Translation};
use crate::problem::{
    Count, Decl, Expr, ExprNode, Formula, FormulaNode, Mult as TermMult, Quant, RelationId,
    TotalOrder,
};

/// A part of a conjunction: which facts it is part of, and what quantifiers stand around it.
struct Context {
    label: String,
    /// Universal declarations around the part, outermost first.
    around: Vec<Decl>,
    /// Guards that go with them.
    guards: Vec<Formula>,
}

/// States everything and returns the finished translation.
pub(super) fn state(
    model: &Model,
    command: &Command,
    scope: &Scope,
    vocabulary: Vocabulary,
) -> Result<Translation, Refusal> {
    let mut demands = Demands {
        lowering: Lowering::new(model, vocabulary, &command.label),
    };
    demands.hierarchy();
    demands.sizes(scope);
    for (id, sig) in all_sigs(model) {
        for &field in &sig.fields {
            if !demands.lowering.vocabulary.settled_orders.contains(&id) {
                demands.field(id, sig, field)?;
            }
        }
        if !demands.lowering.vocabulary.settled_orders.contains(&id) {
            demands.appended_facts(id, sig)?;
        }
    }
    for fact in &model.facts {
        let label = if fact.label.contains('$') {
            "fact".to_owned()
        } else {
            format!("fact `{}`", bare(&fact.label))
        };
        demands.demand(&fact.body, false, label)?;
    }
    demands.lowering.set_prefix(command.label.clone());
    let label = format!(
        "{} `{}`",
        if command.is_check {
            "the negation of"
        } else {
            "run"
        },
        bare(&command.label)
    );
    demands.demand(&command.formula, false, label)?;
    let Vocabulary {
        problem,
        sigs,
        fields,
        ..
    } = demands.lowering.vocabulary;
    Ok(Translation {
        problem,
        sigs,
        fields,
    })
}

fn bare(label: &str) -> &str {
    label.strip_prefix("this/").unwrap_or(label)
}

/// What is demanded, and the lowering that turns it into terms.
struct Demands<'a> {
    lowering: Lowering<'a, Vocabulary>,
}

impl Demands<'_> {
    fn require(&mut self, formula: Formula, label: String, span: Span) {
        if !matches!(self.lowering.terms().formula(formula), FormulaNode::True) {
            self.lowering
                .vocabulary
                .problem
                .require(formula, label, Some(span));
        }
    }

    /// Signatures that extend the same one share no atom; a subset signature is a subset.
    fn hierarchy(&mut self) {
        for (id, before, child) in std::mem::take(&mut self.lowering.vocabulary.overlapping) {
            let common = self.lowering.terms().intersection(before, child);
            let formula = self.lowering.terms().no(common);
            let sig = self.lowering.model.sig(id);
            let label = format!("`{}` shares no atom with its siblings", short_name(sig));
            self.require(formula, label, sig.span);
        }
        let model = self.lowering.model;
        for (id, sig) in all_sigs(model) {
            let SigKind::Subset {
                parents,
                exact: false,
            } = &sig.kind
            else {
                continue;
            };
            let parents: Vec<Expr> = parents
                .iter()
                .map(|&p| self.lowering.vocabulary.sig(p))
                .collect();
            let set = self.lowering.vocabulary.sig(id);
            let union = self.lowering.terms().union_all(1, parents);
            let formula = self.lowering.terms().subset(set, union);
            let label = format!("`{}` is a subset", short_name(sig));
            self.require(formula, label, sig.span);
        }
    }

    /// Numbers of atoms that the bounds do not settle.
    fn sizes(&mut self, scope: &Scope) {
        let model = self.lowering.model;
        let demanded: Vec<_> =
            bounds::sizes_to_demand(model, scope, &self.lowering.vocabulary).collect();
        for (id, sig) in all_sigs(model) {
            if matches!(sig.kind, SigKind::Builtin) {
                continue;
            }
            let set = self.lowering.vocabulary.sig(id);
            let (lower, upper) = self.lowering.vocabulary.sig_bounds(id);
            let (fewest, most) = (lower.len(), upper.len());
            let formula = match sig.mult {
                Mult::One if fewest != 1 || most != 1 => Some(Count::Exactly(1)),
                Mult::Some if fewest < 1 => Some(Count::AtLeast(1)),
                Mult::Lone if most > 1 => Some(Count::AtMost(1)),
                _ => None,
            };
            if let Some(count) = formula {
                let formula = self.lowering.terms().count(set, count);
                let label = format!("multiplicity of `{}`", short_name(sig));
                self.require(formula, label, sig.span);
            }
            if sig.mult == Mult::One && (fewest != 1 || most != 1) {
                continue;
            }
            if let Some(&(_, size, exact)) = demanded.iter().find(|(other, ..)| *other == id) {
                let count = if exact {
                    Count::Exactly(size)
                } else {
                    Count::AtMost(size)
                };
                let formula = self.lowering.terms().count(set, count);
                let label = format!("scope of `{}`", short_name(sig));
                self.require(formula, label, sig.span);
            }
        }
    }

    /// What the declaration of a field says.
    fn field(&mut self, id: SigId, sig: &Sig, field_id: FieldId) -> Result<(), Refusal> {
        let field = self.lowering.model.field(field_id);
        let value = self.lowering.vocabulary.field(field_id);
        let owner = self.lowering.vocabulary.sig(id);
        let label = format!("declaration of `{}`", field.name);
        let declared = |this: &mut Self, this_value: Expr| {
            this.lowering.bind(sig.this, Value::Expr(this_value));
            let image = join(this.lowering.terms(), this_value, value);
            if field.is_defined {
                let bound = this.lowering.set(&field.bound)?;
                Ok::<_, Refusal>(this.lowering.terms().equal(image, bound))
            } else {
                this.lowering.is_in(image, &field.bound)
            }
        };
        if sig.mult == Mult::One {
            let formula = declared(self, owner)?;
            self.require(formula, label, field.span);
        } else {
            let var = self.lowering.terms().fresh_var("this", 1);
            let this = self.lowering.terms().var(var);
            let body = declared(self, this)?;
            let decl = Decl {
                var,
                mult: TermMult::One,
                bound: owner,
            };
            let formula = self.lowering.terms().quant(Quant::All, vec![decl], body);
            self.require(formula, label.clone(), field.span);
            // The above says nothing of tuples that start outside the signature.
            let terms = self.lowering.terms();
            let univ = terms.univ();
            let mut first = value;
            while terms.arity(first) > 1 {
                first = terms.join(first, univ);
            }
            let formula = terms.subset(first, owner);
            self.require(formula, label.clone(), field.span);
            if field.disjoint_values {
                let formula = self.disjoint_values(owner, value);
                self.require(formula, format!("`disj` of `{}`", field.name), field.span);
            }
        }
        if field.disjoint_with.first() == Some(&field_id) && field.disjoint_with.len() > 1 {
            let sets: Vec<Expr> = field
                .disjoint_with
                .iter()
                .map(|&other| self.lowering.vocabulary.field(other))
                .collect();
            let formula = self.lowering.disjoint(&sets);
            self.require(formula, format!("`disj` of `{}`", field.name), field.span);
        }
        Ok(())
    }

    fn disjoint_values(&mut self, owner: Expr, field: Expr) -> Formula {
        let terms = self.lowering.terms();
        let vars = [terms.fresh_var("this", 1), terms.fresh_var("that", 1)];
        let [this, that] = vars.map(|var| terms.var(var));
        let equal = terms.equal(this, that);
        let different = terms.not(equal);
        let (a, b) = (terms.join(this, field), terms.join(that, field));
        let common = terms.intersection(a, b);
        let none = terms.no(common);
        let body = terms.implies(different, none);
        let decls = vars
            .map(|var| Decl {
                var,
                mult: TermMult::One,
                bound: owner,
            })
            .to_vec();
        terms.quant(Quant::All, decls, body)
    }

    fn appended_facts(&mut self, id: SigId, sig: &Sig) -> Result<(), Refusal> {
        let owner = self.lowering.vocabulary.sig(id);
        for fact in &sig.facts {
            let label = format!("fact of `{}`", short_name(sig));
            let mut context = Context {
                label,
                around: Vec::new(),
                guards: Vec::new(),
            };
            if sig.mult == Mult::One {
                self.lowering.bind(sig.this, Value::Expr(owner));
            } else {
                let var = self.lowering.terms().fresh_var("this", 1);
                let this = self.lowering.terms().var(var);
                self.lowering.bind(sig.this, Value::Expr(this));
                context.around.push(Decl {
                    var,
                    mult: TermMult::One,
                    bound: owner,
                });
            }
            self.split(fact, false, &context)?;
        }
        Ok(())
    }

    /// Demands a formula, or its negation, part by part.
    fn demand(&mut self, expr: &Source, negated: bool, label: String) -> Result<(), Refusal> {
        let context = Context {
            label,
            around: Vec::new(),
            guards: Vec::new(),
        };
        self.split(expr, negated, &context)
    }

    /// Splits a formula at its conjunctions, through universal quantifiers and calls, so that an
    /// unsatisfiable core names parts and not whole facts.
    ///
    /// `not (a implies b)` stays whole: whether an overflow in `a` makes it hold or fail depends on
    /// the negation around it.
    fn split(&mut self, expr: &Source, negated: bool, context: &Context) -> Result<(), Refusal> {
        match (&expr.kind, negated) {
            (ExprKind::List(ListOp::And, parts), false)
            | (ExprKind::List(ListOp::Or, parts), true) => {
                for part in parts {
                    self.split(part, negated, context)?;
                }
                Ok(())
            }
            (ExprKind::Unary(UnaryOp::Not, inner), _) => self.split(inner, !negated, context),
            (ExprKind::Let { var, value, body }, _) => {
                let value = self.lowering.value(value)?;
                self.lowering.bind(*var, value);
                self.split(body, negated, context)
            }
            (ExprKind::Call { func, args }, _)
                if self.lowering.model.func(*func).is_pred
                    && !self.lowering.is_expanding(*func) =>
            {
                let model = self.lowering.model;
                let frame = self.lowering.enter(*func, args)?;
                let done = self.split(&model.func(*func).body, negated, context);
                self.lowering.leave(frame);
                done
            }
            (
                ExprKind::Quant {
                    quant: SourceQuant::All,
                    decls,
                    body,
                },
                false,
            ) if is_conjunction(body) => {
                let declared = self.lowering.declare(decls)?;
                let mut inner = Context {
                    label: context.label.clone(),
                    around: context.around.clone(),
                    guards: context.guards.clone(),
                };
                inner.around.extend(declared.decls);
                inner.guards.extend(declared.guards);
                self.split(body, false, &inner)
            }
            _ => {
                if !negated && self.fixable_order(expr, context)? {
                    return Ok(());
                }
                let mut formula = self.lowering.formula(expr)?;
                let terms = self.lowering.terms();
                if negated {
                    formula = terms.not(formula);
                }
                let guard = terms.and(context.guards.iter().copied());
                let body = terms.implies(guard, formula);
                let formula = terms.quant(Quant::All, context.around.clone(), body);
                self.require(formula, context.label.clone(), expr.span);
                Ok(())
            }
        }
    }

    /// A total order over an exact set is left to the solver, which may fix it.
    fn fixable_order(&mut self, expr: &Source, context: &Context) -> Result<bool, Refusal> {
        let ExprKind::List(ListOp::TotalOrder, operands) = &expr.kind else {
            return Ok(false);
        };
        if !context.around.is_empty() {
            return Ok(false);
        }
        let mut relations = Vec::new();
        for operand in operands {
            let set = self.lowering.set(operand)?;
            match self.lowering.terms().expr(set) {
                ExprNode::Relation(id) => relations.push(*id),
                _ => return Ok(false),
            }
        }
        let &[elem, first, next] = relations.as_slice() else {
            return Ok(false);
        };
        let problem = &mut self.lowering.vocabulary.problem;
        if !allows_every_order(problem, elem, first, next) {
            return Ok(false);
        }
        problem.orders.push(TotalOrder { elem, first, next });
        Ok(true)
    }
}

fn allows_every_order(
    problem: &crate::problem::Problem,
    elem: RelationId,
    first: RelationId,
    next: RelationId,
) -> bool {
    let set = problem.relation(elem);
    let (first, next) = (problem.relation(first), problem.relation(next));
    set.lower == set.upper
        && !set.upper.is_empty()
        && first.lower.is_empty()
        && next.lower.is_empty()
        && first.upper == set.upper
        && set
            .upper
            .product(&set.upper)
            .is_ok_and(|all| next.upper == all)
}

fn is_conjunction(expr: &Source) -> bool {
    match &expr.kind {
        ExprKind::List(ListOp::And, parts) => parts.len() > 1,
        ExprKind::Let { body, .. } => is_conjunction(body),
        ExprKind::Quant {
            quant: SourceQuant::All,
            body,
            ..
        } => is_conjunction(body),
        _ => false,
    }
}
