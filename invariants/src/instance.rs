//! Whether a graph is an instance of the reference model of location graphs.
//!
//! The front-ends build graphs, and rules judge them. Here the model itself judges, by the text that the
//! rules have: the graph becomes values of the relations of `lg/location_graphs`, and every constraint of
//! that model is evaluated on them. Nothing is searched for, no solver takes part.

use locus_core::graph::{LocationGraph, Presence, RoleId};
use locus_core::{Diagnostic, Sources, Span};
use locus_grammar::model::{FieldId, Model, SigId};
use locus_solver::alloy::{self, Translation};
use locus_solver::evaluate::Evaluator;
use locus_solver::limits::Limits;
use locus_solver::problem::{Atom, ExprNode, TupleSet};
use locus_solver::search::Instance;
use rustc_hash::FxHashMap;

use crate::models;

/// The model of which every graph is an instance.
pub const MODEL: &str = "lg/location_graphs";

/// Pairs of a location and a role up to which the relations between them are written down.
const MAX_PAIRS: usize = 20_000_000;

/// What the model says of a graph.
#[derive(Clone, Debug)]
pub enum Judgement {
    /// It is an instance.
    Instance,
    /// It is not: the constraints that it breaks.
    Broken(Vec<Diagnostic>),
    /// It could not be evaluated, and why.
    Unknown(Box<Diagnostic>),
}

/// Evaluates the reference model on a graph.
///
/// Locations that are part of the configuration for some inputs only are taken as present: what the
/// model asks of a set of locations, it asks of every pair, so it holds for the part if it does for
/// the whole.
pub fn judge(graph: &LocationGraph, limits: &Limits) -> Judgement {
    let first = graph.locations().next();
    let place = |finding: Diagnostic| match first {
        Some((_, location)) => finding.at(Span::start_of(location.origin.span.file)),
        None => finding,
    };
    match Valuation::new(graph).and_then(|valuation| valuation.evaluate(limits)) {
        Ok(broken) if broken.is_empty() => Judgement::Instance,
        Ok(broken) => Judgement::Broken(broken.into_iter().map(place).collect()),
        Err(reason) => Judgement::Unknown(Box::new(place(Diagnostic::warning(
            "instance",
            format!("it was not decided whether this is an instance of `{MODEL}`: {reason}"),
        )))),
    }
}

/// The model with a scope in which the graph fits exactly, and the graph as values of its relations.
struct Valuation {
    sources: Sources,
    translation: Translation,
    instance: Instance,
}

/// Numbers for different texts, in the order they are first seen.
#[derive(Default)]
struct Numbering<'t>(FxHashMap<&'t str, usize>);

impl<'t> Numbering<'t> {
    fn of(&mut self, text: &'t str) -> usize {
        let next = self.0.len();
        *self.0.entry(text).or_insert(next)
    }
}

impl Valuation {
    fn new(graph: &LocationGraph) -> Result<Self, String> {
        let locations: Vec<_> = graph
            .locations()
            .map(|(_, location)| location)
            .filter(|location| location.presence != Presence::Absent)
            .collect();
        let roles = graph.roles().count();
        if locations.len().saturating_mul(roles) > MAX_PAIRS {
            return Err(format!(
                "{} locations and {roles} roles are too many to write down",
                locations.len()
            ));
        }
        let mut names = Numbering::default();
        let mut processes = Numbering::default();
        let mut sorts = Numbering::default();
        let mut tuples: [Vec<[usize; 2]>; 6] = Default::default();
        let [inside, named, behaving, sorted, provided, required] = &mut tuples;
        for (at, location) in locations.iter().enumerate() {
            inside.push([0, at]);
            named.push([at, names.of(&location.name)]);
            behaving.push([at, processes.of(&location.process)]);
            sorted.push([at, sorts.of(&location.sort)]);
            let offer = |roles: &[RoleId]| -> Vec<[usize; 2]> {
                roles.iter().map(|role| [at, role.index()]).collect()
            };
            provided.extend(offer(&location.provided));
            required.extend(offer(&location.required));
        }
        let (names, processes, sorts) = (names.0.len(), processes.0.len(), sorts.0.len());
        let text = format!(
            "open {MODEL} as lg\nrun {{}} for 0 but exactly 2 lg/LocationGraph, \
             exactly {} lg/Location, exactly {names} lg/Name, exactly {processes} lg/Process, \
             exactly {sorts} lg/Sort, exactly {roles} lg/Role, exactly {} lg/Value\n",
            locations.len(),
            names + processes + sorts + roles,
        );
        let mut sources = Sources::new();
        let reading = locus_grammar::read("graph.als", &text, &mut sources, &models::Loader);
        let model = reading.model.ok_or("the model cannot be read")?;
        let command = model.commands.first().ok_or("the model has no command")?;
        let translation =
            alloy::translate(&model, command).map_err(|refusal| refusal.message.clone())?;
        let mut valuation = Valuation {
            sources,
            instance: Instance {
                relations: translation
                    .problem
                    .relations
                    .iter()
                    .map(|relation| relation.lower.clone())
                    .collect(),
                skolems: Vec::new(),
            },
            translation,
        };
        let fields = [
            "locations",
            "name",
            "process",
            "sort",
            "provided",
            "required",
        ];
        let columns = [
            ["LocationGraph", "Location"],
            ["Location", "Name"],
            ["Location", "Process"],
            ["Location", "Sort"],
            ["Location", "Role"],
            ["Location", "Role"],
        ];
        for ((field, sigs), tuples) in fields.iter().zip(columns).zip(&tuples) {
            valuation.assign(&model, field, sigs, tuples)?;
        }
        Ok(valuation)
    }

