//! The Pod Security Standards that pods must meet.

use locus_core::facts::AtomId;
use locus_core::{Span, Value};

use super::Builder;
use crate::kubernetes::model::Workload;
use crate::kubernetes::object::Label;
use crate::kubernetes::release;
use crate::kubernetes::vocabulary::{field, sig};

/// What the server does with pods that do not meet a standard, the strictest first.
const MODES: [&str; 3] = ["enforce", "warn", "audit"];

/// The levels that ask for something.
const LEVELS: [&str; 2] = ["baseline", "restricted"];

/// The prefix of the labels of a namespace that ask for standards.
pub(in crate::kubernetes) const STANDARDS: &str = "pod-security.kubernetes.io/";

struct Asked<'a> {
    level: &'a str,
    release: u8,
    mode: &'static str,
    label: Option<&'a Label>,
    span: Span,
}

impl Builder<'_, '_> {
    /// States the standards that the pods of a workload must meet: the one that is asked for on the command line or in the
    /// settings, and those of the labels of their namespace.
    pub(super) fn standards(&mut self, workload: &Workload<'_>, atom: AtomId) {
        let model = self.model;
        let namespace = model.namespace(workload.object);
        let found = model.find("Namespace", None, namespace);
        let labels = found
            .and_then(|at| model.object(at))
            .map_or(&[][..], |object| object.labels.as_slice());
        let newest = self.options.release;
        let mut asked: Vec<Asked<'_>> = Vec::new();
        if let Some(level) = self.options.pod_security.as_deref() {
            asked.push(Asked {
                level,
                release: newest,
                mode: "enforce",
                label: None,
                span: workload.at,
            });
        }
        for mode in MODES {
            let of = |suffix: &str| {
                let key = |label: &&Label| {
                    let rest = label.key.text.strip_prefix(STANDARDS);
                    rest.and_then(|rest| rest.strip_prefix(mode)) == Some(suffix)
                };
                labels.iter().rev().find(key)
            };
            let Some(label) = of("") else {
                continue;
            };
            let version = of("-version").map_or("latest", |label| &*label.value.text);
            let written = release::parse_label(version);
            asked.push(Asked {
                level: &label.value.text,
                // A version that the cluster does not know yet is the newest that it knows.
                release: written.map_or(newest, |release| release.min(newest)),
                mode,
                label: Some(label),
                span: label.value.span,
            });
        }
        let mut ahead: Vec<AtomId> = Vec::new();
        for asked in asked.iter().filter(|asked| LEVELS.contains(&asked.level)) {
            let standard = self.standard(asked, newest);
            self.fact(field!("Workload", "standards"), atom, standard, asked.span);
            for &other in &ahead {
                self.fact(field!("Standard", "ahead"), standard, other, asked.span);
            }
            ahead.push(standard);
        }
    }

    fn standard(&mut self, asked: &Asked<'_>, newest: u8) -> AtomId {
        let Asked {
            level,
            release,
            mode,
            label,
            span,
        } = *asked;
        let name = match release == newest {
            true => level.to_owned(),
            false => format!("{level} of 1.{release}"),
        };
        let standard = self.facts.atom(sig!("Standard"), name.clone(), span);
        self.facts.set_value(standard, Value::Str(name.into()));
        self.text_fact(field!("Standard", "level"), standard, level, span);
        let field = field!("Standard", "standard_release");
        self.number_fact(field, standard, i64::from(release), span);
        self.text_fact(field!("Standard", "standard_mode"), standard, mode, span);
        if mode != "enforce" {
            self.text_fact(field!("Standard", "advisory"), standard, mode, span);
        }
        if let Some(label) = label {
            let field = field!("Standard", "standard_label");
            self.text_fact(field, standard, &label.key.text, span);
        }
        standard
    }
}
