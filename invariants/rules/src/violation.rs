//! What breaks an assertion: its outer universals apart, the rest as conjuncts.

use locus_core::Diagnostic;
use locus_grammar::model::{BinaryOp, Decl, Expr, ExprKind, ListOp, Model, Quant};
use locus_terms::lower::{Lowering, Refusal};

use crate::logic::{ExprId, FormulaId, VarId};
use crate::normal::{Normal, Unfit};
use crate::program::Program;

/// What breaks an assertion.
#[derive(Debug, Default)]
pub(super) struct Violation {
    pub(super) decls: Vec<(VarId, ExprId)>,
    pub(super) anchors: Vec<VarId>,
    pub(super) disjoint: Vec<Vec<VarId>>,
    pub(super) conjuncts: Vec<FormulaId>,
}

impl Violation {
    /// Finds what breaks an assertion.
    pub(super) fn of(
        claim: &Expr,
        model: &Model,
        program: &mut Program,
    ) -> Result<Violation, Refusal> {
        let mut reader = Reader {
            lowering: Lowering::new(model, Normal::new(program), ""),
            found: Violation::default(),
            inside: false,
        };
        reader.violation(claim)?;
        Ok(reader.found)
    }
}

struct Reader<'a> {
    lowering: Lowering<'a, Normal<'a>>,
    found: Violation,
    /// Whether the body of a predicate is read.
    inside: bool,
}

fn refuse(expr: &Expr, unfit: Unfit) -> Refusal {
    Box::new(Diagnostic::error("rule", unfit.0).at(expr.span))
}

impl Reader<'_> {
    fn violation(&mut self, expr: &Expr) -> Result<(), Refusal> {
        match &expr.kind {
            ExprKind::Quant {
                quant: Quant::All,
                decls,
                body,
            } => {
                self.anchors(decls)?;
                self.violation(body)
            }
            ExprKind::Quant {
                quant: Quant::No,
                decls,
                body,
            } => {
                self.anchors(decls)?;
                let body = self.formula(body)?;
                self.found.conjuncts.push(body);
                Ok(())
            }
            ExprKind::Binary(BinaryOp::Implies, condition, body) => {
                let condition = self.formula(condition)?;
                self.found.conjuncts.push(condition);
                self.violation(body)
            }
            ExprKind::Let { var, value, body } => {
                let value = self.lowering.value(value)?;
                self.lowering.bind(*var, value);
                self.violation(body)
            }
            ExprKind::List(ListOp::And, parts) if parts.len() == 1 => {
                parts.iter().try_for_each(|part| self.violation(part))
            }
            // An assertion that is nothing but a predicate says what the predicate says.
            ExprKind::Call { func, args } if self.is_at_start() => {
                let model = self.lowering.model();
                let body = &model.func(*func).body;
                let frame = self.lowering.enter(*func, args)?;
                // Messages know the variables by the names that are written.
                let prefix = self.lowering.set_prefix(String::new());
                self.inside = true;
                let result = self.violation(body);
                self.lowering.set_prefix(prefix);
                self.lowering.leave(frame);
                result
            }
            _ => {
                let formula = self.formula(expr)?;
                let negated = self.lowering.vocabulary.program.terms.not(formula);
                self.found.conjuncts.push(negated);
                Ok(())
            }
        }
    }

    /// Whether nothing was found yet, and no predicate is being read.
    fn is_at_start(&self) -> bool {
        self.found.decls.is_empty() && self.found.conjuncts.is_empty() && !self.inside
    }

    fn anchors(&mut self, decls: &[Decl]) -> Result<(), Refusal> {
        for decl in decls {
            let declared = self.lowering.declare(std::slice::from_ref(decl))?;
            let normal = &mut self.lowering.vocabulary;
            let unfit = |unfit| refuse(&decl.bound, unfit);
            let vars = normal.decls(&declared.decls).map_err(unfit)?;
            for guard in declared.guards {
                let guard = normal.formula(guard).map_err(unfit)?;
                self.found.conjuncts.push(guard);
            }
            let group: Vec<VarId> = vars.iter().map(|&(var, _)| var).collect();
            self.found.anchors.extend(&group);
            self.found.decls.extend(vars);
            if decl.disjoint && group.len() > 1 {
                self.found.disjoint.push(group);
            }
        }
        Ok(())
    }

    fn formula(&mut self, expr: &Expr) -> Result<FormulaId, Refusal> {
        let formula = self.lowering.formula(expr)?;
        let normal = self.lowering.vocabulary.formula(formula);
        normal.map_err(|unfit| refuse(expr, unfit))
    }
}
