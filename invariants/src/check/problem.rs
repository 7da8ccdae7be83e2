//! A rule about one violation as a relational problem for the solver.
//!
//! What the configuration fixes has exact bounds; a value that is not known is a choice among the values it
//! may take, which are the only variables.

use std::collections::{BTreeMap, BTreeSet};

use locus_core::value::Value;
use locus_solver::problem::{
    Decl, Expr, Formula, Int, Mult, Problem, Quant, TupleSet, Universe, Var,
};

use crate::engine::{Atom, Builtin, Database, Kind, Tri};
use crate::logic::{
    ExprId, ExprNode, FormulaId, FormulaNode, IntId, IntNode, QueryId, RelationId, Terms, VarId,
};

/// Beyond these sizes a problem is not made: the answer stays unknown.
const MOST_ATOMS: usize = 3000;
const MOST_PAIRS: usize = 60_000;

/// The relation that gives each input its value.
pub(super) const CHOICE: &str = "choice";

/// Why there is no problem to solve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsolved {
    /// Something may be anything: that exists already, or has values that nobody can list.
    Unlimited,
    /// It has too many values, or needs what the solver cannot be asked.
    TooHard,
}

/// A problem, and what its variables mean.
pub(crate) struct Translation {
    pub(crate) problem: Problem,
    /// The formula that something breaks the rule.
    pub(crate) broken: Formula,
}

struct Translator<'a> {
    terms: &'a Terms,
    database: &'a Database,
    binding: &'a [(VarId, Atom)],
    problem: Problem,
    relations: BTreeMap<RelationId, Expr>,
    vars: BTreeMap<VarId, Var>,
    choose: Option<Expr>,
    /// The values that builtin relations are computed for.
    values: Vec<Atom>,
    /// What has a place in the text.
    written: Vec<Atom>,
    /// For each symbol without listed values, the atom of a value like no other.
    other: BTreeMap<Atom, Atom>,
    /// Atoms of listed values that nothing else in the configuration has.
    listed: Vec<(Atom, Value)>,
}

/// What breaks a rule for one binding of its variables, as a problem without constraints but those on choices.
pub(crate) fn translate(
    terms: &Terms,
    database: &Database,
    query: QueryId,
    binding: &[(VarId, Atom)],
) -> Result<Translation, Unsolved> {
    let mut mentioned = Mentioned::default();
    collect(terms, query, &mut mentioned);
    let Mentioned {
        relations,
        constants,
    } = mentioned;
    let mut symbols: BTreeSet<Atom> = BTreeSet::new();
    let mut values: BTreeSet<Atom> = constants;
    let mut written: BTreeSet<Atom> = BTreeSet::new();
    for &relation in &relations {
        let table = database.table(relation);
        if table.is_open() {
            return Err(Unsolved::Unlimited);
        }
        for at in 0..table.len() {
            let row = table.row(at);
            for (column, &atom) in row.iter().enumerate() {
                if database.is_symbol(atom) {
                    // Only what a field leads to is chosen; an owner is always there.
                    if column + 1 != row.len() {
                        return Err(Unsolved::TooHard);
                    }
                    symbols.insert(atom);
                } else if database.is_existing(atom) {
                    return Err(Unsolved::Unlimited);
                } else if database.atom(atom).value.is_some() {
                    values.insert(atom);
                }
                if database.atom(atom).span.is_some() {
                    written.insert(atom);
                }
            }
        }
    }
    // What the inputs may be.
    let listed: Vec<Value> = symbols
        .iter()
        .flat_map(|&symbol| database.values(symbol).unwrap_or_default())
        .collect();
    values.extend(database.atoms().filter(|&atom| {
        let info = database.atom(atom);
        let value = info.value.as_ref().filter(|_| info.kind == Kind::Value);
        value.is_some_and(|value| listed.iter().any(|other| other.same(value)))
    }));
    let count = database.atoms().count();
    if count + symbols.len() > MOST_ATOMS {
        return Err(Unsolved::TooHard);
    }
    let mut names: Vec<String> = database
        .atoms()
        .map(|atom| format!("a{}", atom.0))
        .collect();
    let mut other = BTreeMap::new();
    for &symbol in &symbols {
        if database.values(symbol).is_none() {
            let atom = Atom(u32::try_from(names.len()).map_err(|_| Unsolved::TooHard)?);
            other.insert(symbol, atom);
            names.push(format!("other{}", symbol.0));
        }
    }
    let mut only_listed: Vec<(Atom, Value)> = Vec::new();
    for value in listed {
        let is_atom = |&atom: &Atom| {
            let info = database.atom(atom);
            info.kind == Kind::Value && info.value.as_ref().is_some_and(|v| v.same(&value))
        };
        let known =
            values.iter().any(is_atom) || only_listed.iter().any(|(_, other)| other.same(&value));
        if !known {
            let atom = Atom(u32::try_from(names.len()).map_err(|_| Unsolved::TooHard)?);
            names.push(format!("listed{}", only_listed.len()));
            only_listed.push((atom, value));
        }
    }
    if names.len() > MOST_ATOMS {
        return Err(Unsolved::TooHard);
    }
    let mut translator = Translator {
        terms,
        database,
        binding,
        problem: Problem::new(Universe::new(names)),
        relations: BTreeMap::new(),
        vars: BTreeMap::new(),
        choose: None,
        values: values.into_iter().collect(),
        written: written.into_iter().collect(),
        other,
        listed: only_listed,
    };
    // Wide enough for any count.
    translator.problem.bitwidth = 20;
    translator.choices(&symbols)?;
    for relation in relations {
        translator.relation(relation)?;
    }
    let broken = translator.query(query)?;
    Ok(Translation {
        problem: translator.problem,
        broken,
    })
}

