//! Every allowed input: what breaks a rule for some of them, what for none, and what cannot be told.
//!
//! The configuration is loaded once with all inputs open, and the rules are asked in three values: what may break a rule
//! for some input is a candidate, with the inputs and conditions that decide it. Few assignments then try every
//! combination of what decides any candidate ([`goals`]), with the conditions followed by a solver ([`space`]). Each
//! assignment is a plain check ([`trial`]), so whatever is reported was seen to happen, and the smallest assignment that
//! shows it ([`shrink`]) is one that was tried too.

mod compared;
mod gaps;
mod goals;
mod look;
mod names;
mod near;
mod note;
mod pattern;
mod shrink;
mod space;
mod trial;
mod values;
mod witness;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use locus_core::diagnostic::{Input, Verdict};
use locus_core::graph::Presence;
use locus_core::memory::Memory;
use locus_core::value::{SymbolId, Value};
use locus_core::vocabulary::{Vocabulary, lg};
use locus_core::{Diagnostic, Severity, Sources};
use locus_frontends::language::{Chosen, Language, OpenInput};
use locus_invariants::{Candidate, Candidates, Checker, Configuration, Options, Proved};
use rustc_hash::{FxHashMap, FxHashSet};

use super::check::{Given, Loading, Report};
use super::discover::Project;
use super::{Cancel, Cancelled, Snapshot};
use gaps::Gaps;
use goals::{Goals, Row, STRENGTHS};
use look::Look;
use names::Named;
use space::{Factor, Literal, Space};
use trial::{Key, Said, Trials, key, place_of};
use values::{Asked, Tried};

pub use witness::Violable;

/// Assignments that are all tried when every input has listed values.
const ENUMERATED: usize = 4096;

/// Locations that are loaded at most to try all assignments.
const ENUMERATED_LOCATIONS: usize = 40_000;

/// Plain checks that are made at most.
const TRIALS: usize = 3 * 4096;

/// Locations that are loaded at most, over all of these checks.
const EFFORT: usize = 400_000;

/// What came of taking every input.
#[derive(Clone, Debug, Default)]
pub struct Everything {
    /// What breaks for some inputs, each with the inputs that show it.
    pub violable: Vec<Violable>,
    /// What could not be decided, and because of which inputs.
    pub undecided: Vec<Diagnostic>,
    /// How many things that rules are about depend on inputs.
    pub dependent: usize,
    /// How many plain checks were made.
    pub trials: usize,
}

