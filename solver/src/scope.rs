//! Which variables occur free in a term, and whether arithmetic that may overflow does.

use std::rc::Rc;

use crate::problem::{Decl, Expr, ExprNode, Formula, FormulaNode, Int, IntNode, Terms, Var};

/// What is known of a term without knowing any value.
#[derive(Clone, Debug)]
pub(crate) struct Info {
    /// Free variables, ascending.
    pub(crate) free: Rc<[Var]>,
    /// Whether it contains an integer operation.
    pub(crate) arithmetic: bool,
    /// Number of nodes, counted as a tree and saturating: a measure of the work.
    pub(crate) size: u32,
}

/// Remembers [`Info`] of the terms asked for.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    exprs: Vec<Option<Info>>,
    formulas: Vec<Option<Info>>,
    ints: Vec<Option<Info>>,
    /// The free variables of a closed term, shared.
    none: Option<Rc<[Var]>>,
    uses: Uses,
}

/// How often terms are operands of others, up to two.
#[derive(Debug, Default)]
struct Uses {
    exprs: Vec<u8>,
    formulas: Vec<u8>,
    ints: Vec<u8>,
}

/// Counts a use; returns whether it is the first.
fn first_use(uses: &mut Vec<u8>, index: usize) -> bool {
    if uses.len() <= index {
        uses.resize(index + 1, 0);
    }
    let Some(count) = uses.get_mut(index) else {
        return false;
    };
    *count = (*count + 1).min(2);
    *count == 1
}

impl Uses {
    fn expr(&mut self, terms: &Terms, expr: Expr) {
        if !first_use(&mut self.exprs, expr.index()) {
            return;
        }
        match terms.expr(expr) {
            ExprNode::Relation(_)
            | ExprNode::Var(_)
            | ExprNode::Tuple(_)
            | ExprNode::None(_)
            | ExprNode::Univ
            | ExprNode::Iden
            | ExprNode::Ints => {}
            ExprNode::Union(parts) | ExprNode::Intersection(parts) => {
                for &part in parts {
                    self.expr(terms, part);
                }
            }
            ExprNode::Difference(a, b)
            | ExprNode::Override(a, b)
            | ExprNode::Join(a, b)
            | ExprNode::Product(a, b) => {
                self.expr(terms, *a);
                self.expr(terms, *b);
            }
            ExprNode::Transpose(a) | ExprNode::Closure(a) | ExprNode::ReflexiveClosure(a) => {
                self.expr(terms, *a);
            }
            ExprNode::Ite(c, a, b) => {
                self.formula(terms, *c);
                self.expr(terms, *a);
                self.expr(terms, *b);
            }
            ExprNode::Comprehension(decls, body) => {
                self.decls(terms, decls);
                self.formula(terms, *body);
            }
            ExprNode::IntAtom(int) => self.int(terms, *int),
        }
    }

    fn decls(&mut self, terms: &Terms, decls: &[Decl]) {
        for decl in decls {
            self.expr(terms, decl.bound);
        }
    }

    fn formula(&mut self, terms: &Terms, formula: Formula) {
        if !first_use(&mut self.formulas, formula.index()) {
            return;
        }
        match terms.formula(formula) {
            FormulaNode::True | FormulaNode::False => {}
            FormulaNode::Not(a) => self.formula(terms, *a),
            FormulaNode::And(parts) | FormulaNode::Or(parts) => {
                for &part in parts {
                    self.formula(terms, part);
                }
            }
            FormulaNode::Implies(a, b) | FormulaNode::Iff(a, b) => {
                self.formula(terms, *a);
                self.formula(terms, *b);
            }
            FormulaNode::Subset(a, b) | FormulaNode::Equal(a, b) => {
                self.expr(terms, *a);
                self.expr(terms, *b);
            }
            FormulaNode::Count(a, _) => self.expr(terms, *a),
            FormulaNode::Quant(_, decls, body) => {
                self.decls(terms, decls);
                self.formula(terms, *body);
            }
            FormulaNode::IntCmp(_, a, b) => {
                self.int(terms, *a);
                self.int(terms, *b);
            }
            FormulaNode::TotalOrder { elem, first, next } => {
                for &part in [elem, first, next] {
                    self.expr(terms, part);
                }
            }
        }
    }