impl Translator<'_> {
    fn empty(&self, arity: usize) -> Result<TupleSet, Unsolved> {
        TupleSet::empty(arity, &self.problem.universe).map_err(|_| Unsolved::TooHard)
    }

    /// One value for each symbol.
    fn choices(&mut self, symbols: &BTreeSet<Atom>) -> Result<(), Unsolved> {
        if symbols.is_empty() {
            return Ok(());
        }
        let lower = self.empty(2)?;
        let mut upper = self.empty(2)?;
        for &symbol in symbols {
            let listed = self.database.values(symbol);
            for &value in &self.values {
                let may = match &listed {
                    Some(listed) => {
                        let value = &self.database.atom(value).value;
                        let same = |other: &Value| value.as_ref().is_some_and(|v| v.same(other));
                        listed.iter().any(same)
                    }
                    None => self.database.equal(symbol, value) != Tri::False,
                };
                if may && self.database.atom(value).kind == Kind::Value {
                    upper.insert(&[symbol, value]);
                }
            }
            for (atom, value) in &self.listed {
                let mut listed = listed.iter().flatten();
                if listed.any(|other| other.same(value)) {
                    upper.insert(&[symbol, *atom]);
                }
            }
            if let Some(&other) = self.other.get(&symbol) {
                upper.insert(&[symbol, other]);
            }
        }
        let relation = self.problem.add_relation(CHOICE, lower, upper);
        let choose = self.problem.relation_expr(relation);
        for &symbol in symbols {
            let terms = &mut self.problem.terms;
            let owner = terms.tuple(vec![symbol]);
            let chosen = terms.join(owner, choose);
            let one = terms.one(chosen);
            self.problem.require(one, "one value for each input", None);
        }
        self.choose = Some(choose);
        Ok(())
    }

    fn relation(&mut self, id: RelationId) -> Result<(), Unsolved> {
        let table = self.database.table(id);
        if let Some(builtin) = table.builtin() {
            return self.builtin(id, builtin, table.arity());
        }
        let arity = table.arity();
        let (mut lower, mut upper) = (self.empty(arity)?, self.empty(arity)?);
        let mut chosen = self.empty(arity)?;
        let mut sure_chosen = self.empty(arity)?;
        for at in 0..table.len() {
            let row = table.row(at).to_vec();
            let symbolic = table
                .row(at)
                .last()
                .is_some_and(|&a| self.database.is_symbol(a));
            let sure = table.certain(at) == Tri::True;
            match (symbolic, sure) {
                (false, true) => {
                    lower.insert(&row);
                    upper.insert(&row);
                }
                (false, false) => upper.insert(&row),
                (true, true) => {
                    sure_chosen.insert(&row);
                    chosen.insert(&row);
                }
                (true, false) => chosen.insert(&row),
            }
        }
        let name = format!("r{}", id.0);
        let known = self.problem.add_relation(name.clone(), lower, upper);
        let mut expr = self.problem.relation_expr(known);
        if let (false, Some(choose)) = (chosen.is_empty(), self.choose) {
            let symbolic = self.problem.add_relation(name + "?", sure_chosen, chosen);
            let symbolic = self.problem.relation_expr(symbolic);
            let values = self.problem.terms.join(symbolic, choose);
            expr = self.problem.terms.union(expr, values);
        }
        self.relations.insert(id, expr);
        Ok(())
    }

    /// A built-in relation over the values at hand; of a value like no other nothing is known.
    fn builtin(&mut self, id: RelationId, builtin: Builtin, arity: usize) -> Result<(), Unsolved> {
        if builtin == Builtin::WrittenBefore {
            return self.written_before(id);
        }
        let width = self.values.len() + self.other.len() + self.listed.len();
        let columns = u32::try_from(arity).unwrap_or(u32::MAX);
        let pairs = width.checked_pow(columns).ok_or(Unsolved::TooHard)?;
        if pairs > MOST_PAIRS {
            return Err(Unsolved::TooHard);
        }
        let candidates: Vec<(Atom, Option<&Value>)> = self
            .values
            .iter()
            .map(|&value| (value, self.database.atom(value).value.as_ref()))
            .chain(self.other.values().map(|&other| (other, None)))
            .chain(self.listed.iter().map(|(atom, value)| (*atom, Some(value))))
            .collect();
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        let base = self.problem.universe.len() as u64;
        for mut number in 0..pairs {
            let mut index = 0u64;
            let mut tuple = Vec::with_capacity(arity);
            for _ in 0..arity {
                if let Some(&(atom, value)) = candidates.get(number % width) {
                    index = index * base + u64::from(atom.0);
                    tuple.push(value);
                }
                number /= width;
            }
            let known: Option<Vec<&Value>> = tuple.into_iter().collect();
            match known.map(|known| builtin.holds(&known)) {
                Some(Some(true)) => {
                    lower.push(index);
                    upper.push(index);
                }
                Some(Some(false)) => {}
                Some(None) | None => upper.push(index),
            }
        }
        let lower = TupleSet::from_unsorted(arity, base, lower);
        let upper = TupleSet::from_unsorted(arity, base, upper);
        let relation = self
            .problem
            .add_relation(format!("r{}", id.0), lower, upper);
        let expr = self.problem.relation_expr(relation);
        self.relations.insert(id, expr);
        Ok(())
    }

    /// The order of the text, which no input changes.
    fn written_before(&mut self, id: RelationId) -> Result<(), Unsolved> {
        if self.written.len().pow(2) > MOST_PAIRS {
            return Err(Unsolved::TooHard);
        }
        let mut pairs = self.empty(2)?;
        for &a in &self.written {
            for &b in &self.written {
                if self.database.written_before(a, b) {
                    pairs.insert(&[a, b]);
                }
            }
        }
        let relation = self
            .problem
            .add_relation(format!("r{}", id.0), pairs.clone(), pairs);
        let expr = self.problem.relation_expr(relation);
        self.relations.insert(id, expr);
        Ok(())
    }

    /// The value of a variable: that of the binding, or the variable itself.
    fn var(&mut self, var: VarId) -> Result<Expr, Unsolved> {
        if let Some(&own) = self.vars.get(&var) {
            return Ok(self.problem.terms.var(own));
        }
        let bound = self.binding.iter().find(|(other, _)| *other == var);
        let &(_, value) = bound.ok_or(Unsolved::TooHard)?;
        let tuple = self.problem.terms.tuple(vec![value]);
        match (self.database.is_symbol(value), self.choose) {
            (true, Some(choose)) => Ok(self.problem.terms.join(tuple, choose)),
            (true, None) => Err(Unsolved::TooHard),
            (false, _) => Ok(tuple),
        }
    }

    fn expr(&mut self, id: ExprId) -> Result<Expr, Unsolved> {
        let node = self.terms.expr(id).clone();
        Ok(match node {
            ExprNode::Relation(relation) => {
                *self.relations.get(&relation).ok_or(Unsolved::TooHard)?
            }
            ExprNode::Var(var) => self.var(var)?,
            ExprNode::Tuple(tuple) => self.problem.terms.tuple(tuple),
            ExprNode::None(arity) => self.problem.terms.none(arity),
            ExprNode::Univ => self.problem.terms.univ(),
            ExprNode::Iden => self.problem.terms.iden(),
            ExprNode::Union(parts) => {
                let parts = self.exprs(&parts)?;
                self.problem.terms.union_all(self.terms.arity(id), parts)
            }
            ExprNode::Intersection(parts) => {
                let mut parts = self.exprs(&parts)?.into_iter();
                let first = parts.next().ok_or(Unsolved::TooHard)?;
                parts.fold(first, |all, part| {
                    self.problem.terms.intersection(all, part)
                })
            }
            ExprNode::Difference(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.problem.terms.difference(a, b)
            }
            ExprNode::Override(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.problem.terms.override_with(a, b)
            }
            ExprNode::Join(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.problem.terms.join(a, b)
            }
            ExprNode::Product(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.problem.terms.product(a, b)
            }
            ExprNode::Transpose(a) => {
                let a = self.expr(a)?;
                self.problem.terms.transpose(a)
            }
            ExprNode::Closure(a) => {
                let a = self.expr(a)?;
                self.problem.terms.closure(a)
            }
            ExprNode::Ite(c, a, b) => {
                let (c, a, b) = (self.formula(c)?, self.expr(a)?, self.expr(b)?);
                self.problem.terms.ite(c, a, b)
            }
            ExprNode::Comprehension(..) => {
                let query = self.terms.expr_query(id).ok_or(Unsolved::TooHard)?;
                let own = self.terms.query(query).own;
                let (decls, body) = self.parts(query, own)?;
                self.problem.terms.comprehension(decls, body)
            }
            ExprNode::IntAtom(_) | ExprNode::Ints | ExprNode::ReflexiveClosure(_) => {
                return Err(Unsolved::TooHard);
            }
        })
    }

    fn exprs(&mut self, parts: &[ExprId]) -> Result<Vec<Expr>, Unsolved> {
        parts.iter().map(|&part| self.expr(part)).collect()
    }

    fn formulas(&mut self, parts: &[FormulaId]) -> Result<Vec<Formula>, Unsolved> {
        parts.iter().map(|&part| self.formula(part)).collect()
    }

    fn formula(&mut self, id: FormulaId) -> Result<Formula, Unsolved> {
        let node = self.terms.formula(id).clone();
        Ok(match node {
            FormulaNode::True => self.problem.terms.truth(),
            FormulaNode::False => self.problem.terms.falsity(),
            FormulaNode::Not(inner) => {
                let inner = self.formula(inner)?;
                self.problem.terms.not(inner)
            }
            FormulaNode::And(parts) => {
                let parts = self.formulas(&parts)?;
                self.problem.terms.and(parts)
            }
            FormulaNode::Or(parts) => {
                let parts = self.formulas(&parts)?;
                self.problem.terms.or(parts)
            }
            FormulaNode::Subset(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.problem.terms.subset(a, b)
            }
            FormulaNode::Equal(a, b) => {
                let (a, b) = (self.expr(a)?, self.expr(b)?);
                self.problem.terms.equal(a, b)
            }
            FormulaNode::Count(expr, count) => {
                let expr = self.expr(expr)?;
                self.problem.terms.count(expr, count)
            }
            FormulaNode::Quant(..) => {
                let query = self.terms.formula_query(id).ok_or(Unsolved::TooHard)?;
                let (decls, body) = self.parts(query, usize::MAX)?;
                self.problem.terms.quant(Quant::Some, decls, body)
            }
            FormulaNode::Implies(..) | FormulaNode::Iff(..) | FormulaNode::TotalOrder { .. } => {
                return Err(Unsolved::TooHard);
            }
            FormulaNode::IntCmp(cmp, a, b) => {
                let (a, b) = (self.int(a)?, self.int(b)?);
                self.problem.terms.int_cmp(cmp, a, b)
            }
        })
    }

    /// The declarations of a query up to a number of them, and the rest of it as a formula.
    fn parts(&mut self, query: QueryId, own: usize) -> Result<(Vec<Decl>, Formula), Unsolved> {
        let node = self.terms.query(query).clone();
        let mut decls = Vec::new();
        for &(var, bound) in &node.decls {
            let bound = self.expr(bound)?;
            let fresh = self.problem.terms.fresh_var(self.terms.var_name(var), 1);
            self.vars.insert(var, fresh);
            decls.push(Decl {
                var: fresh,
                mult: Mult::One,
                bound,
            });
        }
        let body = self.formulas(&node.body)?;
        let mut body = self.problem.terms.and(body);
        if own < decls.len() {
            let inner = decls.split_off(own);
            body = self.problem.terms.quant(Quant::Some, inner, body);
        }
        Ok((decls, body))
    }

    /// The outermost query: bound variables are given, with their bounds; the others are quantified.
    fn query(&mut self, query: QueryId) -> Result<Formula, Unsolved> {
        let node = self.terms.query(query).clone();
        let mut conjuncts = Vec::new();
        let mut decls = Vec::new();
        for &(var, bound) in &node.decls {
            let range = self.expr(bound)?;
            if self.binding.iter().any(|(other, _)| *other == var) {
                let value = self.var(var)?;
                let inside = self.problem.terms.subset(value, range);
                conjuncts.push(inside);
            } else {
                let fresh = self.problem.terms.fresh_var(self.terms.var_name(var), 1);
                self.vars.insert(var, fresh);
                decls.push(Decl {
                    var: fresh,
                    mult: Mult::One,
                    bound: range,
                });
            }
        }
        let body = self.formulas(&node.body)?;
        conjuncts.extend(body);
        let all = self.problem.terms.and(conjuncts);
        Ok(self.problem.terms.quant(Quant::Some, decls, all))
    }

    fn int(&mut self, id: IntId) -> Result<Int, Unsolved> {
        let node = self.terms.int(id).clone();
        Ok(match node {
            IntNode::Const(n) => self.problem.terms.int_const(n),
            IntNode::Card(expr) => {
                let expr = self.expr(expr)?;
                self.problem.terms.card(expr)
            }
            // Numbers of a configuration are of any size; those of the solver are not.
            IntNode::SumOf(_) | IntNode::Sum(..) => return Err(Unsolved::TooHard),
            IntNode::Neg(a) => {
                let a = self.int(a)?;
                self.problem.terms.neg(a)
            }
            IntNode::Op(op, a, b) => {
                let (a, b) = (self.int(a)?, self.int(b)?);
                self.problem.terms.int_op(op, a, b)
            }
            IntNode::Ite(c, a, b) => {
                let (c, a, b) = (self.formula(c)?, self.int(a)?, self.int(b)?);
                self.problem.terms.int_ite(c, a, b)
            }
        })
    }
}

