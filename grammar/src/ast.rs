//! The syntax tree: what a file says, before any name is known.
//!
//! The tree is close to the text: parentheses are gone, everything else can be printed back
//! ([`crate::print`]). Chains of an associative operator are one node, so that a list of ten
//! thousand tuples is not a tree ten thousand deep.

use locus_core::{FileId, Span};

pub use crate::model::Mult;

/// One file.
#[derive(Clone, Debug)]
pub struct Module {
    /// The file it was read from.
    pub file: FileId,
    /// Its paragraphs, in order.
    pub paragraphs: Vec<Paragraph>,
    /// What could not be read of it.
    pub unread: Vec<Unread>,
}

/// A paragraph that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// One that only says something about others: a fact, a command.
    Statement,
    /// An assertion, predicate or function of this name.
    Named(String),
    /// One that other paragraphs may need to make sense: a signature, an import.
    Declaration,
}

/// One paragraph, with the doc comment in front of it.
#[derive(Clone, Debug)]
pub struct Paragraph {
    /// What it declares.
    pub kind: ParagraphKind,
    /// The whole paragraph, without its comment.
    pub span: Span,
    /// The text of the `/** .. */` comment right before it, without its decoration.
    pub doc: Option<String>,
}

/// What a paragraph declares.
#[derive(Clone, Debug)]
pub enum ParagraphKind {
    /// `module a/b[exactly X]`.
    Header(Header),
    /// `open a/b[X] as c`.
    Open(Open),
    /// `enum E { A, B }`.
    Enum(Enum),
    /// `sig A, B extends C { .. } { .. }`.
    Sig(Sig),
    /// `fact name { .. }`.
    Fact(Named),
    /// `assert name { .. }`.
    Assert(Named),
    /// `pred p[..] { .. }` or `fun f[..]: e { .. }`.
    Func(Func),
    /// `let m[x] = e`.
    Macro(Macro),
    /// `run` and `check`, a chain of them when joined by `=>`.
    Command(Vec<Command>),
}

/// A name as written, qualified by `/` or not.
#[derive(Clone, Debug)]
pub struct Name {
    /// The parts joined by `/`, without blanks.
    pub text: String,
    /// Where it is written.
    pub span: Span,
}

/// `module a/b[exactly X]`.
#[derive(Clone, Debug)]
pub struct Header {
    /// The name of the module.
    pub name: Name,
    /// Its parameters, and whether each is `exactly`.
    pub params: Vec<(Name, bool)>,
}

/// `open a/b[X] as c`.
#[derive(Clone, Debug)]
pub struct Open {
    /// What is opened.
    pub name: Name,
    /// The signatures given for its parameters.
    pub args: Vec<Name>,
    /// The name it gets here.
    pub alias: Option<Name>,
    /// `private`: not seen by those who open this module.
    pub is_private: bool,
}

/// `enum E { A, B }`.
#[derive(Clone, Debug)]
pub struct Enum {
    /// The set of all values.
    pub name: Name,
    /// The values, in order.
    pub values: Vec<Name>,
    /// `private`.
    pub is_private: bool,
}

/// Where a signature stands in the hierarchy.
#[derive(Clone, Debug)]
pub enum SigParent {
    /// Top level.
    None,
    /// `extends A`.
    Extends(Name),
    /// `in A + B`.
    In(Vec<Name>),
    /// `= A + B`.
    Equals(Vec<Name>),
}

/// Signatures declared together.
#[derive(Clone, Debug)]
pub struct Sig {
    /// Their names.
    pub names: Vec<Name>,
    /// `abstract`.
    pub is_abstract: bool,
    /// `one`, `lone` or `some`, with where each is written; more than one is an error.
    pub mults: Vec<(Mult, Span)>,
    /// `private`.
    pub is_private: bool,
    /// `var`.
    pub is_var: bool,
    /// `extends`, `in` or `=`.
    pub parent: SigParent,
    /// The fields.
    pub fields: Vec<Decl>,
    /// The fact appended, a block.
    pub fact: Option<Expr>,
}

