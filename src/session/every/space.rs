//! What the inputs decide: conditions as gates of a solver, and which inputs are behind a symbol.

use std::collections::BTreeSet;

use locus_core::LocationGraph;
use locus_core::value::{Logic, SymbolId, SymbolKind, Value};
use locus_solver::clauses::Clauses;
use locus_solver::search::Proof;
use rustc_hash::FxHashMap;

use super::values::Tried;

/// Something that is chosen: an input, or whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Factor {
    /// An input, by its position.
    Input(usize),
    /// A condition, by its symbol.
    Gate(SymbolId),
}

/// What a factor is chosen to be.
pub(super) type Literal = (Factor, usize);

/// Combinations of values of the symbols in a comparison that are gone through.
const COMPARED: usize = 4096;

/// The inputs, and the conditions over them.
pub(super) struct Space<'a> {
    pub(super) tried: &'a [Tried],
    graph: &'a LocationGraph,
    inputs: FxHashMap<SymbolId, usize>,
    clauses: Clauses,
    /// For each input that conditions depend on, the variable of each value.
    values: FxHashMap<usize, Vec<i32>>,
    /// The variable of each condition that the solver follows.
    gates: FxHashMap<SymbolId, Option<i32>>,
    /// What is behind each symbol.
    known: FxHashMap<SymbolId, BTreeSet<Factor>>,
    cones: FxHashMap<SymbolId, BTreeSet<usize>>,
    /// What cannot happen together, as the solver said.
    excluded: Vec<Vec<i32>>,
    /// Literals that limit how many inputs differ from their defaults.
    limits: Option<Vec<i32>>,
}

impl<'a> Space<'a> {
    pub(super) fn new(tried: &'a [Tried], graph: &'a LocationGraph) -> Self {
        let inputs = tried.iter().enumerate();
        let inputs = inputs.map(|(at, tried)| (tried.input.symbol, at)).collect();
        Space::over(tried, graph, inputs)
    }

    /// The same, where other symbols stand for the inputs.
    pub(super) fn over(
        tried: &'a [Tried],
        graph: &'a LocationGraph,
        inputs: FxHashMap<SymbolId, usize>,
    ) -> Self {
        Space {
            tried,
            graph,
            inputs,
            clauses: Clauses::default(),
            values: FxHashMap::default(),
            gates: FxHashMap::default(),
            known: FxHashMap::default(),
            cones: FxHashMap::default(),
            excluded: Vec::new(),
            limits: None,
        }
    }

    /// How many values a factor has, and the first that counts.
    pub(super) fn width(&self, factor: Factor) -> (usize, usize) {
        match factor {
            Factor::Input(at) => {
                let tried = self.tried.get(at);
                tried.map_or((0, 1), |tried| (tried.first(), tried.values.len()))
            }
            Factor::Gate(_) => (0, 2),
        }
    }

    /// What decides a symbol: inputs and conditions.
    pub(super) fn factors(&mut self, symbol: SymbolId) -> BTreeSet<Factor> {
        if let Some(known) = self.known.get(&symbol) {
            return known.clone();
        }
        // A symbol that needs itself has nothing more to add.
        self.known.insert(symbol, BTreeSet::new());
        let mut found = BTreeSet::new();
        if let Some(&at) = self.inputs.get(&symbol) {
            found.insert(Factor::Input(at));
        } else if self.gate(symbol).is_some() {
            found.insert(Factor::Gate(symbol));
        } else {
            for next in behind(self.graph, symbol) {
                found.extend(self.factors(next));
            }
        }
        self.known.insert(symbol, found.clone());
        found
    }

    /// Whether a symbol is an input, or a condition that the solver follows: of what is behind it nothing else matters
    /// than what it is equal to.
    pub(super) fn is_plain(&mut self, symbol: SymbolId) -> bool {
        self.inputs.contains_key(&symbol) || self.gate(symbol).is_some()
    }

    /// The inputs that a symbol depends on, through whatever.
    pub(super) fn cone(&mut self, symbol: SymbolId) -> BTreeSet<usize> {
        if let Some(known) = self.cones.get(&symbol) {
            return known.clone();
        }
        self.cones.insert(symbol, BTreeSet::new());
        let mut found: BTreeSet<usize> = self.inputs.get(&symbol).copied().into_iter().collect();
        for next in behind(self.graph, symbol) {
            found.extend(self.cone(next));
        }
        self.cones.insert(symbol, found.clone());
        found
    }

    /// The inputs that factors depend on.
    pub(super) fn inputs_of(&mut self, factors: &BTreeSet<Factor>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for factor in factors {
            match factor {
                Factor::Input(at) => {
                    found.insert(*at);
                }
                Factor::Gate(symbol) => found.extend(self.cone(*symbol)),
            }
        }
        found
    }