/// What a query mentions.
#[derive(Default)]
struct Mentioned {
    relations: BTreeSet<RelationId>,
    constants: BTreeSet<Atom>,
}

fn collect(terms: &Terms, query: QueryId, out: &mut Mentioned) {
    let node = terms.query(query);
    for &(_, bound) in &node.decls {
        collect_expr(terms, bound, out);
    }
    for &formula in &node.body {
        collect_formula(terms, formula, out);
    }
}

fn collect_expr(terms: &Terms, id: ExprId, out: &mut Mentioned) {
    match terms.expr(id) {
        ExprNode::Relation(relation) => {
            out.relations.insert(*relation);
        }
        ExprNode::Union(parts) | ExprNode::Intersection(parts) => {
            parts
                .iter()
                .for_each(|&part| collect_expr(terms, part, out));
        }
        ExprNode::Difference(a, b)
        | ExprNode::Override(a, b)
        | ExprNode::Join(a, b)
        | ExprNode::Product(a, b) => {
            collect_expr(terms, *a, out);
            collect_expr(terms, *b, out);
        }
        ExprNode::Transpose(a) | ExprNode::Closure(a) | ExprNode::ReflexiveClosure(a) => {
            collect_expr(terms, *a, out);
        }
        ExprNode::Ite(c, a, b) => {
            collect_formula(terms, *c, out);
            collect_expr(terms, *a, out);
            collect_expr(terms, *b, out);
        }
        ExprNode::Comprehension(..) => {
            if let Some(query) = terms.expr_query(id) {
                collect(terms, query, out);
            }
        }
        ExprNode::IntAtom(int) => collect_int(terms, *int, out),
        ExprNode::Tuple(tuple) => out.constants.extend(tuple),
        ExprNode::Var(_) | ExprNode::None(_) | ExprNode::Univ | ExprNode::Iden | ExprNode::Ints => {
        }
    }
}

