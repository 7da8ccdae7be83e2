//! Parameters of modules get their signatures, and the same module opened twice becomes one.

use std::collections::HashSet;

use locus_core::{Diagnostic, Span, suggest};

use super::World;
use super::modules::{OpenInst, RawId, is_builtin};
use crate::model::builtin;

impl World<'_> {
    /// Gives every parameter its signature.
    pub(super) fn resolve_params(&mut self, modules: &[usize]) {
        loop {
            let mut changed = false;
            let mut missing: Option<(Option<Span>, String)> = None;
            for &module in modules {
                for open in self.instances[module].opens.clone() {
                    let expected = self.instances[open.target].params.len();
                    if open.args.len() != expected {
                        self.report_open(
                            module,
                            &open,
                            format!(
                                "the module `{}` has {expected} parameters but is given {}",
                                open.module_name,
                                open.args.len()
                            ),
                            "give one signature for each: `open name[A, B]`",
                        );
                        return;
                    }
                    for (at, name) in open.args.iter().enumerate() {
                        let old = self.instances[open.target]
                            .params
                            .get(at)
                            .and_then(|param| param.value);
                        if old.is_some() {
                            continue;
                        }
                        let span = open.span.unwrap_or(self.file_start(module));
                        let Some(value) = self.find_sig(module, name, span) else {
                            missing = Some((open.span, name.clone()));
                            continue;
                        };
                        if value == builtin::NONE.index() {
                            self.report_open(
                                module,
                                &open,
                                "a module cannot be opened with `none`".to_owned(),
                                "give a signature",
                            );
                            return;
                        }
                        if let Some(param) = self.instances[open.target].params.get_mut(at) {
                            param.value = Some(value);
                            changed = true;
                        }
                    }
                }
            }
            match (changed, missing) {
                (true, _) => {}
                (false, None) => return,
                (false, Some((span, name))) => {
                    let root = self.file_start(0);
                    let known = self.sig_names();
                    self.diagnostics.push(
                        Diagnostic::error(
                            "name",
                            format!("the signature `{name}` cannot be found"),
                        )
                        .at(span.unwrap_or(root))
                        .maybe_help(suggest::did_you_mean(
                            &name,
                            known.iter().map(String::as_str),
                        )),
                    );
                    return;
                }
            }
        }
    }

    fn report_open(&mut self, module: usize, open: &OpenInst, message: String, help: &str) {
        let span = open.span.unwrap_or(self.file_start(module));
        self.diagnostics
            .push(Diagnostic::error("module", message).at(span).help(help));
    }

    /// The names of all signatures, for suggestions.
    pub(super) fn sig_names(&self) -> Vec<String> {
        self.raw_sigs.iter().map(|sig| sig.name.clone()).collect()
    }

    pub(super) fn file_start(&self, module: usize) -> Span {
        Span::start_of(self.instances[module].ast.file)
    }

    /// Makes one of instances with the same file and the same parameters.
    pub(super) fn merge_modules(&mut self, modules: &mut Vec<usize>) {
        loop {
            let mut changed = false;
            let mut i = 0;
            while i < modules.len() {
                let mut j = i + 1;
                while let (Some(&a), Some(&b)) = (modules.get(i), modules.get(j)) {
                    if !self.is_same_module(a, b) {
                        j += 1;
                        continue;
                    }
                    changed = true;
                    let (keep, drop) = if i != 0 && self.is_better_path(b, a) {
                        (b, a)
                    } else {
                        (a, b)
                    };
                    if let Some(slot) = modules.get_mut(i) {
                        *slot = keep;
                    }
                    modules.remove(j);
                    self.replace_module(modules, drop, keep);
                }
                i += 1;
            }
            if !changed {
                return;
            }
        }
    }

    fn is_same_module(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.instances[a], &self.instances[b]);
        a.file_path == b.file_path
            && a.params.len() == b.params.len()
            && a.params
                .iter()
                .zip(&b.params)
                .all(|(a, b)| a.value == b.value)
    }

    /// Whether the path of `a` is the better name for both.
    fn is_better_path(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.instances[a].path, &self.instances[b].path);
        let key = |path: &str| {
            (
                path.contains('$'),
                path.matches('/').count(),
                path.to_lowercase(),
            )
        };
        (key(a), a) < (key(b), b)
    }

    fn replace_module(&mut self, modules: &[usize], drop: usize, keep: usize) {
        for &module in modules {
            let values: Vec<Option<RawId>> = self.instances[module]
                .params
                .iter()
                .map(|param| {
                    let raw = param.value?;
                    if self.raw_sigs[raw].module != drop || is_builtin(raw) {
                        return Some(raw);
                    }
                    let name = &self.raw_sigs[raw].name;
                    self.instances[keep].sig_by_name.get(name).copied()
                })
                .collect();
            let instance = &mut self.instances[module];
            for (param, value) in instance.params.iter_mut().zip(values) {
                param.value = value;
            }
            for open in &mut instance.opens {
                if open.target == drop {
                    open.target = keep;
                }
            }
        }
    }

    /// All modules that a module leads to, itself first; `nameable` leaves out what is private to others.
    pub(super) fn reachable(&self, from: usize, nameable: bool) -> Vec<usize> {
        fn visit(
            world: &World<'_>,
            module: usize,
            level: usize,
            nameable: bool,
            seen: &mut HashSet<usize>,
            all: &mut Vec<usize>,
        ) {
            if !seen.insert(module) {
                return;
            }
            all.push(module);
            for open in &world.instances[module].opens {
                if !(nameable && level > 0 && open.is_private) {
                    visit(world, open.target, level + 1, nameable, seen, all);
                }
            }
        }
        let mut all = Vec::new();
        visit(self, from, 0, nameable, &mut HashSet::new(), &mut all);
        all
    }
}
