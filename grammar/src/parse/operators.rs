//! Operators by precedence.
//!
//! The levels are those of Alloy's own grammar, loosest first:
//! `;` | `or` | `iff` | `implies`/`else` | `and` | `until` and the like | `not`, `always` and the
//! like | comparison, `some e` | shift | `+ -` | `fun/mul` | `# sum int` | `++` | `&` | `->` | `<:`
//! | `:>` | `.` and `[]` | `'` | `~ ^ *`. A quantifier or `let` may stand wherever an operand may and
//! extends as far right as it can.

use std::iter::Peekable;

use pest::iterators::Pairs;

use super::expressions::Node;
use super::paragraphs::Children;
use super::{Builder, Built, MAX_DEPTH, Pair, Rule, error_with_help, unexpected};
use crate::ast::{BinaryOp, CompareOp, Decl, Expr, ExprKind, Mult, Name, NaryOp, Quant, UnaryOp};
use crate::precedence as level;

enum Operator {
    Binary(BinaryOp),
    Nary(NaryOp),
}

struct Climber<'b, 'a> {
    builder: &'b Builder,
    parts: Peekable<Pairs<'a, Rule>>,
}

impl Builder {
    /// The expression that a flat list of operators and operands means.
    pub(super) fn operators(&self, pair: Pair<'_>, depth: u32) -> Built<Node> {
        let mut climber = Climber {
            builder: self,
            parts: pair.clone().into_inner().peekable(),
        };
        let node = climber.climb(&pair, level::LOOSEST, depth)?;
        if let Some(rest) = climber.parts.next() {
            return match rest.as_rule() {
                Rule::infix if rest.as_str().trim_end() == "else" => error_with_help(
                    self.trimmed(&rest),
                    "`else` without `implies`",
                    "write `condition implies a else b`",
                ),
                _ => unexpected(self, &rest),
            };
        }
        Ok(node)
    }
}