impl Snapshot {
    /// Adds to a plain report what is wrong for other allowed inputs.
    pub(super) fn every_input(
        &self,
        project: &Project,
        given: &Given,
        report: &mut Report,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        // Each file is read once, whatever is chosen.
        let memory = Arc::new(Memory::default());
        let sources = || Sources::remembering(memory.clone());
        let mut loading = self.load_chosen(project, given, true, &[], sources());
        let inputs = project.language.open_inputs(&loading.loaded);
        if inputs.is_empty() {
            return Ok(());
        }
        cancel.check()?;
        locus_invariants::placement::settle_open(&mut loading.loaded);
        // Where inputs name something, with each name; what is loaded with all inputs open names nothing.
        let names = names::names(project.language, &loading.loaded.graph, &inputs);
        let (views, mut all_named) = names::views(&names, &inputs);
        let candidates = self.candidates(&loading, given);
        let mut looks = vec![Look::new(Named::new(), loading, candidates, inputs.clone())];
        for named in views {
            cancel.check()?;
            let chosen = names::chosen(&named, &inputs);
            let mut loading = self.load_chosen(project, given, true, &chosen, sources());
            locus_invariants::placement::settle_open(&mut loading.loaded);
            let candidates = self.candidates(&loading, given);
            let open = project.language.open_inputs(&loading.loaded);
            looks.push(Look::new(named, loading, candidates, open));
        }
        let tried = tried(project.language, &inputs, &looks);
        let Some(main) = looks.first() else {
            return Ok(());
        };
        let loaded = &main.loading.loaded;
        let links: Links = looks.iter().flat_map(|look| look.links(&inputs)).collect();
        let knowledge = Knowledge {
            language: project.language,
            links: &links,
        };
        let mut space = Space::new(&tried, &loaded.graph);
        let mut goals = Goals::default();
        let mut asked: Vec<Question<'_>> = Vec::new();
        for (number, look) in looks.iter().enumerate() {
            let Some(pinned) = names::pinned(&look.named, &names, &tried) else {
                all_named = false;
                continue;
            };
            goals.add_choices(&mut space, &pinned);
            let positions = look.positions(&inputs);
            let mut own = Space::over(&tried, &look.loading.loaded.graph, positions);
            for candidate in &look.candidates.list {
                let at = asked.len();
                let decides = match number {
                    0 => Decides::of(candidate, &mut space, false),
                    _ => Decides::of(candidate, &mut own, true),
                };
                let decides = decides.settled(at, &pinned, &knowledge, &mut space, &mut goals);
                asked.push(Question {
                    candidate,
                    place: key(&candidate.finding, &look.loading.sources),
                    decides,
                    sources: &look.loading.sources,
                });
            }
        }
        local_goals(loaded, project.language, &mut space, &mut goals);
        let most = (EFFORT / (loaded.graph.len() + 8)).clamp(64, TRIALS);
        let base = Arc::new(Said::of(
            report.findings.clone(),
            report.unchecked.clone(),
            report.sources.clone(),
        ));
        let trials = Trials::new(self, project, given, &tried, base.clone(), memory, cancel);
        let mut seen: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        let mut rows: Vec<Row> = Vec::new();
        let mut covered = true;
        let all = match given.covered || given.proofs {
            true => Vec::new(),
            false => enumerated(&space, loaded.graph.len()),
        };
        let whole = !all.is_empty();
        for chosen in all {
            rows.extend(Row::new(&mut space, chosen));
        }
        let mut gaps = Gaps::default();
        if !whole {
            for chosen in goals::extremes(&space) {
                rows.extend(Row::new(&mut space, chosen));
            }
        }
        for (at, said) in trials.run_all(&rows)?.iter().enumerate() {
            for key in said.keys().filter(|key| base.get(key).is_none()) {
                seen.entry(key.clone()).or_default().push(at);
            }
            gaps.note(&base, said, at);
        }
        let strengths = STRENGTHS.into_iter().filter(|_| !whole);
        for strength in strengths {
            let is_open = |at: usize| {
                let one = asked.get(at).map(|one| &one.place);
                one.is_some_and(|key| base.get(key).is_none() && !seen.contains_key(key))
            };
            let wanted = goals.combinations(&space, strength, is_open);
            let known = rows.len();
            covered &= goals::cover(&mut space, wanted, &mut rows, most);
            let new = rows.get(known..).unwrap_or_default();
            for (at, said) in trials.run_all(new)?.iter().enumerate() {
                for key in said.keys() {
                    if base.get(key).is_none() {
                        seen.entry(key.clone()).or_default().push(known + at);
                    }
                }
                gaps.note(&base, said, known + at);
            }
        }
        // What decides each finding, where a candidate says so.
        let mut deciders: FxHashMap<&Key, BTreeSet<Factor>> = FxHashMap::default();
        for one in &asked {
            let known = deciders.entry(&one.place).or_default();
            known.extend(&one.decides.factors);
        }
        let mut everything = Everything {
            trials: rows.len(),
            dependent: {
                let dependent = asked.iter().filter(|one| {
                    !one.decides.inputs.is_empty() && one.candidate.mirrors.is_none()
                });
                dependent
                    .map(|one| &one.place)
                    .collect::<FxHashSet<_>>()
                    .len()
            },
            ..Everything::default()
        };
        let all = &rows;
        let mut shown: Vec<shrink::Shown> = Vec::new();
        for (key, at) in &seen {
            let shows = at.iter().filter_map(|&at| all.get(at));
            let rows: Vec<&[usize]> = shows.map(|row| row.chosen.as_slice()).collect();
            let others: Vec<&[usize]> = all
                .iter()
                .enumerate()
                .filter(|(number, _)| at.binary_search(number).is_err())
                .map(|(_, row)| row.chosen.as_slice())
                .collect();
            let factors = deciders.get(key);
            let smallest = shrink::smallest(key, &rows, &others, factors, &mut space, &trials)?;
            shown.extend(smallest);
        }
        let violable: FxHashSet<&Key> = seen.keys().collect();
        let mut asked_of: FxHashSet<&Key> = FxHashSet::default();
        let (texts, others): (Vec<_>, Vec<_>) = asked
            .iter()
            .partition(|one| one.candidate.mirrors.is_none());
        for one in texts.into_iter().chain(others) {
            let Question {
                candidate,
                place,
                decides,
                sources,
            } = one;
            let known = base.get(place).is_some() || violable.contains(place);
            let decided = known || whole || (decides.proved && covered);
            // Several ways to one finding are one question, and so are two orders of its members.
            let is_asked = |key: &Key| asked_of.contains(key) || violable.contains(key);
            let twin = candidate.mirrors.map(|span| {
                let code = candidate.finding.code.clone();
                place_of(code, span, sources)
            });
            if decided || twin.as_ref().is_some_and(is_asked) || !asked_of.insert(place) {
                continue;
            }
            let mut open = undecided(candidate, decides, &tried);
            let files = report.sources.merge(vec![(*sources).clone()]);
            open.move_to(files.first().map_or(&[], Vec::as_slice));
            everything.undecided.push(open);
        }
        if !all_named && !whole {
            let mut open = names::undecided(&names, &tried);
            let files = report.sources.merge(vec![main.loading.sources.clone()]);
            open.move_to(files.first().map_or(&[], Vec::as_slice));
            everything.undecided.push(open);
        }
        for mut open in tried.iter().filter(|one| one.beyond).map(beyond_reach) {
            let files = report.sources.merge(vec![main.loading.sources.clone()]);
            open.move_to(files.first().map_or(&[], Vec::as_slice));
            everything.undecided.push(open);
        }
        let told = gaps.told(&trials, &rows, &mut report.sources);
        everything.undecided.extend(told);
        if given.proofs
            && let Some(proof) = space.proof()
        {
            let open: FxHashSet<&str> = everything.undecided.iter().map(|one| &*one.code).collect();
            let held = asked.iter().filter(|one| {
                let mut factors = one.decides.factors.iter();
                let gated = factors.any(|one| matches!(one, Factor::Gate(_)));
                gated && !violable.contains(&one.place) && base.get(&one.place).is_none()
            });
            let rules: BTreeSet<&str> = held
                .map(|one| one.candidate.finding.code.as_str())
                .filter(|code| !open.contains(code))
                .collect();
            if !rules.is_empty() {
                let rules: Vec<&str> = rules.into_iter().collect();
                report.proofs.push(Proved {
                    rule: rules.join(", "),
                    claim: "no allowed input makes the conditions so that were not tried"
                        .to_owned(),
                    proof,
                });
            }
        }
        let noted = note::fold(shown, &tried, project.language);
        for mut found in noted {
            let files = report.sources.merge(vec![found.sources]);
            let files = files.first().map_or(&[][..], Vec::as_slice);
            found.finding.move_to(files);
            report.findings.push(found.finding);
            everything.violable.extend(found.violable);
        }
        report.everything = everything;
        report.sort();
        Ok(())
    }

