//! The resolved, typed model: what a parsed file means once every name is known.
//!
//! Names are gone: signatures, fields, functions and variables are ids into [`Model`]. Macros are
//! expanded, parametric modules are instantiated, overloading is resolved, and the implicit
//! conversions between a set of integers and its value are explicit ([`UnaryOp::CastToInt`],
//! [`UnaryOp::CastToSigInt`]). Calls stay calls; `let` stays `let`.

use locus_core::Span;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in its list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A signature, an index into [`Model::sigs`].
    SigId
}
id! {
    /// A field, an index into [`Model::fields`].
    FieldId
}
id! {
    /// A predicate or function, an index into [`Model::funcs`].
    FuncId
}
id! {
    /// A bound variable, an index into [`Model::vars`]; every binder has variables of its own.
    VarId
}

/// The built-in signatures, which come first in [`Model::sigs`] in this order.
pub mod builtin {
    use super::SigId;

    /// Everything.
    pub const UNIV: SigId = SigId(0);
    /// Nothing.
    pub const NONE: SigId = SigId(1);
    /// The integers of the command's bit width.
    pub const INT: SigId = SigId(2);
    /// The indices of sequences; a subset of the integers.
    pub const SEQ_INT: SigId = SigId(3);
    /// The string literals.
    pub const STRING: SigId = SigId(4);
    /// How many there are.
    pub const COUNT: usize = 5;
}

/// A whole model: the root file and everything it opens.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Signatures; the [`builtin`] ones first.
    pub sigs: Vec<Sig>,
    /// Fields of all signatures.
    pub fields: Vec<Field>,
    /// Predicates and functions.
    pub funcs: Vec<Func>,
    /// Variables of all binders.
    pub vars: Vec<Var>,
    /// Facts of all modules, without the facts that signatures and fields imply.
    pub facts: Vec<Fact>,
    /// Assertions of the root module and those its commands name.
    pub assertions: Vec<Assertion>,
    /// The commands of the root module, in file order. Without any, Alloy's `run {} for 4 but ...`
    /// default is added by the reader.
    pub commands: Vec<Command>,
}

/// A signature.
#[derive(Clone, Debug)]
pub struct Sig {
    /// Name as Alloy labels it: `this/A` in the root module, `path/A` elsewhere, `Int` when built in.
    pub label: String,
    /// The name where it is declared.
    pub span: Span,
    /// Where it stands in the hierarchy.
    pub kind: SigKind,
    /// `abstract`: no atoms beyond those of its children (meaningless without children).
    pub is_abstract: bool,
    /// `one`, `lone` or `some`, else [`Mult::Set`].
    pub mult: Mult,
    /// `var sig`: its value changes over time.
    pub is_var: bool,
    /// `private`.
    pub is_private: bool,
    /// Declared with `enum`: its children are the values, in order.
    pub is_enum: bool,
    /// Direct children (signatures that extend it), in declaration order.
    pub children: Vec<SigId>,
    /// Its own fields, in declaration order.
    pub fields: Vec<FieldId>,
    /// The variable `this` in its field bounds and appended facts.
    pub this: VarId,
    /// Conjuncts of the fact appended to it, about `this`; hold for every atom of it.
    pub facts: Vec<Expr>,
    /// The text of the doc comment before it.
    pub doc: Option<String>,
}

/// Where a signature stands in the hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SigKind {
    /// One of [`builtin`].
    Builtin,
    /// `extends`, or top level, whose parent is `univ`.
    Prim {
        /// The signature it extends.
        parent: SigId,
    },
    /// `in A + B`.
    Subset {
        /// The signatures whose union it is a subset of.
        parents: Vec<SigId>,
        /// `= A + B`: equal to the union.
        exact: bool,
    },
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name as written.
    pub name: String,
    /// The name where it is declared.
    pub span: Span,
    /// The signature it belongs to.
    pub sig: SigId,
    /// What follows the colon, over `this`, with its multiplicity as [`UnaryOp::OneOf`] and so on.
    pub bound: Expr,
    /// `f = e`: defined, not declared.
    pub is_defined: bool,
    /// `var`.
    pub is_var: bool,
    /// `private`.
    pub is_private: bool,
    /// Type of the field including its first column, the signature.
    pub ty: Type,
    /// Fields declared together as `disj f, g: e`, this one included; empty otherwise.
    pub disjoint_with: Vec<FieldId>,
    /// `f: disj e`: the values for distinct atoms of the signature share nothing.
    pub disjoint_values: bool,
}

/// A bound variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// Name as written.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// Its type.
    pub ty: Type,
}

/// A predicate or a function.
#[derive(Clone, Debug)]
pub struct Func {
    /// Name as Alloy labels it.
    pub label: String,
    /// The name where it is declared.
    pub span: Span,
    /// Parameters; a receiver is the first, named `this`.
    pub params: Vec<Decl>,
    /// The declared result of a function; `None` for a predicate.
    pub result: Option<Expr>,
    /// The body.
    pub body: Expr,
    /// Whether it is a predicate.
    pub is_pred: bool,
    /// `private`.
    pub is_private: bool,
}

