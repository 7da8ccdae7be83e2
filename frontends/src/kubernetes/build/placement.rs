//! Whether pods fit on nodes, asked for a solver to answer.

use std::sync::Arc;

use locus_core::Span;
use locus_core::facts::AtomId;
use locus_core::placement::{Open, Question, Told};
use locus_core::value::SymbolId;
use locus_core::vocabulary::SigId;

use super::Builder;
use crate::kubernetes::access::Access as _;
use crate::kubernetes::object::Object;
use crate::kubernetes::placement::{self, Stated};
use crate::kubernetes::vocabulary::{field, sig};

/// What is asked about a problem.
struct Asked {
    kind: SigId,
    places: Option<Vec<usize>>,
    more: Vec<(usize, usize)>,
    /// What is lost.
    about: Option<String>,
    /// The group that it is about.
    group: Option<usize>,
}

impl Builder<'_, '_> {
    /// Asks whether pods fit on the nodes that are known.
    pub(super) fn placement(&mut self) -> Vec<Question> {
        let Some(stated) = placement::state(self.model, &self.scales, &self.options.nodes) else {
            return Vec::new();
        };
        if stated.problem.groups.is_empty() {
            return Vec::new();
        }
        let lines: Vec<AtomId> = stated
            .lines
            .iter()
            .map(|line| {
                let sig = sig!("PlacementLine");
                self.facts.atom(sig, line.text.clone(), line.span)
            })
            .collect();
        let plain = |kind: SigId| Asked {
            kind,
            places: None,
            more: Vec::new(),
            about: None,
            group: None,
        };
        let mut all = vec![plain(sig!("Placement"))];
        all.extend(self.losses(&stated));
        for &group in &stated.rare {
            all.push(Asked {
                group: Some(group),
                ..plain(sig!("JobPlacement"))
            });
        }
        for (group, &workload) in stated.workloads.iter().enumerate() {
            let Some(at) = self.model.workloads.get(workload) else {
                continue;
            };
            let at = at.object;
            let Some(object) = self.model.object(at) else {
                continue;
            };
            let count = self.scales.count(at, object);
            let open = self.open_replicas(at).and(self.scales.scaled(at));
            let asks = match open {
                Some(scaled) => {
                    (scaled.least..=scaled.most).any(|count| surge(object, count).is_some())
                }
                None => surge(object, count).is_some(),
            };
            if asks {
                all.push(Asked {
                    more: vec![(group, 1)],
                    group: Some(group),
                    ..plain(sig!("SurgePlacement"))
                });
            }
            let most = self.scales.scaled(at).map(|scaled| scaled.most);
            if let Some(most) = most.filter(|most| *most > count || open.is_some()) {
                all.push(Asked {
                    more: vec![(group, most.saturating_sub(count))],
                    group: Some(group),
                    ..plain(sig!("ScalePlacement"))
                });
            }
        }
        let (problem, lines) = (Arc::new(stated.problem.clone()), Arc::new(lines));
        let span = self_span(&stated);
        let truths = [self.truth(false, span), self.truth(true, span)];
        let open = self.open_groups(&stated);
        let workloads = stated.workloads.iter().map(|&id| {
            let workload = self.model.workloads.get(id)?;
            self.atom_of(workload.object)
        });
        let told = Told {
            groups: Arc::new(workloads.collect()),
            sig: sig!("PendingPods"),
            of: field!("PendingPods", "pods_of"),
            pending: field!("PlacementQuestion", "pending"),
            driven: field!("PlacementQuestion", "driven_out"),
            drives: field!("PlacementQuestion", "drives_out"),
        };
        let most: Vec<Option<(usize, AtomId)>> = all
            .iter()
            .map(|asked| self.most_line(&stated, asked))
            .collect();
        let questions = all.into_iter().zip(most).map(|(asked, most)| {
            let mut lines = lines.clone();
            if let Some((line, atom)) = most
                && let Some(slot) = Arc::make_mut(&mut lines).get_mut(line)
            {
                *slot = atom;
            }
            let job = asked.kind == sig!("JobPlacement");
            let out = stated.rare.iter().copied();
            let out = out.filter(|rare| !(job && asked.group == Some(*rare)));
            Question {
                problem: problem.clone(),
                places: asked.places.clone(),
                more: asked.more.clone(),
                out: out.collect(),
                asked: self.question(&stated, &asked),
                conflict: field!("PlacementQuestion", "unplaceable"),
                impossible: field!("PlacementQuestion", "impossible"),
                truths,
                open: self.open_question(&open, &asked, span),
                about: asked.group,
                told: told.clone(),
                lines,
            }
        });
        questions.collect()
    }

    /// The line that says how many pods there are when an autoscaler asks for the most, in place of how many there are now.
    fn most_line(&mut self, stated: &Stated, asked: &Asked) -> Option<(usize, AtomId)> {
        let group = asked
            .group
            .filter(|_| asked.kind == sig!("ScalePlacement"))?;
        let line = stated.problem.groups.get(group)?.count_line?;
        let workload = self.model.workloads.get(*stated.workloads.get(group)?)?;
        let scaled = self.scales.scaled(workload.object)?;
        let text = format!("{} pods", scaled.most);
        let atom = self.facts.atom(sig!("PlacementLine"), text, scaled.most_at);
        Some((line, atom))
    }