impl<'a> Climber<'_, 'a> {
    /// An expression of operators that bind at least this tight.
    fn climb(&mut self, whole: &Pair<'a>, tight: u8, depth: u32) -> Built<Node> {
        if depth > MAX_DEPTH {
            return error_with_help(
                self.builder.trimmed(whole),
                format!("this expression nests more than {MAX_DEPTH} deep"),
                "give parts of it a name with `let`, `fun` or `pred`",
            );
        }
        let (mut left, closed) = self.operand(whole, tight, depth)?;
        if closed {
            self.nothing_after()?;
        }
        while let Some(part) = self.parts.peek() {
            let part = part.clone();
            left = match part.as_rule() {
                Rule::box_args if tight <= level::JOIN => {
                    self.parts.next();
                    self.builder.box_args(left, part, depth)?
                }
                Rule::prime if tight <= level::PRIME => {
                    self.parts.next();
                    let span = left.expr.span.to(self.builder.trimmed(&part));
                    let kind = ExprKind::Unary(UnaryOp::Prime, Box::new(left.expr));
                    self.builder.node(kind, span, left.depth)?
                }
                Rule::dot if tight <= level::JOIN => {
                    self.parts.next();
                    self.join(whole, left, depth)?
                }
                Rule::infix => match self.infix(&part)? {
                    Some((operator, strength)) if strength >= tight => {
                        self.parts.next();
                        self.infix_rest(whole, left, operator, strength, depth)?
                    }
                    _ => break,
                },
                _ => break,
            };
        }
        Ok(left)
    }

    /// A quantifier with a block as its body is complete: only `;` and `else` may follow.
    fn nothing_after(&mut self) -> Built<()> {
        let Some(part) = self.parts.peek() else {
            return Ok(());
        };
        let word = part.as_str().trim_end();
        if matches!(word, "else" | ";") {
            return Ok(());
        }
        error_with_help(
            self.builder.trimmed(part),
            format!("`{word}` after a quantifier or `let` with a block"),
            "put parentheses around the quantifier or `let`",
        )
    }

    fn join(&mut self, whole: &Pair<'a>, left: Node, depth: u32) -> Built<Node> {
        let right = match self.parts.peek() {
            Some(part) if part.as_rule() == Rule::builtin => {
                let part = part.clone();
                self.parts.next();
                self.builder.builtin(part)?
            }
            _ => self.climb(whole, level::JOIN + 1, depth + 1)?,
        };
        self.binary(BinaryOp::Join, left, right)
    }

    fn binary(&self, op: BinaryOp, left: Node, right: Node) -> Built<Node> {
        let span = left.expr.span.to(right.expr.span);
        let deepest = left.depth.max(right.depth);
        let kind = ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr));
        self.builder.node(kind, span, deepest)
    }

    fn infix_rest(
        &mut self,
        whole: &Pair<'a>,
        left: Node,
        operator: Operator,
        strength: u8,
        depth: u32,
    ) -> Built<Node> {
        match operator {
            Operator::Nary(op) => self.nary(whole, left, op, strength, depth),
            Operator::Binary(BinaryOp::Implies) => self.implies(whole, left, depth),
            Operator::Binary(op) => {
                let right_associative = matches!(op, BinaryOp::Then | BinaryOp::Arrow(..));
                let tight = if right_associative {
                    strength
                } else {
                    strength + 1
                };
                let right = self.climb(whole, tight, depth + 1)?;
                self.binary(op, left, right)
            }
        }
    }

    /// `a op b op c ..` of one associative operator, as one node.
    fn nary(
        &mut self,
        whole: &Pair<'a>,
        first: Node,
        op: NaryOp,
        strength: u8,
        depth: u32,
    ) -> Built<Node> {
        let mut span = first.expr.span;
        let mut deepest = first.depth;
        let mut operands = vec![first.expr];
        loop {
            let right = self.climb(whole, strength + 1, depth + 1)?;
            span = span.to(right.expr.span);
            deepest = deepest.max(right.depth);
            operands.push(right.expr);
            let Some(part) = self.parts.peek().cloned() else {
                break;
            };
            if part.as_rule() != Rule::infix {
                break;
            }
            match self.infix(&part)? {
                Some((Operator::Nary(next), _)) if next == op => {
                    self.parts.next();
                }
                _ => break,
            }
        }
        self.builder
            .node(ExprKind::Nary(op, operands), span, deepest)
    }

    /// `a implies b`, with the `else` that follows if there is one.
    fn implies(&mut self, whole: &Pair<'a>, left: Node, depth: u32) -> Built<Node> {
        let then = self.climb(whole, level::IMPLIES, depth + 1)?;
        let has_else = self.parts.peek().is_some_and(|part| {
            part.as_rule() == Rule::infix && part.as_str().trim_end() == "else"
        });
        if !has_else {
            return self.binary(BinaryOp::Implies, left, then);
        }
        self.parts.next();
        let other = self.climb(whole, level::IMPLIES, depth + 1)?;
        let span = left.expr.span.to(other.expr.span);
        let deepest = left.depth.max(then.depth).max(other.depth);
        let kind = ExprKind::Ite(
            Box::new(left.expr),
            Box::new(then.expr),
            Box::new(other.expr),
        );
        self.builder.node(kind, span, deepest)
    }

    /// Prefixes and what they apply to, and whether it is a quantifier with a block.
    fn operand(&mut self, whole: &Pair<'a>, tight: u8, depth: u32) -> Built<(Node, bool)> {
        let Some(part) = self.parts.next() else {
            return error_with_help(
                self.builder.trimmed(whole),
                "an operand is missing",
                "complete the expression",
            );
        };
        match part.as_rule() {
            Rule::binder => self.binder(whole, part, depth),
            Rule::prefix | Rule::multiplicity | Rule::plain_sum => {
                let node = self.prefix(whole, &part, tight, depth)?;
                Ok((node, false))
            }
            Rule::primary => Ok((self.builder.primary(part, depth)?, false)),
            Rule::builtin => Ok((self.builder.builtin(part)?, false)),
            _ => unexpected(self.builder, &part),
        }
    }

    fn prefix(&mut self, whole: &Pair<'a>, part: &Pair<'a>, tight: u8, depth: u32) -> Built<Node> {
        let start = self.builder.trimmed(part);
        let word = part.as_str().trim_end();
        let Some((op, strength, operand)) = prefix_operator(word) else {
            return unexpected(self.builder, part);
        };
        if strength < tight {
            return error_with_help(
                start,
                format!("`{word}` cannot stand here: the operator before it binds tighter"),
                format!("put parentheses around what starts with `{word}`"),
            );
        }
        let node = self.climb(whole, operand, depth + 1)?;
        let span = start.to(node.expr.span);
        self.builder
            .node(ExprKind::Unary(op, Box::new(node.expr)), span, node.depth)
    }

    fn binder(&mut self, whole: &Pair<'a>, part: Pair<'a>, depth: u32) -> Built<(Node, bool)> {
        let start = self.builder.trimmed(&part);
        let mut children = Children::of(part.clone());
        let Some(head) = children.next() else {
            return unexpected(self.builder, &part);
        };
        let has_bar = children.has(Rule::bar);
        let (head, head_depth) = self.binder_head(head, depth)?;
        let body = if has_bar {
            self.climb(whole, level::OR, depth + 1)?
        } else {
            let block = self.parts.next().filter(|next| {
                next.clone()
                    .into_inner()
                    .next()
                    .is_some_and(|inner| inner.as_rule() == Rule::block)
            });
            match block {
                Some(block) => self.builder.primary(block, depth + 1)?,
                None => {
                    return error_with_help(
                        start,
                        "the body of this quantifier or `let` is missing",
                        "write `| formula` or `{ formulas }` after it",
                    );
                }
            }
        };
        let span = start.to(body.expr.span);
        let body_expr = Box::new(body.expr);
        let kind = match head {
            Head::Quant(quant, decls) => ExprKind::Quant(quant, decls, body_expr),
            Head::Let(bindings) => ExprKind::Let(bindings, body_expr),
        };
        let deepest = body.depth.max(head_depth);
        Ok((self.builder.node(kind, span, deepest)?, !has_bar))
    }

    fn binder_head(&self, pair: Pair<'a>, depth: u32) -> Built<(Head, u32)> {
        let builder = self.builder;
        let mut children = Children::of(pair.clone());
        let Some(keyword) = children.next() else {
            return unexpected(builder, &pair);
        };
        let quant = match keyword.as_rule() {
            Rule::k_all => Quant::All,
            Rule::k_no => Quant::No,
            Rule::k_some => Quant::Some,
            Rule::k_lone => Quant::Lone,
            Rule::k_one => Quant::One,
            Rule::k_sum => Quant::Sum,
            _ => {
                let mut bindings: Vec<(Name, Expr)> = Vec::new();
                let mut deepest = 0;
                for binding in children {
                    let mut parts = Children::of(binding.clone());
                    let (Some(name), Some(_), Some(value)) =
                        (parts.next(), parts.eat(Rule::equals), parts.next())
                    else {
                        return unexpected(builder, &binding);
                    };
                    let name = builder.name(name)?;
                    builder.plain_name(&name)?;
                    let value = builder.expr(value, depth)?;
                    deepest = deepest.max(value.depth);
                    bindings.push((name, value.expr));
                }
                // Each binding is a `let` of its own in the end.
                let count = u32::try_from(bindings.len()).unwrap_or(u32::MAX);
                return Ok((Head::Let(bindings), deepest.saturating_add(count)));
            }
        };
        match children.next() {
            Some(decls) => {
                let (decls, deepest) = builder.decls(decls, depth)?;
                Ok((Head::Quant(quant, decls), deepest))
            }
            None => unexpected(builder, &pair),
        }
    }

    /// The operator and how tight it binds; `None` for `else`, which belongs to `implies`.
    fn infix(&self, pair: &Pair<'a>) -> Built<Option<(Operator, u8)>> {
        use Operator::{Binary, Nary};
        let Some(inner) = pair.clone().into_inner().next() else {
            return unexpected(self.builder, pair);
        };
        Ok(Some(match inner.as_rule() {
            Rule::k_else => return Ok(None),
            Rule::semicolon => (Binary(BinaryOp::Then), level::THEN),
            Rule::or => (Nary(NaryOp::Or), level::OR),
            Rule::iff => (Binary(BinaryOp::Iff), level::IFF),
            Rule::implies => (Binary(BinaryOp::Implies), level::IMPLIES),
            Rule::and => (Nary(NaryOp::And), level::AND),
            Rule::k_until => (Binary(BinaryOp::Until), level::TEMPORAL),
            Rule::k_since => (Binary(BinaryOp::Since), level::TEMPORAL),
            Rule::k_triggered => (Binary(BinaryOp::Triggered), level::TEMPORAL),
            Rule::k_releases => (Binary(BinaryOp::Releases), level::TEMPORAL),
            Rule::compare => (Binary(self.compare(inner)?), level::COMPARE),
            Rule::shl => (Binary(BinaryOp::Shl), level::SHIFT),
            Rule::sha => (Binary(BinaryOp::Sha), level::SHIFT),
            Rule::shr => (Binary(BinaryOp::Shr), level::SHIFT),
            Rule::plus => (Nary(NaryOp::Union), level::ADD),
            Rule::minus => (Binary(BinaryOp::Difference), level::ADD),
            Rule::fun_add => (Binary(BinaryOp::Add), level::ADD),
            Rule::fun_sub => (Binary(BinaryOp::Sub), level::ADD),
            Rule::fun_mul => (Binary(BinaryOp::Mul), level::MUL),
            Rule::fun_div => (Binary(BinaryOp::Div), level::MUL),
            Rule::fun_rem => (Binary(BinaryOp::Rem), level::MUL),
            Rule::override_op => (Binary(BinaryOp::Override), level::OVERRIDE),
            Rule::intersect => (Nary(NaryOp::Intersect), level::INTERSECT),
            Rule::arrow => (Binary(arrow(inner)), level::ARROW),
            Rule::domain => (Binary(BinaryOp::Domain), level::DOMAIN),
            Rule::range_op => (Binary(BinaryOp::Range), level::RANGE),
            _ => return unexpected(self.builder, &inner),
        }))
    }

    fn compare(&self, pair: Pair<'a>) -> Built<BinaryOp> {
        let mut children = Children::of(pair.clone());
        let negated = children.has(Rule::not);
        let op = match children.next().map(|op| op.as_rule()) {
            Some(Rule::k_in) => CompareOp::In,
            Some(Rule::equals) => CompareOp::Eq,
            Some(Rule::lt) => CompareOp::Lt,
            Some(Rule::lte) => CompareOp::Lte,
            Some(Rule::gt) => CompareOp::Gt,
            Some(Rule::gte) => CompareOp::Gte,
            _ => return unexpected(self.builder, &pair),
        };
        Ok(BinaryOp::Compare(op, negated))
    }
}

