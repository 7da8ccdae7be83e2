//! How many atoms each signature gets, as Alloy decides it.

use locus_core::Diagnostic;
use locus_grammar::model::{Command, Const, ExprKind, Model, Mult, Sig, SigId, SigKind, builtin};

use super::Refusal;
use crate::alloy::temporal::each_expr;

/// Bits of an integer unless the command says otherwise.
const DEFAULT_BITWIDTH: u32 = 4;
/// Longest sequence unless the command says otherwise.
const DEFAULT_MAX_SEQ: u32 = 4;
/// Scope of top-level signatures when the command has none at all.
const DEFAULT_SCOPE: u32 = 3;
/// Alloy's own limit; 2^30 integer atoms cannot be enumerated anyway.
const MAX_BITWIDTH: u32 = 30;
/// Beyond this many integer atoms nothing can be solved, only memory be exhausted.
const PRACTICAL_BITWIDTH: u32 = 20;

/// The scope of every signature for one command.
#[derive(Debug)]
pub(super) struct Scope {
    /// Number of atoms by signature; `None` for subset and built-in signatures.
    sizes: Vec<Option<u32>>,
    exact: Vec<bool>,
    /// Bits of an integer.
    pub(super) bitwidth: u32,
    /// Length of the longest sequence.
    pub(super) max_seq: u32,
    /// The string literals, quoted as atoms are named.
    pub(super) strings: Vec<String>,
}

/// Smallest and largest integer of a bit width.
pub(super) fn int_range(bitwidth: u32) -> (i64, i64) {
    if bitwidth == 0 {
        return (0, -1);
    }
    let half = 1_i64 << (bitwidth - 1);
    (-half, half - 1)
}

/// The name without the `this/` of the root module.
pub(super) fn short_name(sig: &Sig) -> &str {
    sig.label.strip_prefix("this/").unwrap_or(&sig.label)
}

fn is_top_level(sig: &Sig) -> bool {
    matches!(sig.kind, SigKind::Prim { parent } if parent == builtin::UNIV)
}

/// Ids of the signatures that have atoms of their own, in order.
pub(super) fn prim_sigs(model: &Model) -> impl Iterator<Item = (SigId, &Sig)> {
    all_sigs(model).filter(|(_, sig)| matches!(sig.kind, SigKind::Prim { .. }))
}

/// Ids of top-level signatures, in order.
pub(super) fn top_level(model: &Model) -> impl Iterator<Item = (SigId, &Sig)> {
    all_sigs(model).filter(|(_, sig)| is_top_level(sig))
}

/// All signatures with their ids.
pub(super) fn all_sigs(model: &Model) -> impl Iterator<Item = (SigId, &Sig)> {
    model
        .sigs
        .iter()
        .enumerate()
        .map(|(index, sig)| (SigId(u32::try_from(index).unwrap_or(u32::MAX)), sig))
}

#[expect(
    clippy::indexing_slicing,
    reason = "both lists have an entry for every signature of the model"
)]
impl Scope {
    /// Number of atoms of a signature, when it has a scope.
    pub(super) fn size(&self, sig: SigId) -> Option<u32> {
        self.sizes[sig.index()]
    }

    /// Whether a signature has exactly that many atoms.
    pub(super) fn is_exact(&self, sig: SigId) -> bool {
        self.exact[sig.index()]
    }

    fn set(&mut self, sig: SigId, size: u32) {
        self.sizes[sig.index()] = Some(size);
    }

    fn set_exact(&mut self, sig: SigId) {
        self.exact[sig.index()] = true;
    }

    /// Decides the scope of every signature.
    pub(super) fn compute(model: &Model, command: &Command) -> Result<Self, Refusal> {
        let mut scope = Scope {
            sizes: vec![None; model.sigs.len()],
            exact: vec![false; model.sigs.len()],
            bitwidth: command.bitwidth.unwrap_or(DEFAULT_BITWIDTH),
            max_seq: 0,
            strings: Vec::new(),
        };
        scope.take_explicit(model, command)?;
        scope.take_multiplicities(model, command)?;
        scope.derive(model, command)?;
        scope.set_integers(command)?;
        for (id, _) in top_level(model) {
            scope.raise_to_children(model, command, id);
        }
        scope.strings = strings(model, command);
        Ok(scope)
    }