fn collect_formula(terms: &Terms, id: FormulaId, out: &mut Mentioned) {
    match terms.formula(id) {
        FormulaNode::True | FormulaNode::False => {}
        FormulaNode::Not(inner) => collect_formula(terms, *inner, out),
        FormulaNode::And(parts) | FormulaNode::Or(parts) => {
            parts
                .iter()
                .for_each(|&part| collect_formula(terms, part, out));
        }
        FormulaNode::Implies(a, b) | FormulaNode::Iff(a, b) => {
            collect_formula(terms, *a, out);
            collect_formula(terms, *b, out);
        }
        FormulaNode::TotalOrder { elem, first, next } => {
            [*elem, *first, *next]
                .into_iter()
                .for_each(|part| collect_expr(terms, part, out));
        }
        FormulaNode::Subset(a, b) | FormulaNode::Equal(a, b) => {
            collect_expr(terms, *a, out);
            collect_expr(terms, *b, out);
        }
        FormulaNode::Count(expr, _) => collect_expr(terms, *expr, out),
        FormulaNode::Quant(..) => {
            if let Some(query) = terms.formula_query(id) {
                collect(terms, query, out);
            }
        }
        FormulaNode::IntCmp(_, a, b) => {
            collect_int(terms, *a, out);
            collect_int(terms, *b, out);
        }
    }
}

fn collect_int(terms: &Terms, id: IntId, out: &mut Mentioned) {
    match terms.int(id) {
        IntNode::Const(_) => {}
        IntNode::Card(expr) | IntNode::SumOf(expr) => collect_expr(terms, *expr, out),
        IntNode::Sum(_, body) => {
            if let Some(query) = terms.int_query(id) {
                collect(terms, query, out);
            }
            collect_int(terms, *body, out);
        }
        IntNode::Neg(a) => collect_int(terms, *a, out),
        IntNode::Op(_, a, b) => {
            collect_int(terms, *a, out);
            collect_int(terms, *b, out);
        }
        IntNode::Ite(c, a, b) => {
            collect_formula(terms, *c, out);
            collect_int(terms, *a, out);
            collect_int(terms, *b, out);
        }
    }
}
