//! Paragraphs: pairs to syntax tree.

use locus_core::Span;
use pest::iterators::Pairs;

use super::{Builder, Built, Pair, Rule, error, error_with_help, unexpected};
use crate::ast::{
    Decl, Enum, Expr, Func, Header, Macro, Mult, Name, Named, Open, Paragraph, ParagraphKind, Sig,
    SigParent,
};

/// The children of a pair, taken in order.
pub(super) struct Children<'a>(Pairs<'a, Rule>);

impl<'a> Children<'a> {
    pub(super) fn of(pair: Pair<'a>) -> Self {
        Children(pair.into_inner())
    }

    /// The next child if it is of this rule.
    pub(super) fn eat(&mut self, rule: Rule) -> Option<Pair<'a>> {
        (self.0.peek()?.as_rule() == rule)
            .then(|| self.0.next())
            .flatten()
    }

    /// Whether the next child is of this rule; it is taken if so.
    pub(super) fn has(&mut self, rule: Rule) -> bool {
        self.eat(rule).is_some()
    }
}

impl<'a> Iterator for Children<'a> {
    type Item = Pair<'a>;

    fn next(&mut self) -> Option<Pair<'a>> {
        self.0.next()
    }
}

impl Builder {
    /// The one paragraph of a piece of text.
    pub(super) fn paragraph(
        &self,
        pairs: Pairs<'_, Rule>,
        doc: Option<String>,
    ) -> Built<Paragraph> {
        let Some(pair) = pairs
            .flatten()
            .find(|pair| pair.as_rule() == Rule::paragraph)
        else {
            return error(
                Span::new(self.file, self.offset, self.offset),
                "a paragraph is missing here",
            );
        };
        let span = self.trimmed(&pair);
        let Some(inner) = pair.clone().into_inner().next() else {
            return unexpected(self, &pair);
        };
        let kind = match inner.as_rule() {
            Rule::header => ParagraphKind::Header(self.header(inner)?),
            Rule::open_decl => ParagraphKind::Open(self.open(inner)?),
            Rule::enum_decl => ParagraphKind::Enum(self.enumeration(inner)?),
            Rule::fact_decl => ParagraphKind::Fact(self.named(inner)?),
            Rule::assert_decl => ParagraphKind::Assert(self.named(inner)?),
            Rule::sig_decl => ParagraphKind::Sig(self.sig(inner)?),
            Rule::fun_decl | Rule::pred_decl => ParagraphKind::Func(self.func(inner)?),
            Rule::macro_decl => ParagraphKind::Macro(self.macro_decl(inner)?),
            Rule::command => ParagraphKind::Command(self.commands(inner)?),
            _ => return unexpected(self, &inner),
        };
        Ok(Paragraph { kind, span, doc })
    }

    /// Where a pair is written, without the blanks it may end with.
    pub(super) fn trimmed(&self, pair: &Pair<'_>) -> Span {
        let start = self.offset + pair.as_span().start();
        Span::new(self.file, start, start + pair.as_str().trim_end().len())
    }

    /// A name; its parts may have blanks between them.
    pub(super) fn name(&self, pair: Pair<'_>) -> Built<Name> {
        let pair = match pair.as_rule() {
            Rule::sig_ref => pair.into_inner().next(),
            _ => Some(pair),
        };
        let Some(pair) = pair else {
            return error(
                Span::new(self.file, self.offset, self.offset),
                "a name is missing here",
            );
        };
        let mut span = self.span(&pair);
        let mut text = String::new();
        let parts = pair.clone().into_inner();
        if pair.as_rule() == Rule::ident {
            text.push_str(pair.as_str());
        }
        for part in parts {
            if !text.is_empty() {
                text.push('/');
            }
            text.push_str(part.as_str().trim_end());
            let end = self.trimmed(&part).end;
            span.end = end.max(span.start);
        }
        Ok(Name { text, span })
    }

    fn names(&self, pair: Pair<'_>) -> Built<Vec<Name>> {
        pair.into_inner().map(|name| self.name(name)).collect()
    }