    fn take_explicit(&mut self, model: &Model, command: &Command) -> Result<(), Refusal> {
        for entry in &command.scopes {
            let sig = model.sig(entry.sig);
            let name = short_name(sig);
            let refuse = |message: String| {
                Err(Box::new(
                    Diagnostic::error("scope", message)
                        .at(entry.span)
                        .related(sig.span, format!("`{name}` is declared here")),
                ))
            };
            let size = entry.size;
            match sig.kind {
                SigKind::Builtin => {
                    return refuse(format!(
                        "the built-in signature `{name}` cannot have a scope"
                    ));
                }
                SigKind::Subset { .. } => {
                    return refuse(format!(
                        "the subset signature `{name}` cannot have a scope; give one to what it is a subset of"
                    ));
                }
                SigKind::Prim { .. } => {}
            }
            if sig.is_enum {
                return refuse(format!("the enum `{name}` cannot have a scope"));
            }
            let fits = match sig.mult {
                Mult::One => size == 1,
                Mult::Lone => size <= 1,
                Mult::Some => size >= 1,
                Mult::Set => true,
            };
            if !fits {
                return refuse(format!(
                    "`{name}` is declared `{}`, so its scope cannot be {size}",
                    match sig.mult {
                        Mult::One => "one",
                        Mult::Lone => "lone",
                        Mult::Some => "some",
                        Mult::Set => "set",
                    }
                ));
            }
            if let Some(old) = self.size(entry.sig)
                && old != size
            {
                return refuse(format!(
                    "`{name}` already has the scope {old}, which cannot become {size}"
                ));
            }
            self.set(entry.sig, size);
            if entry.exact {
                self.set_exact(entry.sig);
            }
        }
        Ok(())
    }