    /// The variables of the values of an input.
    fn variables(&mut self, at: usize) -> Vec<i32> {
        if let Some(known) = self.values.get(&at) {
            return known.clone();
        }
        let Some(tried) = self.tried.get(at) else {
            return Vec::new();
        };
        let vars: Vec<i32> = tried.values.iter().map(|_| self.clauses.var()).collect();
        self.clauses.one(&vars);
        // A condition over an input that is not given is neither true nor false.
        if tried.first() > 0
            && let Some(&unset) = vars.first()
        {
            self.clauses.add(&[-unset]);
        }
        self.values.insert(at, vars.clone());
        vars
    }

    /// The variable of a condition; none when the solver cannot follow it.
    fn gate(&mut self, symbol: SymbolId) -> Option<i32> {
        if let Some(known) = self.gates.get(&symbol) {
            return *known;
        }
        self.gates.insert(symbol, None);
        let found = self.build(symbol);
        self.gates.insert(symbol, found);
        found
    }

    fn build(&mut self, symbol: SymbolId) -> Option<i32> {
        if let Some(&at) = self.inputs.get(&symbol) {
            let tried = self.tried.get(at)?;
            let is_true = |value: usize| tried.value(value) == Some(&Value::Bool(true));
            let truths: Vec<bool> = (0..tried.values.len()).map(is_true).collect();
            let bools = (tried.first()..tried.values.len())
                .all(|value| matches!(tried.value(value), Some(Value::Bool(_))));
            if !bools {
                return None;
            }
            let vars = self.variables(at);
            let gate = self.clauses.var();
            for (&var, truth) in vars.iter().zip(truths) {
                self.clauses.add(&[-var, if truth { gate } else { -gate }]);
            }
            return Some(gate);
        }
        let graph = self.graph;
        let SymbolKind::Logic(logic) = &graph.symbol(symbol).kind else {
            return None;
        };
        match logic {
            Logic::Not(inner) => self.gate(*inner).map(|gate| -gate),
            Logic::All(parts) => {
                let literals: Option<Vec<i32>> =
                    parts.iter().map(|&part| self.gate(part)).collect();
                let literals = literals?;
                let gate = self.clauses.var();
                self.clauses.all(gate, &literals);
                Some(gate)
            }
            Logic::Any(parts) => {
                let literals: Option<Vec<i32>> =
                    parts.iter().map(|&part| self.gate(part)).collect();
                let negated: Vec<i32> = literals?.into_iter().map(|literal| -literal).collect();
                let gate = self.clauses.var();
                self.clauses.all(gate, &negated);
                Some(-gate)
            }
            Logic::Equal(a, b) => self.comparison(logic, a, b),
        }
    }

    /// The variable of a comparison: a table over the values of its inputs.
    fn comparison(&mut self, logic: &Logic, a: &Value, b: &Value) -> Option<i32> {
        let symbols = logic.depends();
        let inputs: Option<Vec<usize>> = symbols
            .iter()
            .map(|symbol| self.inputs.get(symbol).copied())
            .collect();
        let inputs = inputs?;
        let ranges: Vec<(usize, usize)> = inputs
            .iter()
            .map(|&at| self.width(Factor::Input(at)))
            .collect();
        let mut total: usize = 1;
        for (first, end) in &ranges {
            total = total.saturating_mul(end.saturating_sub(*first));
        }
        if total > COMPARED || total == 0 {
            return None;
        }
        let vars: Vec<Vec<i32>> = inputs.iter().map(|&at| self.variables(at)).collect();
        let gate = self.clauses.var();
        for mut number in 0..total {
            let mut clause = Vec::new();
            let mut values: FxHashMap<SymbolId, &Value> = FxHashMap::default();
            for (at, (first, end)) in ranges.iter().enumerate() {
                let width = end - first;
                let chosen = first + number % width;
                number /= width;
                let tried = inputs.get(at).and_then(|&input| self.tried.get(input))?;
                values.insert(*symbols.get(at)?, tried.value(chosen)?);
                clause.push(-*vars.get(at)?.get(chosen)?);
            }
            let equal = replaced(a, &values).same(&replaced(b, &values));
            clause.push(if equal { gate } else { -gate });
            self.clauses.add(&clause);
        }
        Some(gate)
    }

    /// The solver's literal for a choice; none when the solver does not know it, so that it excludes nothing else.
    pub(super) fn literal(&mut self, (factor, value): Literal) -> Option<i32> {
        match factor {
            Factor::Input(at) => self.values.get(&at)?.get(value).copied(),
            Factor::Gate(symbol) => {
                let gate = self.gate(symbol)?;
                Some(if value == 1 { gate } else { -gate })
            }
        }
    }

    /// Whether choices are possible together.
    pub(super) fn possible(&mut self, choices: &[Literal]) -> bool {
        let assumed: Vec<i32> = choices
            .iter()
            .filter_map(|&one| self.literal(one))
            .collect();
        assumed.is_empty() || self.clauses.solve(&assumed)
    }