    /// The groups whose numbers of pods are open: by how many they may grow, and their symbols.
    fn open_groups(&self, stated: &Stated) -> Vec<(usize, usize, SymbolId)> {
        let mut open = Vec::new();
        for (group, &workload) in stated.workloads.iter().enumerate() {
            let workload = self.model.workloads.get(workload);
            let found = workload.and_then(|workload| {
                let symbol = self.open_replicas(workload.object)?;
                let scaled = self.scales.scaled(workload.object)?;
                Some((symbol, scaled.most))
            });
            if let Some((symbol, most)) = found {
                let count = stated.problem.groups.get(group);
                let count = count.map_or(0, |group| group.count);
                open.push((group, most.saturating_sub(count), symbol));
            }
        }
        open
    }

    /// What stands for the answer to a question while numbers of pods are open.
    fn open_question(
        &mut self,
        open: &[(usize, usize, SymbolId)],
        asked: &Asked,
        span: Span,
    ) -> Option<Open> {
        // What an autoscaler asks for at most is the same however many there are now.
        let fixed = asked.group.filter(|_| asked.kind == sig!("ScalePlacement"));
        let open = open.iter().filter(|(group, ..)| Some(*group) != fixed);
        let (more, depends): (Vec<_>, Vec<_>) = open
            .map(|&(group, more, symbol)| ((group, more), symbol))
            .unzip();
        if depends.is_empty() {
            return None;
        }
        let truth = self.open_truth("there is no placement", &depends, span);
        Some(Open { truth, more })
    }

    /// The thing that stands for a question.
    fn question(&mut self, stated: &Stated, asked: &Asked) -> AtomId {
        let group = asked.group.unwrap_or(0);
        let workload = stated.workloads.get(group);
        let workload = workload.and_then(|&id| self.model.workloads.get(id));
        let object = workload.map(|workload| workload.object);
        let span: Option<Span> = object
            .and_then(|at| self.model.object(at))
            .map(Object::span);
        let Some(span) = span.or_else(|| self.model.objects.first().map(|first| first.kind.span))
        else {
            return self.facts.atom(asked.kind, "", self_span(stated));
        };
        let name = match (&asked.about, asked.group) {
            (Some(about), _) => about.clone(),
            (None, Some(group)) => {
                let group = stated.problem.groups.get(group);
                group.map_or_else(String::new, |group| group.name.to_string())
            }
            (None, None) => "all pods".to_owned(),
        };
        let atom = self.facts.atom(asked.kind, name, span);
        if let Some(about) = &asked.about {
            self.text_fact(field!("PlacementQuestion", "about"), atom, about, span);
        }
        if asked.group.is_some()
            && let Some(workload) = object.and_then(|at| self.atom_of(at))
        {
            self.fact(field!("PlacementQuestion", "placed"), atom, workload, span);
        }
        atom
    }

    /// The nodes or zones that may be lost, one at a time; of equal nodes, one stands for all.
    fn losses(&self, stated: &Stated) -> Vec<Asked> {
        let shapes = &stated.problem.shapes;
        let counts: Vec<usize> = shapes.iter().map(|shape| shape.count).collect();
        let asked = |places: Vec<usize>, about: String| Asked {
            kind: sig!("LossPlacement"),
            places: Some(places),
            more: Vec::new(),
            about: Some(about),
            group: None,
        };
        let mut all = Vec::new();
        match self.options.survive.as_deref() {
            Some("node") => {
                for (at, shape) in shapes.iter().enumerate() {
                    if shape.count > 0 {
                        let mut places = counts.clone();
                        if let Some(count) = places.get_mut(at) {
                            *count -= 1;
                        }
                        let about = match shape.count {
                            1 => format!("the node `{}`", shape.name),
                            _ => format!("one of the nodes `{}`", shape.name),
                        };
                        all.push(asked(places, about));
                    }
                }
            }
            Some("zone") => {
                let mut zones: Vec<&Arc<str>> = stated.zones.iter().flatten().collect();
                zones.sort_unstable();
                zones.dedup();
                for zone in zones {
                    let kept = counts.iter().zip(&stated.zones);
                    let kept = kept.map(|(count, own)| match own.as_ref() == Some(zone) {
                        true => 0,
                        false => *count,
                    });
                    all.push(asked(kept.collect(), format!("the zone `{zone}`")));
                }
            }
            _ => {}
        }
        all
    }
}

fn self_span(stated: &Stated) -> Span {
    stated.lines.first().map_or_else(
        || Span::start_of(locus_core::Sources::new().add("", "")),
        |line| line.span,
    )
}

/// How many pods a rolling update of so many of a Deployment must add before it may take one away; none when it may take
/// one away at once.
fn surge(object: &Object, count: usize) -> Option<usize> {
    if &*object.kind.text != "Deployment" {
        return None;
    }
    let strategy = object.spec().and_then(|spec| spec.some("strategy"));
    if count == 0 || strategy.and_then(|strategy| strategy.str_of("type")) == Some("Recreate") {
        return None;
    }
    let rolling = strategy.and_then(|strategy| strategy.some("rollingUpdate"));
    let part = |key: &str, up: bool| {
        let written = rolling.and_then(|rolling| rolling.some(key));
        match written {
            None => share("25%", count, up),
            Some(node) => match node.int() {
                Some(number) => usize::try_from(number).ok(),
                None => share(node.as_str().unwrap_or(""), count, up),
            },
        }
    };
    let (unavailable, surge) = (part("maxUnavailable", false)?, part("maxSurge", true)?);
    (unavailable == 0 && surge > 0).then_some(1)
}

/// A share of a number, as in `25%`.
fn share(text: &str, of: usize, up: bool) -> Option<usize> {
    let percent: usize = text.strip_suffix('%')?.parse().ok()?;
    let product = percent.checked_mul(of)?;
    Some(if up {
        product.div_ceil(100)
    } else {
        product / 100
    })
}