    fn take_multiplicities(&mut self, model: &Model, command: &Command) -> Result<(), Refusal> {
        for (id, sig) in prim_sigs(model) {
            match sig.mult {
                Mult::One => {
                    self.set_exact(id);
                    self.give(model, command, id, 1)?;
                }
                Mult::Lone if self.size(id) != Some(0) => self.give(model, command, id, 1)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Sets a scope that must not contradict one that is already there.
    fn give(
        &mut self,
        model: &Model,
        command: &Command,
        id: SigId,
        size: u32,
    ) -> Result<(), Refusal> {
        match self.size(id) {
            Some(old) if old != size => {
                let sig = model.sig(id);
                Err(Box::new(
                    Diagnostic::error(
                        "scope",
                        format!(
                            "`{}` already has the scope {old}, which cannot become {size}",
                            short_name(sig)
                        ),
                    )
                    .at(command.span)
                    .related(sig.span, "declared here"),
                ))
            }
            _ => {
                self.set(id, size);
                Ok(())
            }
        }
    }

    /// Derives the scopes that the command leaves open: from the children of abstract signatures,
    /// from the overall scope, from the parent; in this order of preference, until nothing changes.
    fn derive(&mut self, model: &Model, command: &Command) -> Result<(), Refusal> {
        loop {
            if self.derive_abstract(model) {
                while self.derive_abstract(model) {}
                continue;
            }
            if self.derive_overall(model, command)? {
                continue;
            }
            if self.derive_from_parent(model, command)? {
                continue;
            }
            return Ok(());
        }
    }

    fn derive_abstract(&mut self, model: &Model) -> bool {
        let mut changed = false;
        for (id, sig) in prim_sigs(model) {
            if !sig.is_abstract || sig.children.is_empty() {
                continue;
            }
            let mut sum = 0_u32;
            let mut missing = Vec::new();
            for &child in &sig.children {
                match self.size(child) {
                    Some(size) => sum = sum.saturating_add(size),
                    None => missing.push(child),
                }
            }
            match (self.size(id), missing.as_slice()) {
                (None, []) => {
                    self.set(id, sum);
                    changed = true;
                }
                (Some(size), [child]) => {
                    self.set(*child, size.saturating_sub(sum));
                    changed = true;
                }
                _ => {}
            }
        }
        changed
    }

    fn derive_overall(&mut self, model: &Model, command: &Command) -> Result<bool, Refusal> {
        let overall = match command.overall {
            None if command.scopes.is_empty() && command.max_string.is_none() => {
                Some(DEFAULT_SCOPE)
            }
            overall => overall,
        };
        let mut changed = false;
        for (id, sig) in top_level(model) {
            if self.size(id).is_some() {
                continue;
            }
            if sig.is_enum {
                // Without values it has no atoms; with values its scope was derived from them.
                self.set(id, 0);
                continue;
            }
            let Some(overall) = overall else {
                return Err(missing_scope(model, command, id));
            };
            self.set(id, overall);
            changed = true;
        }
        Ok(changed)
    }

    fn derive_from_parent(&mut self, model: &Model, command: &Command) -> Result<bool, Refusal> {
        let mut changed = false;
        let mut trouble = None;
        for (id, sig) in prim_sigs(model) {
            let SigKind::Prim { parent } = sig.kind else {
                continue;
            };
            if parent == builtin::UNIV || self.size(id).is_some() {
                continue;
            }
            match self.size(parent) {
                Some(size) => {
                    self.set(id, size);
                    changed = true;
                }
                None => trouble = Some(id),
            }
        }
        match trouble {
            Some(id) if !changed => Err(missing_scope(model, command, id)),
            _ => Ok(changed),
        }
    }

    fn set_integers(&mut self, command: &Command) -> Result<(), Refusal> {
        let refuse = |message: String| {
            Err(Box::new(
                Diagnostic::error("scope", message).at(command.span),
            ))
        };
        if self.bitwidth > MAX_BITWIDTH {
            return refuse(format!(
                "a bit width of {} is more than {MAX_BITWIDTH}",
                self.bitwidth
            ));
        }
        if self.bitwidth > PRACTICAL_BITWIDTH {
            return refuse(format!(
                "a bit width of {} gives 2^{} integer atoms, more than can be solved",
                self.bitwidth, self.bitwidth
            ));
        }
        let max = u32::try_from(int_range(self.bitwidth).1).unwrap_or(0);
        self.max_seq = match command.max_seq {
            Some(length) if length > max => {
                return refuse(format!(
                    "with a bit width of {} a sequence cannot be longer than {max}",
                    self.bitwidth
                ));
            }
            Some(length) => length,
            None => command.overall.unwrap_or(DEFAULT_MAX_SEQ).min(max),
        };
        Ok(())
    }

    /// Raises a scope to the number of atoms that its children certainly have; returns how many
    /// atoms the signature certainly has.
    fn raise_to_children(&mut self, model: &Model, command: &Command, id: SigId) -> u32 {
        let sig = model.sig(id);
        let lower: u32 = sig
            .children
            .iter()
            .map(|&child| self.raise_to_children(model, command, child))
            .sum();
        let size = self.size(id).unwrap_or(0).max(lower);
        self.set(id, size);
        if command.exact_sigs.contains(&id) {
            self.set_exact(id);
        }
        if self.is_exact(id) || is_top_level(sig) {
            size
        } else {
            lower
        }
    }
}

fn missing_scope(model: &Model, command: &Command, id: SigId) -> Refusal {
    let sig = model.sig(id);
    let name = short_name(sig);
    Box::new(
        Diagnostic::error("scope", format!("the command gives no scope for `{name}`"))
            .at(command.span)
            .related(sig.span, format!("`{name}` is declared here"))
            .help(format!(
                "add `{name}` to the scopes, or give an overall scope: `for 3 but ...`"
            )),
    )
}

/// Names of the string atoms: the literals of the command's formula and of all facts, and as many
/// more as the command's scope of `String` asks for.
fn strings(model: &Model, command: &Command) -> Vec<String> {
    let mut names = std::collections::BTreeSet::new();
    each_expr(model, command, &mut |expr| {
        if let ExprKind::Const(Const::Str(text)) = &expr.kind {
            names.insert(string_atom(text));
        }
    });
    if let Some((size, _)) = command.max_string {
        let mut next = 0;
        while names.len() < size as usize {
            names.insert(format!("\"String{next}\""));
            next += 1;
        }
    }
    names.into_iter().collect()
}

/// The name of the atom of a string literal.
pub(super) fn string_atom(text: &str) -> String {
    format!("\"{text}\"")
}