enum Head {
    Quant(Quant, Vec<Decl>),
    Let(Vec<(Name, Expr)>),
}

/// The multiplicities around an arrow; the position of each tells which side it is on.
fn arrow(pair: Pair<'_>) -> BinaryOp {
    let start = pair.as_span().start();
    let mut sides = (Mult::Set, Mult::Set);
    for end in pair.into_inner() {
        let mult = match end.as_str().trim_end() {
            "some" => Mult::Some,
            "lone" => Mult::Lone,
            "one" => Mult::One,
            _ => Mult::Set,
        };
        if end.as_span().start() == start {
            sides.0 = mult;
        } else {
            sides.1 = mult;
        }
    }
    BinaryOp::Arrow(sides.0, sides.1)
}

/// The operator, how tight it binds as an operand, and how tight its own operand must bind.
fn prefix_operator(word: &str) -> Option<(UnaryOp, u8, u8)> {
    let not = |op| (op, level::NOT, level::NOT);
    let quantity = |op| (op, level::COMPARE, level::SHIFT);
    let count = |op| (op, level::COUNT, level::COUNT);
    let unary = |op| (op, level::UNARY, level::UNARY);
    Some(match word {
        "not" | "!" => not(UnaryOp::Not),
        "always" => not(UnaryOp::Always),
        "eventually" => not(UnaryOp::Eventually),
        "after" => not(UnaryOp::After),
        "before" => not(UnaryOp::Before),
        "historically" => not(UnaryOp::Historically),
        "once" => not(UnaryOp::Once),
        "no" => quantity(UnaryOp::No),
        "some" => quantity(UnaryOp::Some),
        "lone" => quantity(UnaryOp::Lone),
        "one" => quantity(UnaryOp::One),
        "set" => quantity(UnaryOp::Set),
        "seq" => quantity(UnaryOp::Seq),
        "#" => count(UnaryOp::Card),
        "sum" => count(UnaryOp::Sum),
        "int" => count(UnaryOp::Int),
        "~" => unary(UnaryOp::Transpose),
        "^" => unary(UnaryOp::Closure),
        "*" => unary(UnaryOp::ReflexiveClosure),
        _ => return None,
    })
}