    /// What may break a rule for some input.
    fn candidates(&self, loading: &Loading, given: &Given) -> Candidates {
        let loaded = &loading.loaded;
        let settings = &loading.settings;
        let options = Options {
            ignore: given
                .ignore
                .iter()
                .chain(&settings.off)
                .cloned()
                .chain(settings.off_in(&loaded.files))
                .chain(settings.not_asked(given))
                .collect(),
            ..Options::default()
        };
        let configuration = Configuration::of(loaded);
        let mut found = Candidates::default();
        let mut add = |checker: &Checker| {
            let more = checker.candidates(configuration, &options);
            found.list.extend(more.list);
            found.compared.extend(more.compared);
            found.met.extend(more.met);
            found.linked.extend(more.linked);
        };
        // Rules about the language, and those about every language, which know nothing of what a project declares.
        let language = self.registry.named(loaded.language);
        let language = language.map(|language| (language.vocabulary(), loaded.declared.clone()));
        let shared =
            (loaded.language != lg::NAME).then(|| (Vocabulary::of_graphs(), Arc::default()));
        for (vocabulary, declared) in language.into_iter().chain(shared) {
            if let Some(builtin) = Checker::builtin(vocabulary.language()) {
                add(builtin);
            }
            if let Some(own) = settings.rules_of(vocabulary.language()) {
                add(&own.compiled(&vocabulary, &declared).checker);
            }
        }
        found
    }
}