/// A fact or an assertion.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its name, when it has one; a string counts.
    pub name: Option<Name>,
    /// The block.
    pub body: Expr,
}

/// A predicate or function.
#[derive(Clone, Debug)]
pub struct Func {
    /// `pred A.p`: the signature that `this` belongs to.
    pub receiver: Option<Name>,
    /// Its name.
    pub name: Name,
    /// Parameters, without the receiver.
    pub params: Vec<Decl>,
    /// The result of a function; `None` for a predicate.
    pub result: Option<Expr>,
    /// The block.
    pub body: Expr,
    /// `private`.
    pub is_private: bool,
}

/// `let m[x] = e` at the top level.
#[derive(Clone, Debug)]
pub struct Macro {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<Name>,
    /// What it stands for.
    pub body: Expr,
    /// `private`.
    pub is_private: bool,
}

/// One `run` or `check`.
#[derive(Clone, Debug)]
pub struct Command {
    /// `check` instead of `run`.
    pub is_check: bool,
    /// The label in front.
    pub label: Option<Name>,
    /// What is run or checked.
    pub target: Target,
    /// `for ..`.
    pub scope: Scope,
    /// `expect N`.
    pub expect: Option<u32>,
    /// The whole command.
    pub span: Span,
}

/// What a command runs or checks.
#[derive(Clone, Debug)]
pub enum Target {
    /// A predicate, function or assertion.
    Name(Name),
    /// A block of its own.
    Block(Expr),
}

/// The scope of a command.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// `for N`.
    pub overall: Option<u32>,
    /// `but N A, ..`.
    pub sigs: Vec<TypeScope>,
}

/// The scope of one signature: `exactly 2..5:1 A`.
#[derive(Clone, Debug)]
pub struct TypeScope {
    /// `exactly`.
    pub exact: bool,
    /// The number, or the start of the range.
    pub start: u32,
    /// The end of the range: absent without `..`, `Some(None)` for `1..`.
    pub end: Option<Option<u32>>,
    /// `:N`, the step.
    pub step: Option<u32>,
    /// What it is about: a signature, or `Int`, `int`, `seq`, `String`, `steps`, `univ`, `none`.
    pub target: Name,
    /// The whole of it.
    pub span: Span,
}

/// `disj a, b: e`, or `a = e`.
#[derive(Clone, Debug)]
pub struct Decl {
    /// The names declared.
    pub names: Vec<Name>,
    /// `var`.
    pub is_var: bool,
    /// `private`.
    pub is_private: bool,
    /// `disj a, b`.
    pub disjoint: Option<Span>,
    /// `a: disj e`.
    pub disjoint_values: Option<Span>,
    /// `a = e` instead of `a: e`.
    pub is_defined: bool,
    /// What follows the colon.
    pub bound: Expr,
    /// The whole of it.
    pub span: Span,
}

/// An expression: a formula, an integer or a relation.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it is written; parentheses are not included.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A name; `this`, `univ`, `iden`, `none`, `Int`, `String`, `seq/Int` too.
    Name(String),
    /// `@name`.
    At(String),
    /// An integer.
    Number(i64),
    /// A string, without its quotes and with escapes resolved.
    Str(String),
    /// `fun/min`, `fun/max` or `fun/next`.
    IntConst(IntConst),
    /// `disj`, `pred/totalOrder`, `int` or `sum` as something to call.
    Builtin(Builtin),
    /// One operand.
    Unary(UnaryOp, Box<Expr>),
    /// Two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// Two or more operands of an associative operator.
    Nary(NaryOp, Vec<Expr>),
    /// `f[a, b]`.
    Box(Box<Expr>, Vec<Expr>),
    /// `c implies a else b`.
    Ite(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `let a = e, b = f | body`.
    Let(Vec<(Name, Expr)>, Box<Expr>),
    /// `all a: A | body`, `sum` too.
    Quant(Quant, Vec<Decl>, Box<Expr>),
    /// `{ a: A | body }`; without a body, all of it.
    Comprehension(Vec<Decl>, Option<Box<Expr>>),
    /// `{ a b c }`: all of them hold; a single one may be of any kind.
    Block(Vec<Expr>),
}