/// A fact.
#[derive(Clone, Debug)]
pub struct Fact {
    /// Its name, or `fact$1` and so on.
    pub label: String,
    /// The whole paragraph.
    pub span: Span,
    /// What holds; a block is an [`ListOp::And`].
    pub body: Expr,
}

/// An assertion.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// Its name.
    pub label: String,
    /// The name where it is declared.
    pub span: Span,
    /// What is claimed.
    pub body: Expr,
    /// The text of the doc comment before it.
    pub doc: Option<String>,
}

/// A `run` or `check`.
#[derive(Clone, Debug)]
pub struct Command {
    /// The name Alloy gives it: its label, the predicate's or assertion's name, or `run$1`.
    pub label: String,
    /// The whole command.
    pub span: Span,
    /// `check` instead of `run`.
    pub is_check: bool,
    /// The formula to be satisfied together with the facts: of a `run`, its predicate with the
    /// parameters existentially quantified; of a `check`, the **negated** assertion.
    pub formula: Expr,
    /// `for N`.
    pub overall: Option<u32>,
    /// `N Int`.
    pub bitwidth: Option<u32>,
    /// `N seq`.
    pub max_seq: Option<u32>,
    /// `N String`, and whether `exactly`.
    pub max_string: Option<(u32, bool)>,
    /// `N steps`, `A..B steps`, `exactly`.
    pub steps: Option<Steps>,
    /// `but N A, exactly M B`.
    pub scopes: Vec<SigScope>,
    /// `expect 0` or `expect 1`.
    pub expect: Option<u32>,
    /// Signatures that some module demands to have an exact scope (`open util/ordering[A]`).
    pub exact_sigs: Vec<SigId>,
    /// The text of the doc comment before it.
    pub doc: Option<String>,
}

/// The scope of one signature in a command.
#[derive(Clone, Debug)]
pub struct SigScope {
    /// The signature.
    pub sig: SigId,
    /// Where it is written.
    pub span: Span,
    /// `exactly`.
    pub exact: bool,
    /// Number of atoms; of a growing scope `A..B:C`, its start.
    pub size: u32,
}

/// The number of steps of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Fewest.
    pub min: u32,
    /// Most; `None` is unbounded (`1.. steps`).
    pub max: Option<u32>,
}

/// Multiplicity keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mult {
    /// Any number.
    Set,
    /// At least one.
    Some,
    /// At most one.
    Lone,
    /// Exactly one.
    One,
}

impl Mult {
    /// Its keyword.
    pub fn word(self) -> &'static str {
        match self {
            Mult::Set => "set",
            Mult::Some => "some",
            Mult::Lone => "lone",
            Mult::One => "one",
        }
    }
}

/// Declarations that share a bound: `disj a, b: e`.
#[derive(Clone, Debug)]
pub struct Decl {
    /// The variables.
    pub vars: Vec<VarId>,
    /// What follows the colon, with its multiplicity as [`UnaryOp::OneOf`] and so on: a unary bound
    /// without a keyword has `OneOf`, a bound of higher arity has none.
    pub bound: Expr,
    /// `disj a, b`: the variables share nothing.
    pub disjoint: bool,
    /// `var`, in comprehension-like declarations of the temporal layer.
    pub is_var: bool,
}