/// What decides a candidate.
struct Decides {
    factors: BTreeSet<Factor>,
    inputs: BTreeSet<usize>,
    /// Inputs of which more matters than what they are equal to.
    opaque: BTreeSet<usize>,
    /// Whether trying all combinations proves that it never happens.
    proved: bool,
}

/// What is known of inputs when something is to be proved about them.
struct Knowledge<'a> {
    language: &'a dyn Language,
    links: &'a Links,
}

/// Inputs that are compared with each other, by their positions.
type Links = BTreeSet<(usize, usize)>;

impl Decides {
    /// What decides a candidate; the inputs alone, where its conditions are not those that are followed.
    fn of(candidate: &Candidate, space: &mut Space<'_>, inputs_alone: bool) -> Self {
        let mut factors = BTreeSet::new();
        let mut opaque = BTreeSet::new();
        for dependence in &candidate.depends {
            let own = space.factors(dependence.symbol);
            if dependence.opaque || !space.is_plain(dependence.symbol) {
                opaque.extend(space.inputs_of(&own));
            }
            factors.extend(own);
        }
        let inputs = space.inputs_of(&factors);
        if inputs_alone {
            factors = inputs.iter().copied().map(Factor::Input).collect();
        }
        Decides {
            factors,
            inputs,
            opaque,
            proved: false,
        }
    }

    /// The same, once it is known what is to be tried, with inputs that name something pinned.
    fn settled(
        mut self,
        at: usize,
        pinned: &[Literal],
        knowledge: &Knowledge<'_>,
        space: &mut Space<'_>,
        goals: &mut Goals,
    ) -> Self {
        let provable = knowledge.proves(&self.inputs, &self.opaque, space.tried);
        let tried = goals.add(space, &self.factors, pinned, at, provable);
        self.proved = tried && provable;
        self.factors
            .extend(pinned.iter().map(|(factor, _)| *factor));
        self
    }
}

/// Something that may break a rule, as it is asked.
struct Question<'a> {
    candidate: &'a Candidate,
    place: Key,
    decides: Decides,
    /// The files that it is about.
    sources: &'a Sources,
}

impl Knowledge<'_> {
    /// Whether trying all combinations of the values that inputs are tried with says what happens with any values.
    ///
    /// It does when these are all their values. Otherwise nothing may matter but what they are equal to; then, whatever
    /// their values are, there are others among those tried that are equal in the same places: they are tried with all
    /// that they are compared with, and beyond that have as many values in common as there are such inputs.
    fn proves(&self, inputs: &BTreeSet<usize>, opaque: &BTreeSet<usize>, tried: &[Tried]) -> bool {
        let known = |at: &usize| Some((*at, tried.get(*at)?));
        let (listed, free): (Vec<_>, Vec<_>) = inputs
            .iter()
            .filter_map(known)
            .partition(|(_, tried)| tried.exact);
        if free
            .iter()
            .any(|(at, tried)| opaque.contains(at) || !tried.covered)
        {
            return false;
        }
        let mut common: Option<BTreeSet<&str>> = None;
        for (at, one) in &free {
            let mut own: BTreeSet<&str> = one.fresh.iter().map(String::as_str).collect();
            for (other, listed) in &listed {
                if !self.links.contains(&(*at, *other)) {
                    continue;
                }
                for value in (0..listed.values.len()).filter_map(|value| listed.value(value)) {
                    if !one.is_tried_with(self.language, value) {
                        return false;
                    }
                    own.remove(value.to_string().as_str());
                }
            }
            common = Some(match common {
                Some(common) => common.intersection(&own).copied().collect(),
                None => own,
            });
        }
        common.is_none_or(|common| common.len() >= free.len())
    }
}