    fn header(&self, pair: Pair<'_>) -> Built<Header> {
        let mut children = Children::of(pair.clone());
        children.eat(Rule::k_module);
        let Some(name) = children.next() else {
            return unexpected(self, &pair);
        };
        let name = self.name(name)?;
        let mut params = Vec::new();
        for param in children {
            let mut inner = Children::of(param.clone());
            let exact = inner.has(Rule::k_exactly);
            let Some(name) = inner.next() else {
                return unexpected(self, &param);
            };
            params.push((self.name(name)?, exact));
        }
        Ok(Header { name, params })
    }

    fn open(&self, pair: Pair<'_>) -> Built<Open> {
        let mut children = Children::of(pair.clone());
        let is_private = children.has(Rule::k_private);
        children.eat(Rule::k_open);
        let Some(name) = children.eat(Rule::name) else {
            return unexpected(self, &pair);
        };
        let name = self.name(name)?;
        let args = match children.eat(Rule::open_args) {
            Some(args) => self.names(args)?,
            None => Vec::new(),
        };
        children.eat(Rule::k_as);
        let alias = children.next().map(|name| self.name(name)).transpose()?;
        Ok(Open {
            name,
            args,
            alias,
            is_private,
        })
    }

    fn enumeration(&self, pair: Pair<'_>) -> Built<Enum> {
        let mut children = Children::of(pair.clone());
        let is_private = children.has(Rule::k_private);
        children.eat(Rule::k_enum);
        let Some(name) = children.eat(Rule::name) else {
            return unexpected(self, &pair);
        };
        let name = self.name(name)?;
        let values = match children.eat(Rule::names) {
            Some(names) => self.names(names)?,
            None => {
                return error_with_help(
                    name.span,
                    format!("the enumeration `{}` has no values", name.text),
                    "an enumeration needs at least one: `enum Color { Red, Green }`",
                );
            }
        };
        Ok(Enum {
            name,
            values,
            is_private,
        })
    }

    fn named(&self, pair: Pair<'_>) -> Built<Named> {
        let mut children = Children::of(pair.clone());
        let _keyword = children.next();
        let name = if let Some(name) = children.eat(Rule::name) {
            Some(self.name(name)?)
        } else if let Some(string) = children.eat(Rule::string) {
            let span = self.span(&string);
            Some(Name {
                text: self.string(&string)?,
                span,
            })
        } else {
            None
        };
        let Some(block) = children.next() else {
            return unexpected(self, &pair);
        };
        Ok(Named {
            name,
            body: self.block(block, 0)?.expr,
        })
    }

    fn sig(&self, pair: Pair<'_>) -> Built<Sig> {
        let mut sig = Sig {
            names: Vec::new(),
            is_abstract: false,
            mults: Vec::new(),
            is_private: false,
            is_var: false,
            parent: SigParent::None,
            fields: Vec::new(),
            fact: None,
        };
        for child in Children::of(pair) {
            match child.as_rule() {
                Rule::sig_qualifier => self.sig_qualifier(child, &mut sig)?,
                Rule::names => sig.names = self.names(child)?,
                Rule::sig_parent => sig.parent = self.sig_parent(child)?,
                Rule::loose_decls => sig.fields = self.decls(child, 0)?.0,
                Rule::block => sig.fact = Some(self.block(child, 0)?.expr),
                _ => {}
            }
        }
        Ok(sig)
    }