/// A typed expression: a formula, an integer or a relation, as its type says.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its bounding type.
    pub ty: Type,
    /// Where it is written.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A signature as a set (`univ` and `none` too).
    Sig(SigId),
    /// A field as a relation, first column included.
    Field(FieldId),
    /// A bound variable.
    Var(VarId),
    /// A constant.
    Const(Const),
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// Any number of operands.
    List(ListOp, Vec<Expr>),
    /// `c implies a else b`, over formulas, relations or integers.
    Ite(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `let v = e | body`.
    Let {
        /// The name.
        var: VarId,
        /// What it stands for; of any kind.
        value: Box<Expr>,
        /// Where it stands for it.
        body: Box<Expr>,
    },
    /// A quantified formula, `sum`, or a comprehension.
    Quant {
        /// Which.
        quant: Quant,
        /// The variables, later bounds may mention earlier variables.
        decls: Vec<Decl>,
        /// A formula; of `sum`, an integer.
        body: Box<Expr>,
    },
    /// A call of a predicate or function with all its arguments.
    Call {
        /// What is called.
        func: FuncId,
        /// One for each parameter.
        args: Vec<Expr>,
    },
}

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Const {
    /// The true formula (an empty block).
    True,
    /// The false formula.
    False,
    /// The identity over everything.
    Iden,
    /// An integer literal.
    Int(i64),
    /// A string literal, without its quotes and with escapes resolved.
    Str(String),
    /// `fun/min`: the smallest integer.
    MinInt,
    /// `fun/max`: the largest integer.
    MaxInt,
    /// `fun/next`: the successor relation over all integers.
    NextInt,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `set e` in a bound.
    SetOf,
    /// `some e` in a bound.
    SomeOf,
    /// `lone e` in a bound.
    LoneOf,
    /// `one e` in a bound.
    OneOf,
    /// `exactly e` in a parameter bound.
    ExactlyOf,
    /// `not`.
    Not,
    /// `no e`.
    No,
    /// `some e` as a formula.
    Some,
    /// `lone e` as a formula.
    Lone,
    /// `one e` as a formula.
    One,
    /// `~e`.
    Transpose,
    /// `^e`.
    Closure,
    /// `*e`.
    ReflexiveClosure,
    /// `#e`.
    Card,
    /// The sum of a set of integers, as a value (`int[e]`, `sum e`, or implicit).
    CastToInt,
    /// The singleton set of a value (`Int[i]`, or implicit).
    CastToSigInt,
    /// `e'`.
    Prime,
    /// `always`.
    Always,
    /// `eventually`.
    Eventually,
    /// `after`.
    After,
    /// `before`.
    Before,
    /// `historically`.
    Historically,
    /// `once`.
    Once,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `a m -> n b`; both multiplicities are [`Mult::Set`] for a plain arrow.
    Arrow(Mult, Mult),
    /// `seq e` in a bound: `seq/Int -> lone e`, with indices that start at 0 without gaps.
    SeqArrow,
    /// `.` and `[]`.
    Join,
    /// `<:`.
    Domain,
    /// `:>`.
    Range,
    /// `&`.
    Intersect,
    /// `++`.
    Override,
    /// `+` of relations.
    Union,
    /// `-` of relations.
    Difference,
    /// Integer addition.
    Add,
    /// Integer subtraction.
    Sub,
    /// Integer multiplication.
    Mul,
    /// Integer division, towards zero.
    Div,
    /// Integer remainder.
    Rem,
    /// `<<`.
    Shl,
    /// `>>`, keeping the sign.
    Sha,
    /// `>>>`.
    Shr,
    /// `=` of relations or integers.
    Eq,
    /// `!=`.
    NotEq,
    /// `in`, where the right side may carry multiplicities.
    In,
    /// `not in`.
    NotIn,
    /// `<`.
    Lt,
    /// `<=`.
    Lte,
    /// `>`.
    Gt,
    /// `>=`.
    Gte,
    /// `not <`.
    NotLt,
    /// `not <=`.
    NotLte,
    /// `not >`.
    NotGt,
    /// `not >=`.
    NotGte,
    /// `implies`.
    Implies,
    /// `iff`.
    Iff,
    /// `until`.
    Until,
    /// `releases`.
    Releases,
    /// `since`.
    Since,
    /// `triggered`.
    Triggered,
}

/// Operators with any number of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListOp {
    /// Conjunction; a block.
    And,
    /// Disjunction.
    Or,
    /// `disj[a, b, ..]`: pairwise without a common tuple.
    Disjoint,
    /// `pred/totalOrder[elem, first, next]`: `next` orders `elem` totally from `first`.
    TotalOrder,
}

/// Quantifiers, `sum` and comprehension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quant {
    /// `all`.
    All,
    /// `some`.
    Some,
    /// `no`.
    No,
    /// `lone`.
    Lone,
    /// `one`.
    One,
    /// `sum`.
    Sum,
    /// `{ decls | body }`.
    Comprehension,
}

/// A bounding type: a union of products of signatures, or a formula, or an integer value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Type {
    /// The products; subset signatures are replaced by what they are subsets of.
    pub products: Vec<Vec<SigId>>,
    /// It may be a formula.
    pub is_bool: bool,
    /// It may be an integer value (not a set of integer atoms).
    pub is_int: bool,
}

impl Type {
    /// The type of formulas.
    pub fn formula() -> Self {
        Type {
            is_bool: true,
            ..Self::default()
        }
    }

    /// The type of integer values.
    pub fn int() -> Self {
        Type {
            is_int: true,
            ..Self::default()
        }
    }

    /// The arity, when all products agree on one.
    pub fn arity(&self) -> Option<usize> {
        let first = self.products.first()?.len();
        self.products
            .iter()
            .all(|product| product.len() == first)
            .then_some(first)
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "ids are made only by the reader that fills these lists"
)]
impl Model {
    /// The signature with this id.
    pub fn sig(&self, id: SigId) -> &Sig {
        &self.sigs[id.index()]
    }

    /// The field with this id.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.index()]
    }

    /// The predicate or function with this id.
    pub fn func(&self, id: FuncId) -> &Func {
        &self.funcs[id.index()]
    }

    /// The variable with this id.
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.index()]
    }
}
