//! Operands of expressions, declarations, names and literals: pairs to syntax tree.

use locus_core::Span;

use super::paragraphs::Children;
use super::{Builder, Built, MAX_DEPTH, Pair, Rule, error, error_with_help, unexpected};
use crate::ast::{Builtin, Decl, Expr, ExprKind, IntConst, Name};

/// An expression and how deep it nests, so that depth is limited before anything recurses.
pub(super) struct Node {
    pub(super) expr: Expr,
    pub(super) depth: u32,
}

impl Builder {
    /// A node over parts, the deepest of which is this deep.
    pub(super) fn node(&self, kind: ExprKind, span: Span, deepest: u32) -> Built<Node> {
        let depth = deepest.saturating_add(1);
        if depth > MAX_DEPTH {
            return error_with_help(
                span,
                format!("this expression nests more than {MAX_DEPTH} deep"),
                "give parts of it a name with `let`, `fun` or `pred`",
            );
        }
        Ok(Node {
            expr: Expr { kind, span },
            depth,
        })
    }

    /// Guards the recursion of the builder itself.
    fn nested(&self, pair: &Pair<'_>, depth: u32) -> Built<u32> {
        if depth > MAX_DEPTH {
            return error_with_help(
                self.trimmed(pair),
                format!("this expression nests more than {MAX_DEPTH} deep"),
                "give parts of it a name with `let`, `fun` or `pred`",
            );
        }
        Ok(depth + 1)
    }

    /// `depth` is how deep this is nested in others.
    pub(super) fn expr(&self, pair: Pair<'_>, depth: u32) -> Built<Node> {
        let depth = self.nested(&pair, depth)?;
        self.operators(pair, depth)
    }

    pub(super) fn bound(&self, pair: Pair<'_>, depth: u32) -> Built<Node> {
        self.expr(pair, depth)
    }

    /// A block; its conjuncts side by side.
    pub(super) fn block(&self, pair: Pair<'_>, depth: u32) -> Built<Node> {
        let depth = self.nested(&pair, depth)?;
        let span = self.trimmed(&pair);
        let (exprs, deepest) = self.exprs(pair, depth)?;
        self.node(ExprKind::Block(exprs), span, deepest)
    }

    fn exprs(&self, pair: Pair<'_>, depth: u32) -> Built<(Vec<Expr>, u32)> {
        let mut deepest = 0;
        let mut exprs = Vec::new();
        for child in pair.into_inner() {
            let node = self.expr(child, depth)?;
            deepest = deepest.max(node.depth);
            exprs.push(node.expr);
        }
        Ok((exprs, deepest))
    }

    /// `f[a, b]`, given `f`.
    pub(super) fn box_args(&self, target: Node, pair: Pair<'_>, depth: u32) -> Built<Node> {
        let span = target.expr.span.to(self.trimmed(&pair));
        let (args, deepest) = self.exprs(pair, depth)?;
        // Each argument is one join.
        let joins = u32::try_from(args.len()).unwrap_or(u32::MAX);
        let deepest = target.depth.max(deepest).saturating_add(joins);
        self.node(ExprKind::Box(Box::new(target.expr), args), span, deepest)
    }

    pub(super) fn primary(&self, pair: Pair<'_>, depth: u32) -> Built<Node> {
        let Some(inner) = pair.clone().into_inner().next() else {
            return unexpected(self, &pair);
        };
        let span = self.trimmed(&inner);
        let leaf = |kind| self.node(kind, span, 0);
        match inner.as_rule() {
            Rule::number => leaf(ExprKind::Number(self.integer(&inner)?)),
            Rule::string => leaf(ExprKind::Str(self.string(&inner)?)),
            Rule::parens => match inner.clone().into_inner().next() {
                Some(expr) => self.expr(expr, depth),
                None => unexpected(self, &inner),
            },
            Rule::comprehension => self.comprehension(inner, depth),
            Rule::block => self.block(inner, depth),
            Rule::at_name => match inner.clone().into_inner().next() {
                Some(name) => leaf(ExprKind::At(self.name(name)?.text)),
                None => unexpected(self, &inner),
            },
            Rule::fun_min => leaf(ExprKind::IntConst(IntConst::Min)),
            Rule::fun_max => leaf(ExprKind::IntConst(IntConst::Max)),
            Rule::fun_next => leaf(ExprKind::IntConst(IntConst::Next)),
            Rule::builtin => self.builtin(inner),
            Rule::name => {
                let name = self.name(inner)?;
                self.node(ExprKind::Name(name.text), name.span, 0)
            }
            _ => unexpected(self, &inner),
        }
    }

    /// `disj`, `int`, `sum` or `pred/totalOrder` where something is called.
    pub(super) fn builtin(&self, pair: Pair<'_>) -> Built<Node> {
        let span = self.trimmed(&pair);
        let builtin = match pair.into_inner().next().map(|word| word.as_rule()) {
            Some(Rule::k_disj) => Builtin::Disj,
            Some(Rule::k_int) => Builtin::Int,
            Some(Rule::k_sum) => Builtin::Sum,
            _ => Builtin::TotalOrder,
        };
        self.node(ExprKind::Builtin(builtin), span, 0)
    }