/// The inputs, each with the values that it is tried with.
fn tried(language: &dyn Language, inputs: &[OpenInput], looks: &[Look]) -> Vec<Tried> {
    let mut hints: FxHashMap<SymbolId, Vec<Value>> = FxHashMap::default();
    let mut near: FxHashMap<SymbolId, Vec<Value>> = FxHashMap::default();
    let mut asked: FxHashMap<SymbolId, Asked> = FxHashMap::default();
    let mut links = Links::new();
    for look in looks {
        let graph = &look.loading.loaded.graph;
        // The same inputs have other symbols where something else is there.
        let symbol = |symbol: SymbolId| match look.named.is_empty() {
            true => Some(symbol),
            false => {
                let own = look.inputs.iter().find(|own| own.symbol == symbol)?;
                let input = inputs.iter().find(|input| input.name == own.name)?;
                Some(input.symbol)
            }
        };
        let found = [
            (compared::hints(graph, &look.candidates), &mut hints),
            (near::near(graph, &look.candidates), &mut near),
        ];
        for (own, all) in found {
            for (of, values) in own {
                let Some(of) = symbol(of) else { continue };
                let known = all.entry(of).or_default();
                for value in values {
                    if !known.iter().any(|own| own.same(&value)) {
                        known.push(value);
                    }
                }
            }
        }
        for (of, more) in compared::asked(graph, &look.candidates, language) {
            if let Some(of) = symbol(of) {
                let known = asked.entry(of).or_default();
                *known = more.max(*known);
            }
        }
        links.extend(look.links(inputs));
    }
    let (near, asked, links) = (&near, &asked, &links);
    // What one is compared with may be what another is that is compared with it.
    let symbol = |at: &usize| inputs.get(*at).map(|input| input.symbol);
    let mut grown = !links.is_empty();
    while grown {
        grown = false;
        for (one, other) in links {
            let (Some(one), Some(other)) = (symbol(one), symbol(other)) else {
                continue;
            };
            for value in hints.get(&other).cloned().unwrap_or_default() {
                let known = hints.entry(one).or_default();
                if !known.iter().any(|own| own.same(&value)) {
                    known.push(value);
                    grown = true;
                }
            }
        }
    }
    let make = |input: &OpenInput, hints: &FxHashMap<SymbolId, Vec<Value>>| {
        let own = hints.get(&input.symbol).map_or(&[][..], Vec::as_slice);
        let asked = asked.get(&input.symbol).copied().unwrap_or_default();
        let near = near.get(&input.symbol).map_or(&[][..], Vec::as_slice);
        values::tried(language, input.clone(), own, near, asked)
    };
    let alone: Vec<Tried> = inputs.iter().map(|input| make(input, &hints)).collect();
    if links.is_empty() {
        return alone;
    }
    // What an input is compared with may be what another one is.
    for &(one, other) in links {
        let (Some(one), Some(other)) = (alone.get(one), alone.get(other)) else {
            continue;
        };
        let same = one.input.domain == other.input.domain;
        if one.exact || (same && !other.exact) {
            continue;
        }
        let known = hints.entry(one.input.symbol).or_default();
        let values = (0..other.values.len()).filter_map(|value| other.value(value));
        for value in values.take(SHARED) {
            if !known.iter().any(|own| own.same(value)) {
                known.push(value.clone());
            }
        }
    }
    inputs.iter().map(|input| make(input, &hints)).collect()
}

/// Values of one input that another is tried with, as they are compared.
const SHARED: usize = 8;

