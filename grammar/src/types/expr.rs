//! Expressions while they are being checked: names known, choices possibly open.

use std::rc::Rc;

use locus_core::{Diagnostic, Span};

use super::product::Type;
use crate::model::{BinaryOp, Const, FieldId, FuncId, ListOp, Quant, SigId, UnaryOp, VarId};

/// A shared expression: choices share their arguments.
pub(crate) type Rx = Rc<Node>;

/// What is wrong inside an expression; shared upwards.
pub(crate) type Errors = Option<Rc<Vec<Diagnostic>>>;

/// An expression being checked.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// What it could be; nothing when there are errors.
    pub(crate) ty: Type,
    pub(crate) span: Span,
    /// Whether it is a bound with a multiplicity.
    pub(crate) mult: Multiplicity,
    /// How far-fetched this reading is; of several readings, the lightest wins.
    pub(crate) weight: u32,
    pub(crate) depth: u32,
    /// Number of nodes when nothing is shared.
    pub(crate) size: u64,
    pub(crate) errors: Errors,
}

/// Whether an expression is a bound with a multiplicity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Multiplicity {
    /// It is not.
    None,
    /// `one e` and the like.
    Unary,
    /// An arrow with multiplicities.
    Arrow,
}

/// Declarations being checked.
#[derive(Clone, Debug)]
pub(crate) struct XDecl {
    pub(crate) vars: Vec<VarId>,
    pub(crate) bound: Rx,
    pub(crate) disjoint: bool,
    pub(crate) is_var: bool,
}

/// A macro, an index into the list of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MacroId(pub(crate) u32);

/// One reading of an overloaded name.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) expr: Rx,
    /// In the user's words: ``field `A <: f` ``.
    pub(crate) reason: Rc<str>,
}

/// What an expression being checked is.
#[derive(Debug)]
pub(crate) enum Kind {
    Sig(SigId),
    Field(FieldId),
    Var(VarId),
    Const(Const),
    Unary(UnaryOp, Rx),
    Binary(BinaryOp, Rx, Rx),
    List(ListOp, Vec<Rx>),
    Ite(Rx, Rx, Rx),
    Let(VarId, Rx, Rx),
    Quant(Quant, Vec<XDecl>, Rx),
    Call {
        func: FuncId,
        args: Vec<Rx>,
        extra: u32,
    },
    /// A call with too few arguments, or with arguments that do not fit.
    BadCall {
        func: FuncId,
        args: Vec<Rx>,
        extra: u32,
    },
    BadJoin,
    Choice(Vec<Reading>),
    /// A macro that waits for arguments.
    Macro(MacroId, Vec<Rx>),
    Bad,
}

impl Node {
    pub(crate) fn is_ok(&self) -> bool {
        self.errors.is_none()
    }

    /// The direct parts, in order.
    pub(crate) fn parts(&self) -> Vec<&Rx> {
        match &self.kind {
            Kind::Sig(_)
            | Kind::Field(_)
            | Kind::Var(_)
            | Kind::Const(_)
            | Kind::BadJoin
            | Kind::Bad => Vec::new(),
            Kind::Unary(_, a) => vec![a],
            Kind::Binary(_, a, b) | Kind::Let(_, a, b) => vec![a, b],
            Kind::Ite(a, b, c) => vec![a, b, c],
            Kind::List(_, all)
            | Kind::Call { args: all, .. }
            | Kind::BadCall { args: all, .. }
            | Kind::Macro(_, all) => all.iter().collect(),
            Kind::Quant(_, decls, body) => {
                decls.iter().map(|decl| &decl.bound).chain([body]).collect()
            }
            Kind::Choice(readings) => readings.iter().map(|reading| &reading.expr).collect(),
        }
    }

    /// Whether any part satisfies this, itself included.
    pub(crate) fn any(&self, test: &impl Fn(&Node) -> bool) -> bool {
        test(self) || self.parts().iter().any(|part| part.any(test))
    }

    /// Whether it mentions a variable.
    pub(crate) fn has_var(&self, var: VarId) -> bool {
        self.any(&|node| matches!(node.kind, Kind::Var(v) if v == var))
    }

    /// Whether it calls a predicate or function.
    pub(crate) fn has_call(&self) -> bool {
        self.any(&|node| matches!(node.kind, Kind::Call { .. }))
    }

    /// Whether it uses an operator of the temporal layer.
    pub(crate) fn has_temporal(&self) -> bool {
        self.any(&|node| match node.kind {
            Kind::Unary(op, _) => matches!(
                op,
                UnaryOp::Prime
                    | UnaryOp::Always
                    | UnaryOp::Eventually
                    | UnaryOp::After
                    | UnaryOp::Before
                    | UnaryOp::Historically
                    | UnaryOp::Once
            ),
            Kind::Binary(op, ..) => matches!(
                op,
                BinaryOp::Until | BinaryOp::Releases | BinaryOp::Since | BinaryOp::Triggered
            ),
            _ => false,
        })
    }

    /// The multiplicity a bound starts with; `SetOf` when there is none.
    pub(crate) fn bound_op(&self) -> UnaryOp {
        match self.kind {
            Kind::Unary(
                op @ (UnaryOp::OneOf | UnaryOp::LoneOf | UnaryOp::SomeOf | UnaryOp::ExactlyOf),
                _,
            ) => op,
            _ => UnaryOp::SetOf,
        }
    }
}

/// Whether two expressions are the same text, names known.
pub(crate) fn same(a: &Node, b: &Node) -> bool {
    let parts = || {
        let (a, b) = (a.parts(), b.parts());
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
    };
    match (&a.kind, &b.kind) {
        (Kind::Sig(a), Kind::Sig(b)) => a == b,
        (Kind::Field(a), Kind::Field(b)) => a == b,
        (Kind::Var(a), Kind::Var(b)) => a == b,
        (Kind::Const(a), Kind::Const(b)) => a == b,
        (Kind::Unary(x, _), Kind::Unary(y, _)) => x == y && parts(),
        (Kind::Binary(x, ..), Kind::Binary(y, ..)) => x == y && parts(),
        (Kind::Ite(..), Kind::Ite(..)) => parts(),
        (Kind::Call { func: x, .. }, Kind::Call { func: y, .. }) => x == y && parts(),
        _ => false,
    }
}

/// The errors of several parts together.
pub(crate) fn join_errors<'a>(all: impl IntoIterator<Item = &'a Errors>) -> Errors {
    let mut joined: Errors = None;
    for errors in all.into_iter().flatten() {
        match &mut joined {
            None => joined = Some(errors.clone()),
            Some(have) if Rc::ptr_eq(have, errors) => {}
            Some(have) => {
                let have = Rc::make_mut(have);
                for error in errors.iter() {
                    if !have.contains(error) {
                        have.push(error.clone());
                    }
                }
            }
        }
    }
    joined
}