    fn comprehension(&self, pair: Pair<'_>, depth: u32) -> Built<Node> {
        let depth = self.nested(&pair, depth)?;
        let span = self.trimmed(&pair);
        let mut decls = Vec::new();
        let mut body = None;
        let mut deepest = 0;
        for child in pair.into_inner() {
            match child.as_rule() {
                Rule::decls => (decls, deepest) = self.decls(child, depth)?,
                Rule::expr => {
                    let node = self.expr(child, depth)?;
                    deepest = deepest.max(node.depth);
                    body = Some(Box::new(node.expr));
                }
                Rule::block => {
                    let node = self.block(child, depth)?;
                    deepest = deepest.max(node.depth);
                    body = Some(Box::new(node.expr));
                }
                _ => {}
            }
        }
        if let Some(decl) = decls.iter().find(|decl| decl.is_defined) {
            return error_with_help(
                decl.span,
                "a comprehension declares its variables with `:`",
                "write `name: set`",
            );
        }
        self.node(ExprKind::Comprehension(decls, body), span, deepest)
    }

    /// Declarations, and how deep the deepest bound is.
    pub(super) fn decls(&self, pair: Pair<'_>, depth: u32) -> Built<(Vec<Decl>, u32)> {
        let mut deepest = 0;
        let mut decls = Vec::new();
        for decl in pair.into_inner() {
            let (decl, depth) = self.decl(decl, depth)?;
            deepest = deepest.max(depth);
            decls.push(decl);
        }
        Ok((decls, deepest))
    }

    fn decl(&self, pair: Pair<'_>, depth: u32) -> Built<(Decl, u32)> {
        let span = self.trimmed(&pair);
        let mut children = Children::of(pair.clone());
        let is_var = children.has(Rule::k_var);
        let is_private = children.has(Rule::k_private);
        let disjoint = children.eat(Rule::k_disj).map(|word| self.span(&word));
        let names = match children.eat(Rule::names) {
            Some(names) => names
                .into_inner()
                .map(|name| self.name(name))
                .collect::<Built<Vec<Name>>>()?,
            None => return unexpected(self, &pair),
        };
        for name in &names {
            self.plain_name(name)?;
        }
        let is_defined = children.has(Rule::equals);
        children.eat(Rule::colon);
        let disjoint_values = children.eat(Rule::k_disj).map(|word| self.span(&word));
        let Some(bound) = children.next() else {
            return unexpected(self, &pair);
        };
        let Node { expr: bound, depth } = self.bound(bound, depth)?;
        if let (true, Some(span)) = (is_defined, disjoint.or(disjoint_values)) {
            return error_with_help(
                span,
                "a defined field cannot be `disj`",
                "remove `disj`, or declare it with `:`",
            );
        }
        let decl = Decl {
            names,
            is_var,
            is_private,
            disjoint,
            disjoint_values,
            is_defined,
            bound,
            span,
        };
        Ok((decl, depth))
    }

    /// A name that something new is given.
    pub(super) fn plain_name(&self, name: &Name) -> Built<()> {
        for bad in ['/', '$'] {
            if name.text.contains(bad) {
                return error_with_help(
                    name.span,
                    format!("the new name `{}` contains `{bad}`", name.text),
                    "use letters, digits and `_`",
                );
            }
        }
        Ok(())
    }

    /// A natural number, as in scopes.
    pub(super) fn natural(&self, pair: &Pair<'_>) -> Built<u32> {
        let value = self.integer(pair)?;
        u32::try_from(value).or_else(|_| {
            error_with_help(
                self.trimmed(pair),
                format!("`{}` is negative", pair.as_str().trim_end()),
                "a number from 0 is needed here",
            )
        })
    }

    /// An integer; Alloy's fit in 32 bits.
    fn integer(&self, pair: &Pair<'_>) -> Built<i64> {
        let text: String = pair
            .as_str()
            .chars()
            .filter(|c| *c != '_' && !c.is_whitespace())
            .collect();
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text.as_str()),
        };
        let (digits, radix) = if let Some(hex) = digits.strip_prefix("0x") {
            (hex, 16)
        } else if let Some(binary) = digits.strip_prefix("0b") {
            (binary, 2)
        } else {
            (digits, 10)
        };
        match i32::from_str_radix(digits, radix) {
            Ok(value) => Ok(sign * i64::from(value)),
            Err(_) => error_with_help(
                self.trimmed(pair),
                format!("the number `{}` is too large", pair.as_str().trim_end()),
                format!("the largest is {}", i32::MAX),
            ),
        }
    }

    /// The text of a string literal.
    pub(super) fn string(&self, pair: &Pair<'_>) -> Built<String> {
        let span = self.trimmed(pair);
        let inner = pair
            .as_str()
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
            .unwrap_or("");
        if inner.is_empty() {
            return error_with_help(
                span,
                "the empty string cannot be used",
                "use the empty set `none` instead",
            );
        }
        let mut text = String::with_capacity(inner.len());
        let mut chars = inner.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                text.push(c);
                continue;
            }
            match chars.next() {
                Some('n') => text.push('\n'),
                Some(c @ ('"' | '\\')) => text.push(c),
                other => {
                    let shown = other.map(String::from).unwrap_or_default();
                    return error_with_help(
                        span,
                        format!("the escape `\\{shown}` is not known"),
                        "the escapes are `\\n`, `\\\"` and `\\\\`",
                    );
                }
            }
        }
        if text.contains(['\r']) {
            return error(span, "a string cannot span lines");
        }
        Ok(text)
    }
}