/// What the front-end itself says depends on the inputs behind a value; where it compares values of one location, on
/// those in its properties, on whether it is there, and on whether what it refers to is.
fn local_goals(
    loaded: &locus_frontends::language::Loaded,
    language: &dyn Language,
    space: &mut Space<'_>,
    goals: &mut Goals,
) {
    let graph = &loaded.graph;
    for (_, location) in graph.locations() {
        let mut factors = BTreeSet::new();
        let mut there = BTreeSet::new();
        if let Presence::When(symbol) = location.presence {
            there = space.factors(symbol);
            factors.extend(&there);
        }
        for property in &location.properties {
            property.item.value.visit(&mut |leaf| match leaf {
                Value::Symbolic(symbol) => factors.extend(space.factors(*symbol)),
                Value::Location(id) => {
                    if let Presence::When(symbol) = graph.location(*id).presence {
                        factors.extend(space.factors(symbol));
                    }
                }
                _ => {}
            });
        }
        // What a value breaks is seen only where there is something that has it.
        for &factor in factors.difference(&there) {
            let mut both = there.clone();
            both.insert(factor);
            goals.add_pairs(space, both);
        }
        let tried = space.tried;
        let exact = |at: &usize| tried.get(*at).is_some_and(|tried| tried.exact);
        if language.judges_values() || space.inputs_of(&factors).iter().all(exact) {
            goals.add_local(space, &factors, language.judges_values());
        }
    }
    let symbols: Vec<SymbolId> = graph.symbols().map(|(id, _)| id).collect();
    for symbol in symbols {
        let factors = space.factors(symbol);
        goals.add_local(space, &factors, language.judges_values());
    }
}

/// All assignments, where all inputs have listed values and they are few.
fn enumerated(space: &Space<'_>, locations: usize) -> Vec<Vec<usize>> {
    let all: Vec<Factor> = (0..space.tried.len()).map(Factor::Input).collect();
    let count = goals::combinations(space, &all.iter().copied().collect());
    let few = count <= ENUMERATED && count * (locations + 8) <= ENUMERATED_LOCATIONS;
    if !few || !space.tried.iter().all(|tried| tried.exact) {
        return Vec::new();
    }
    let rows = goals::product(space, &all).into_iter();
    rows.map(|row| row.into_iter().map(|(_, value)| value).collect())
        .collect()
}

/// That it could not be decided whether something breaks a rule.
fn undecided(candidate: &Candidate, decides: &Decides, tried: &[Tried]) -> Diagnostic {
    let mut finding = candidate.finding.clone();
    let free = decides.inputs.iter().filter_map(|&at| tried.get(at));
    let mut names: Vec<String> = free
        .clone()
        .filter(|tried| !tried.exact)
        .map(|tried| format!("`{}`", tried.input.name))
        .collect();
    if names.is_empty() {
        names = free
            .map(|tried| format!("`{}`", tried.input.name))
            .collect();
    }
    let why = match names.as_slice() {
        [] => "it takes too long".to_owned(),
        [name] => format!("{name} has too many values to try"),
        names => format!("{} have too many values to try", listed(names)),
    };
    finding.severity = Severity::Info;
    finding.message = format!("could not decide whether {}: {why}", finding.message);
    finding.verdict = Verdict::Undecided { why };
    finding
}

/// That an input was tried with no value.
fn beyond_reach(tried: &Tried) -> Diagnostic {
    let name = &tried.input.name;
    let why = format!("it cannot be told which values `{name}` may have");
    let message = format!("no value of `{name}` was tried: {why}");
    let mut open = Diagnostic::new(Severity::Info, "unchecked", message).at(tried.input.span);
    open.verdict = Verdict::Undecided { why };
    open
}

/// Words as a list in a sentence.
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Chosen values, in the user's terms.
fn inputs(chosen: &[Chosen]) -> Vec<Input> {
    let all = chosen.iter().map(|chosen| Input {
        name: chosen.name.to_string(),
        value: Some(chosen.text()),
    });
    all.collect()
}