    /// Gives a field its value, in numbers of the atoms of its two columns.
    fn assign(
        &mut self,
        model: &Model,
        field: &str,
        columns: [&str; 2],
        tuples: &[[usize; 2]],
    ) -> Result<(), String> {
        if tuples.is_empty() {
            return Ok(());
        }
        let missing = || format!("`{MODEL}` has no field `{field}` as it should");
        let id = field_named(model, field).ok_or_else(missing)?;
        let problem = &self.translation.problem;
        let ExprNode::Relation(relation) = problem.terms.expr(self.translation.field(id)) else {
            return Err(missing());
        };
        let [left, right] = [
            self.atoms(model, columns[0])?,
            self.atoms(model, columns[1])?,
        ];
        let mut indices = Vec::with_capacity(tuples.len());
        let slot = self
            .instance
            .relations
            .get_mut(relation.0 as usize)
            .ok_or_else(missing)?;
        for [from, to] in tuples {
            let (Some(from), Some(to)) = (left.get(*from), right.get(*to)) else {
                return Err(missing());
            };
            indices.push(slot.index_of(&[*from, *to]));
        }
        *slot = TupleSet::from_unsorted(2, slot.universe_len(), indices);
        Ok(())
    }

    /// The atoms of a signature of which the graph has a known number. Of the two graphs the first
    /// is the one that is judged, the other is `Null`.
    fn atoms(&self, model: &Model, sig: &str) -> Result<Vec<Atom>, String> {
        let failed = || format!("`{MODEL}` has no signature `{sig}` as it should");
        let atoms_of = |sig: &str| {
            let id = sig_named(model, sig).ok_or_else(failed)?;
            Evaluator::new(&self.translation.problem, &self.instance)
                .expr(self.translation.sig(id))
                .map_err(|_| failed())
        };
        let mut atoms = atoms_of(sig)?;
        if sig == "LocationGraph" {
            atoms = atoms.difference(&atoms_of("Null")?);
        }
        Ok(atoms.tuples().flatten().collect())
    }

    /// The constraints of the model that do not hold.
    fn evaluate(&self, limits: &Limits) -> Result<Vec<Diagnostic>, String> {
        let problem = &self.translation.problem;
        let mut evaluator = Evaluator::new(problem, &self.instance).with_limits(limits.clone());
        let mut broken = Vec::new();
        for constraint in &problem.constraints {
            let holds = evaluator
                .formula(constraint.formula)
                .map_err(|error| error.to_string())?;
            if !holds {
                let mut finding = Diagnostic::error(
                    "instance",
                    format!(
                        "this is not an instance of `{MODEL}`: {} does not hold",
                        constraint.label
                    ),
                );
                if let Some(place) = constraint.span {
                    let line = self.sources.position(place.file, place.start).line;
                    finding = finding.help(format!("line {line} of the model says so"));
                }
                broken.push(finding);
            }
        }
        if broken.is_empty() && !evaluator.is_instance().map_err(|error| error.to_string())? {
            return Err("the values are not within the bounds of the model".to_owned());
        }
        Ok(broken)
    }
}

fn sig_named(model: &Model, name: &str) -> Option<SigId> {
    let found = model
        .sigs
        .iter()
        .position(|sig| sig.label.rsplit('/').next() == Some(name))?;
    Some(SigId(u32::try_from(found).ok()?))
}

fn field_named(model: &Model, name: &str) -> Option<FieldId> {
    let found = model.fields.iter().position(|field| field.name == name)?;
    Some(FieldId(u32::try_from(found).ok()?))
}
