//! Commands and their scopes: pairs to syntax tree.

use super::paragraphs::Children;
use super::{Builder, Built, Pair, Rule, error_with_help, unexpected};
use crate::ast::{Command, Name, Scope, Target, TypeScope};

impl Builder {
    pub(super) fn commands(&self, pair: Pair<'_>) -> Built<Vec<Command>> {
        let mut label = None;
        let mut commands = Vec::new();
        for child in Children::of(pair) {
            match child.as_rule() {
                Rule::label => {
                    label = match child.clone().into_inner().next() {
                        Some(name) => Some(self.name(name)?),
                        None => return unexpected(self, &child),
                    };
                }
                Rule::command_body => commands.push(self.command(child, label.take())?),
                _ => {}
            }
        }
        Ok(commands)
    }

    fn command(&self, pair: Pair<'_>, label: Option<Name>) -> Built<Command> {
        let mut span = self.trimmed(&pair);
        if let Some(label) = &label {
            span = span.to(label.span);
        }
        let mut is_check = false;
        let mut names = Vec::new();
        let mut block = None;
        let mut scope = Scope::default();
        let mut expect = None;
        for child in Children::of(pair.clone()) {
            match child.as_rule() {
                Rule::k_check => is_check = true,
                Rule::command_target => {
                    for part in child.into_inner() {
                        match part.as_rule() {
                            Rule::block => block = Some(self.block(part, 0)?.expr),
                            _ => names.push(self.name(part)?),
                        }
                    }
                }
                Rule::scope => scope = self.scope(child)?,
                Rule::expect => {
                    if let Some(number) = child.into_inner().nth(1) {
                        expect = Some(self.natural(&number)?);
                    }
                }
                _ => {}
            }
        }
        let mut label = label;
        let target = match (block, names.pop()) {
            (Some(block), name) => {
                label = label.or(name);
                Target::Block(block)
            }
            (None, Some(name)) => {
                label = label.or(names.pop());
                Target::Name(name)
            }
            (None, None) => return unexpected(self, &pair),
        };
        Ok(Command {
            is_check,
            label,
            target,
            scope,
            expect,
            span,
        })
    }

    fn scope(&self, pair: Pair<'_>) -> Built<Scope> {
        let mut scope = Scope::default();
        for child in Children::of(pair) {
            match child.as_rule() {
                Rule::number => scope.overall = Some(self.natural(&child)?),
                Rule::typescopes => {
                    scope.sigs = child
                        .into_inner()
                        .map(|typescope| self.typescope(typescope))
                        .collect::<Built<_>>()?;
                }
                _ => {}
            }
        }
        Ok(scope)
    }

    fn typescope(&self, pair: Pair<'_>) -> Built<TypeScope> {
        let span = self.trimmed(&pair);
        let mut children = Children::of(pair.clone());
        let exact = children.has(Rule::k_exactly);
        let Some(start) = children.eat(Rule::number) else {
            return unexpected(self, &pair);
        };
        let start = self.natural(&start)?;
        let end = children
            .eat(Rule::range)
            .map(|range| {
                let end = range.into_inner().next();
                end.map(|number| self.natural(&number)).transpose()
            })
            .transpose()?;
        let step = match children.eat(Rule::step) {
            Some(step) => match step.into_inner().nth(1) {
                Some(number) => Some(self.natural(&number)?),
                None => None,
            },
            None => None,
        };
        let Some(target) = children.next() else {
            return unexpected(self, &pair);
        };
        let target = match target.as_rule() {
            Rule::scope_word => Name {
                text: target.as_str().trim_end().to_owned(),
                span: self.trimmed(&target),
            },
            _ => self.name(target)?,
        };
        if let Some(Some(end)) = end
            && end < start
        {
            return error_with_help(
                span,
                format!("the range `{start}..{end}` is empty"),
                "the first number is the smallest",
            );
        }
        Ok(TypeScope {
            exact,
            start,
            end,
            step,
            target,
            span,
        })
    }
}