    fn int(&mut self, terms: &Terms, int: Int) {
        if !first_use(&mut self.ints, int.index()) {
            return;
        }
        match terms.int(int) {
            IntNode::Const(_) => {}
            IntNode::Card(a) | IntNode::SumOf(a) => self.expr(terms, *a),
            IntNode::Sum(decls, body) => {
                self.decls(terms, decls);
                self.int(terms, *body);
            }
            IntNode::Neg(a) => self.int(terms, *a),
            IntNode::Op(_, a, b) => {
                self.int(terms, *a);
                self.int(terms, *b);
            }
            IntNode::Ite(c, a, b) => {
                self.formula(terms, *c);
                self.int(terms, *a);
                self.int(terms, *b);
            }
        }
    }
}

/// What is a term of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Expr,
    Formula,
    Int,
}

/// Collects the infos of the children of a term.
struct Builder {
    free: Vec<Var>,
    arithmetic: bool,
    size: u32,
}

impl Builder {
    fn new(arithmetic: bool) -> Self {
        Builder {
            free: Vec::new(),
            arithmetic,
            size: 1,
        }
    }

    fn add(&mut self, info: &Info) {
        self.free.extend_from_slice(&info.free);
        self.arithmetic |= info.arithmetic;
        self.size = self.size.saturating_add(info.size);
    }
}

fn slot<T>(table: &mut Vec<Option<T>>, index: usize) -> &mut Option<T> {
    if table.len() <= index {
        table.resize_with(index + 1, || None);
    }
    #[expect(clippy::indexing_slicing, reason = "just made long enough")]
    &mut table[index]
}

impl Scope {
    fn finish(&mut self, mut builder: Builder) -> Info {
        builder.free.sort_unstable();
        builder.free.dedup();
        let free = if builder.free.is_empty() {
            self.none.get_or_insert_with(|| Rc::from([])).clone()
        } else {
            Rc::from(builder.free)
        };
        Info {
            free,
            arithmetic: builder.arithmetic,
            size: builder.size,
        }
    }

    /// Counts the uses of the terms of a formula that will be translated.
    pub(crate) fn count_uses(&mut self, terms: &Terms, formula: Formula) {
        self.uses.formula(terms, formula);
    }

    /// Whether a term is an operand of more than one other.
    pub(crate) fn is_shared(&self, kind: Kind, index: usize) -> bool {
        let uses = match kind {
            Kind::Expr => &self.uses.exprs,
            Kind::Formula => &self.uses.formulas,
            Kind::Int => &self.uses.ints,
        };
        uses.get(index).is_some_and(|&count| count > 1)
    }

    /// What is known of an expression.
    pub(crate) fn expr(&mut self, terms: &Terms, expr: Expr) -> Info {
        if let Some(Some(info)) = self.exprs.get(expr.index()) {
            return info.clone();
        }
        let mut builder = Builder::new(false);
        match terms.expr(expr) {
            ExprNode::Relation(_)
            | ExprNode::Tuple(_)
            | ExprNode::None(_)
            | ExprNode::Univ
            | ExprNode::Iden
            | ExprNode::Ints => {}
            ExprNode::Var(var) => builder.free.push(*var),
            ExprNode::Union(parts) | ExprNode::Intersection(parts) => {
                for &part in parts {
                    builder.add(&self.expr(terms, part));
                }
            }
            ExprNode::Difference(a, b)
            | ExprNode::Override(a, b)
            | ExprNode::Join(a, b)
            | ExprNode::Product(a, b) => {
                builder.add(&self.expr(terms, *a));
                builder.add(&self.expr(terms, *b));
            }
            ExprNode::Transpose(a) | ExprNode::Closure(a) | ExprNode::ReflexiveClosure(a) => {
                builder.add(&self.expr(terms, *a));
            }
            ExprNode::Ite(c, a, b) => {
                builder.add(&self.formula(terms, *c));
                builder.add(&self.expr(terms, *a));
                builder.add(&self.expr(terms, *b));
            }
            ExprNode::Comprehension(decls, body) => {
                builder.add(&self.formula(terms, *body));
                self.bind(terms, decls, &mut builder);
            }
            ExprNode::IntAtom(int) => {
                builder.arithmetic = true;
                builder.add(&self.int(terms, *int));
            }
        }
        let info = self.finish(builder);
        *slot(&mut self.exprs, expr.index()) = Some(info.clone());
        info
    }

