//! What can follow a dot in a model, by the type of what stands before it.

use locus_grammar::model::{Model, SigId, SigKind, Type, builtin};

use super::Snapshot;
use super::model::{ModelReport, NameKind, for_each_expr, shown_type};

/// Something that can follow a dot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: NameKind,
    /// Its declaration in one line.
    pub shown: String,
}

impl Snapshot {
    /// The fields and functions that can follow a dot at a place of a model, with the word after the dot as far as it is
    /// written; none when there is no dot, or the model cannot be read without what follows it.
    pub fn after_dot(&self, path: &str, text: &str, offset: usize) -> Option<Vec<Member>> {
        let before = text.get(..offset)?;
        let dot = before.trim_end_matches(is_word).strip_suffix('.')?.len();
        let start = chain_start(text.get(..dot)?);
        if start == dot {
            return None;
        }
        // What follows the dot is not known yet. Where a formula stands, what is before it is made one.
        let (head, chain, rest) = (
            text.get(..start)?,
            text.get(start..dot)?,
            text.get(offset..)?,
        );
        let rest = rest.trim_start_matches(is_word);
        let bare = (format!("{head}{chain}{rest}"), dot);
        let formula = (format!("{head}some {chain}{rest}"), dot + "some ".len());
        [bare, formula].into_iter().find_map(|(text, end)| {
            let mut tried = self.clone();
            // What is tried is not remembered.
            tried.memo = None;
            tried.files.overlay(path, Some(text.into_bytes().into()));
            tried.model(path).members_after(end - chain.len()..end)
        })
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '\'')
}

/// Where the expression starts that ends a text: names, joins, closures and brackets that belong together.
fn chain_start(text: &str) -> usize {
    let mut start = text.len();
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' if depth > 0 => depth -= 1,
            _ if depth > 0 || is_word(c) || matches!(c, '.' | '~' | '^' | '*' | '/') => {}
            _ => break,
        }
        start = at;
    }
    start
}

impl ModelReport {
    /// The fields and functions that the expression at a place can be joined with.
    fn members_after(&self, place: std::ops::Range<usize>) -> Option<Vec<Member>> {
        let model = self.model.as_ref()?;
        let mut whole: Option<(usize, Type)> = None;
        for_each_expr(model, &mut |expr| {
            let (start, end) = (expr.span.start as usize, expr.span.end as usize);
            let is_inside = expr.span.file == self.file && place.start <= start && end == place.end;
            let length = expr.span.len();
            if is_inside && whole.as_ref().is_none_or(|(known, _)| *known < length) {
                whole = Some((length, expr.ty.clone()));
            }
        });
        let (_, ty) = whole?;
        let last: Vec<SigId> = ty
            .products
            .iter()
            .filter_map(|one| one.last().copied())
            .collect();
        let fits = |first: Option<&SigId>| {
            first.is_some_and(|first| last.iter().any(|sig| can_meet(model, *sig, *first)))
        };
        let fields = model.fields.iter().filter(|field| !field.is_private);
        let fields = fields.filter(|field| field.ty.products.iter().any(|one| fits(one.first())));
        let mut members: Vec<Member> = fields
            .map(|field| Member {
                name: field.name.clone(),
                kind: NameKind::Field,
                shown: format!("{}: {}", field.name, shown_type(model, &field.ty)),
            })
            .collect();
        let funs = model
            .funcs
            .iter()
            .filter(|func| !func.is_pred && !func.is_private);
        for func in funs {
            // What takes everything says nothing about what stands before the dot.
            let takes = func.params.first().map(|decl| &decl.bound.ty.products);
            let is_meant = takes.is_some_and(|takes| {
                takes
                    .iter()
                    .any(|one| fits(one.first()) && one.first() != Some(&builtin::UNIV))
            });
            let Some(result) = func.result.as_ref().filter(|_| is_meant) else {
                continue;
            };
            let name = func.label.rsplit('/').next().unwrap_or(&func.label);
            members.push(Member {
                name: name.to_owned(),
                kind: NameKind::Fun,
                shown: format!("fun {name}: {}", shown_type(model, &result.ty)),
            });
        }
        Some(members)
    }
}

/// Whether two signatures can have an atom in common: one is the other, or below it.
fn can_meet(model: &Model, a: SigId, b: SigId) -> bool {
    is_below(model, a, b) || is_below(model, b, a)
}

fn is_below(model: &Model, sig: SigId, above: SigId) -> bool {
    let mut waiting = vec![sig];
    let mut seen = Vec::new();
    while let Some(one) = waiting.pop() {
        if one == above {
            return true;
        }
        if seen.contains(&one) {
            continue;
        }
        seen.push(one);
        match &model.sig(one).kind {
            SigKind::Builtin => {}
            SigKind::Prim { parent } => waiting.push(*parent),
            SigKind::Subset { parents, .. } => waiting.extend(parents),
        }
    }
    false
}