    /// Notes that choices are not possible together.
    pub(super) fn exclude(&mut self, choices: &[Literal]) {
        let mut literals = Vec::with_capacity(choices.len());
        for &one in choices {
            literals.extend(self.literal(one));
        }
        self.excluded.push(literals);
    }

    /// A proof that nothing of what was excluded can happen; none when nothing was.
    pub(super) fn proof(&self) -> Option<Proof> {
        match self.excluded.is_empty() {
            true => None,
            false => self.clauses.prove(&self.excluded),
        }
    }

    /// Whether choices hold in the solver's last answer, as far as it decides them.
    pub(super) fn is_so(&mut self, choices: &[Literal]) -> bool {
        choices.iter().all(|&one| match self.literal(one) {
            Some(literal) => self.clauses.value(literal.abs()) == (literal > 0),
            None => true,
        })
    }

    /// Values for all inputs with these choices, after [`possible`](Self::possible) said so.
    pub(super) fn assignment(&self, choices: &[Literal]) -> Vec<usize> {
        // What has no default is given: without it, nothing is deployed.
        let mut chosen: Vec<usize> = self.tried.iter().map(Tried::first).collect();
        for (at, slot) in chosen.iter_mut().enumerate() {
            if let Some(vars) = self.values.get(&at) {
                *slot = vars
                    .iter()
                    .position(|&var| self.clauses.value(var))
                    .unwrap_or(0);
            }
        }
        for &(factor, value) in choices {
            if let Factor::Input(at) = factor
                && !self.values.contains_key(&at)
                && let Some(slot) = chosen.get_mut(at)
            {
                *slot = value;
            }
        }
        chosen
    }

    /// What a factor is for an assignment, from the solver's last answer.
    pub(super) fn gate_value(&self, symbol: SymbolId) -> Option<usize> {
        let gate = self.gates.get(&symbol).copied().flatten()?;
        let truth = self.clauses.value(gate.abs()) == (gate > 0);
        Some(usize::from(truth))
    }

    /// What each condition is in the solver's last answer.
    pub(super) fn gate_values(&self) -> impl Iterator<Item = (SymbolId, usize)> {
        let gates = self.gates.keys();
        gates.filter_map(|&symbol| Some((symbol, self.gate_value(symbol)?)))
    }

    /// Makes the solver take an assignment.
    pub(super) fn settle(&mut self, chosen: &[usize]) -> bool {
        let mut assumed = Vec::new();
        for (at, vars) in &self.values {
            assumed.extend(chosen.get(*at).and_then(|&value| vars.get(value)));
        }
        self.clauses.solve(&assumed)
    }

    /// The assignment with these choices in which the fewest inputs differ from their defaults, as far as the solver
    /// decides them.
    pub(super) fn least(&mut self, choices: &[Literal]) -> Option<Vec<usize>> {
        let limits = match &self.limits {
            Some(limits) => limits.clone(),
            None => {
                let mut ordered: Vec<(&usize, &Vec<i32>)> = self.values.iter().collect();
                ordered.sort_unstable();
                let differs: Vec<i32> = ordered
                    .into_iter()
                    .filter_map(|(_, vars)| vars.first().map(|&var| -var))
                    .collect();
                let limits = self.clauses.counter(&differs, differs.len());
                self.limits = Some(limits.clone());
                limits
            }
        };
        let assumed: Vec<i32> = choices
            .iter()
            .filter_map(|&one| self.literal(one))
            .collect();
        for limit in limits.iter().map(|&limit| Some(limit)).chain([None]) {
            let mut assumed = assumed.clone();
            assumed.extend(limit.map(|limit| -limit));
            if self.clauses.solve(&assumed) {
                return Some(self.assignment(choices));
            }
        }
        None
    }
}

/// The symbols that a symbol is computed from.
pub(super) fn behind(graph: &LocationGraph, symbol: SymbolId) -> Vec<SymbolId> {
    let info = graph.symbol(symbol);
    let mut found = info.depends.clone();
    if let SymbolKind::Choice {
        condition,
        then,
        otherwise,
    } = &info.kind
    {
        found.push(*condition);
        let items = [Some(then), otherwise.as_ref()].into_iter().flatten();
        for item in items {
            item.value.visit(&mut |leaf| {
                if let Value::Symbolic(symbol) = leaf {
                    found.push(*symbol);
                }
            });
        }
    }
    found
}

/// A value with its symbols replaced.
fn replaced(value: &Value, by: &FxHashMap<SymbolId, &Value>) -> Value {
    match value {
        Value::Symbolic(symbol) => by.get(symbol).map_or(Value::Null, |&value| value.clone()),
        Value::List(items) => {
            let mut items = items.clone();
            for item in &mut items {
                item.value = replaced(&item.value, by);
            }
            Value::List(items)
        }
        Value::Map(fields) => {
            let mut fields = fields.clone();
            for field in &mut fields {
                field.item.value = replaced(&field.item.value, by);
            }
            Value::Map(fields)
        }
        other => other.clone(),
    }
}