    /// What is known of a formula.
    pub(crate) fn formula(&mut self, terms: &Terms, formula: Formula) -> Info {
        if let Some(Some(info)) = self.formulas.get(formula.index()) {
            return info.clone();
        }
        let mut builder = Builder::new(false);
        match terms.formula(formula) {
            FormulaNode::True | FormulaNode::False => {}
            FormulaNode::Not(a) => builder.add(&self.formula(terms, *a)),
            FormulaNode::And(parts) | FormulaNode::Or(parts) => {
                for &part in parts {
                    builder.add(&self.formula(terms, part));
                }
            }
            FormulaNode::Implies(a, b) | FormulaNode::Iff(a, b) => {
                builder.add(&self.formula(terms, *a));
                builder.add(&self.formula(terms, *b));
            }
            FormulaNode::Subset(a, b) | FormulaNode::Equal(a, b) => {
                builder.add(&self.expr(terms, *a));
                builder.add(&self.expr(terms, *b));
            }
            FormulaNode::Count(a, _) => builder.add(&self.expr(terms, *a)),
            FormulaNode::Quant(_, decls, body) => {
                builder.add(&self.formula(terms, *body));
                self.bind(terms, decls, &mut builder);
            }
            FormulaNode::IntCmp(_, a, b) => {
                builder.arithmetic = true;
                builder.add(&self.int(terms, *a));
                builder.add(&self.int(terms, *b));
            }
            FormulaNode::TotalOrder { elem, first, next } => {
                for &part in [elem, first, next] {
                    builder.add(&self.expr(terms, part));
                }
            }
        }
        let info = self.finish(builder);
        *slot(&mut self.formulas, formula.index()) = Some(info.clone());
        info
    }

    /// What is known of an integer.
    pub(crate) fn int(&mut self, terms: &Terms, int: Int) -> Info {
        if let Some(Some(info)) = self.ints.get(int.index()) {
            return info.clone();
        }
        let mut builder = Builder::new(true);
        match terms.int(int) {
            IntNode::Const(_) => {}
            IntNode::Card(a) | IntNode::SumOf(a) => builder.add(&self.expr(terms, *a)),
            IntNode::Sum(decls, body) => {
                builder.add(&self.int(terms, *body));
                self.bind(terms, decls, &mut builder);
            }
            IntNode::Neg(a) => builder.add(&self.int(terms, *a)),
            IntNode::Op(_, a, b) => {
                builder.add(&self.int(terms, *a));
                builder.add(&self.int(terms, *b));
            }
            IntNode::Ite(c, a, b) => {
                builder.add(&self.formula(terms, *c));
                builder.add(&self.int(terms, *a));
                builder.add(&self.int(terms, *b));
            }
        }
        let info = self.finish(builder);
        *slot(&mut self.ints, int.index()) = Some(info.clone());
        info
    }

    /// Adds declarations around what `builder` holds: a bound may mention variables declared before.
    fn bind(&mut self, terms: &Terms, decls: &[Decl], builder: &mut Builder) {
        for decl in decls.iter().rev() {
            builder.free.retain(|var| *var != decl.var);
            builder.add(&self.expr(terms, decl.bound));
        }
    }
}