    fn sig_qualifier(&self, pair: Pair<'_>, sig: &mut Sig) -> Built<()> {
        let span = self.trimmed(&pair);
        let word = pair.as_str().trim_end();
        let mult = match word {
            "lone" => Some(Mult::Lone),
            "one" => Some(Mult::One),
            "some" => Some(Mult::Some),
            _ => None,
        };
        let repeated = match (word, mult) {
            ("abstract", _) => std::mem::replace(&mut sig.is_abstract, true),
            ("private", _) => std::mem::replace(&mut sig.is_private, true),
            ("var", _) => std::mem::replace(&mut sig.is_var, true),
            (_, Some(mult)) => {
                let repeated = sig.mults.iter().any(|(other, _)| *other == mult);
                sig.mults.push((mult, span));
                repeated
            }
            _ => false,
        };
        if repeated {
            return error_with_help(
                span,
                format!("`{word}` is given twice for the same signature"),
                "remove one of them",
            );
        }
        if let [(first, _), (second, span)] = sig.mults.as_slice() {
            let (first, second) = (first.word(), second.word());
            return error_with_help(
                *span,
                format!("a signature cannot be both `{first}` and `{second}`"),
                "keep one of them",
            );
        }
        Ok(())
    }

    fn sig_parent(&self, pair: Pair<'_>) -> Built<SigParent> {
        let mut children = Children::of(pair.clone());
        let Some(keyword) = children.next() else {
            return unexpected(self, &pair);
        };
        let mut names = children
            .map(|name| self.name(name))
            .collect::<Built<Vec<_>>>()?;
        Ok(match keyword.as_rule() {
            Rule::k_extends => match names.pop() {
                Some(name) => SigParent::Extends(name),
                None => return unexpected(self, &pair),
            },
            Rule::k_in => SigParent::In(names),
            _ => SigParent::Equals(names),
        })
    }

    fn func(&self, pair: Pair<'_>) -> Built<Func> {
        let mut is_private = false;
        let mut receiver = None;
        let mut name = None;
        let mut params = Vec::new();
        let mut result = None;
        let mut body = None;
        for child in Children::of(pair.clone()) {
            match child.as_rule() {
                Rule::k_private => is_private = true,
                Rule::receiver => {
                    receiver = match child.clone().into_inner().next() {
                        Some(sig) => Some(self.name(sig)?),
                        None => return unexpected(self, &child),
                    };
                }
                Rule::name => name = Some(self.name(child)?),
                Rule::params => {
                    if let Some(decls) = child.into_inner().next() {
                        params = self.decls(decls, 0)?.0;
                    }
                }
                Rule::bound => result = Some(self.bound(child, 0)?.expr),
                Rule::block => body = Some(self.block(child, 0)?.expr),
                _ => {}
            }
        }
        let (Some(name), Some(body)) = (name, body) else {
            return unexpected(self, &pair);
        };
        for decl in &params {
            self.check_param(decl)?;
        }
        Ok(Func {
            receiver,
            name,
            params,
            result,
            body,
            is_private,
        })
    }

    fn check_param(&self, decl: &Decl) -> Built<()> {
        let name = decl.names.first().map_or("", |name| name.text.as_str());
        if decl.is_private {
            return error_with_help(
                decl.span,
                format!("the parameter `{name}` cannot be private"),
                "parameters are always private; remove `private`",
            );
        }
        if let Some(span) = decl.disjoint_values {
            return error_with_help(
                span,
                format!("the parameter `{name}` cannot have a `disj` bound"),
                "only fields can; write `disj` before the names to keep parameters apart",
            );
        }
        Ok(())
    }

    fn macro_decl(&self, pair: Pair<'_>) -> Built<Macro> {
        let mut is_private = false;
        let mut name = None;
        let mut params = Vec::new();
        let mut body: Option<Expr> = None;
        for child in Children::of(pair.clone()) {
            match child.as_rule() {
                Rule::k_private => is_private = true,
                Rule::name => name = Some(self.name(child)?),
                Rule::macro_params => {
                    if let Some(names) = child.into_inner().next() {
                        params = self.names(names)?;
                    }
                }
                Rule::block => body = Some(self.block(child, 0)?.expr),
                Rule::expr => body = Some(self.expr(child, 0)?.expr),
                _ => {}
            }
        }
        let (Some(name), Some(body)) = (name, body) else {
            return unexpected(self, &pair);
        };
        Ok(Macro {
            name,
            params,
            body,
            is_private,
        })
    }
}