/// `fun/min`, `fun/max`, `fun/next`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntConst {
    /// `fun/min`.
    Min,
    /// `fun/max`.
    Max,
    /// `fun/next`.
    Next,
}

/// Predicates and functions that are keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// `disj[a, b]`.
    Disj,
    /// `pred/totalOrder[elem, first, next]`.
    TotalOrder,
    /// `int[e]`.
    Int,
    /// `sum[e]`.
    Sum,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `not`.
    Not,
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
    /// `no e`.
    No,
    /// `some e`, as a formula or as a multiplicity.
    Some,
    /// `lone e`.
    Lone,
    /// `one e`.
    One,
    /// `set e`.
    Set,
    /// `seq e`.
    Seq,
    /// `#e`.
    Card,
    /// `sum e`.
    Sum,
    /// `int e`.
    Int,
    /// `~e`.
    Transpose,
    /// `^e`.
    Closure,
    /// `*e`.
    ReflexiveClosure,
    /// `e'`.
    Prime,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `a ; b`.
    Then,
    /// `iff`.
    Iff,
    /// `implies`.
    Implies,
    /// `until`.
    Until,
    /// `since`.
    Since,
    /// `triggered`.
    Triggered,
    /// `releases`.
    Releases,
    /// `in` and so on, and whether `not` stands before it.
    Compare(CompareOp, bool),
    /// `<<`.
    Shl,
    /// `>>`.
    Sha,
    /// `>>>`.
    Shr,
    /// `-`.
    Difference,
    /// `fun/add`.
    Add,
    /// `fun/sub`.
    Sub,
    /// `fun/mul`.
    Mul,
    /// `fun/div`.
    Div,
    /// `fun/rem`.
    Rem,
    /// `++`.
    Override,
    /// `a m -> n b`.
    Arrow(Mult, Mult),
    /// `<:`.
    Domain,
    /// `:>`.
    Range,
    /// `a.b`.
    Join,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    /// `in`.
    In,
    /// `=`.
    Eq,
    /// `<`.
    Lt,
    /// `<=`.
    Lte,
    /// `>`.
    Gt,
    /// `>=`.
    Gte,
}

/// Associative operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NaryOp {
    /// `or`.
    Or,
    /// `and`.
    And,
    /// `+`.
    Union,
    /// `&`.
    Intersect,
}

/// Quantifiers and `sum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quant {
    /// `all`.
    All,
    /// `no`.
    No,
    /// `some`.
    Some,
    /// `lone`.
    Lone,
    /// `one`.
    One,
    /// `sum`.
    Sum,
}

impl Expr {
    /// The direct parts of an expression, bounds of declarations included.
    pub fn parts(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Name(_)
            | ExprKind::At(_)
            | ExprKind::Number(_)
            | ExprKind::Str(_)
            | ExprKind::IntConst(_)
            | ExprKind::Builtin(_) => Vec::new(),
            ExprKind::Unary(_, a) => vec![a],
            ExprKind::Binary(_, a, b) => vec![a, b],
            ExprKind::Nary(_, all) | ExprKind::Block(all) => all.iter().collect(),
            ExprKind::Box(target, args) => std::iter::once(&**target).chain(args).collect(),
            ExprKind::Ite(a, b, c) => vec![a, b, c],
            ExprKind::Let(bindings, body) => bindings
                .iter()
                .map(|(_, value)| value)
                .chain([&**body])
                .collect(),
            ExprKind::Quant(_, decls, body) => decls
                .iter()
                .map(|decl| &decl.bound)
                .chain([&**body])
                .collect(),
            ExprKind::Comprehension(decls, body) => decls
                .iter()
                .map(|decl| &decl.bound)
                .chain(body.as_deref())
                .collect(),
        }
    }

    /// Whether `seq e` occurs in it.
    pub fn uses_seq(&self) -> bool {
        matches!(self.kind, ExprKind::Unary(UnaryOp::Seq, _))
            || self.parts().iter().any(|part| part.uses_seq())
    }
}
