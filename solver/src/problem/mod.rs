//! A relational problem: a universe of atoms, relations between bounds, and constraints.
//!
//! Everything that the solver is asked is said in these terms, whoever asks: a command of a model,
//! or a rule about a configuration.

mod tuples;

pub use locus_terms::{
    Arity, Atom, Count, Decl, Expr, ExprNode, Formula, FormulaNode, Int, IntCmp, IntNode, IntOp,
    Mult, Quant, RelationId, Terms, Var,
};
pub use tuples::{CapacityExceeded, TupleSet, Universe};

use locus_core::Span;

/// A relation and what is known of its value.
#[derive(Clone, Debug)]
pub struct Relation {
    /// Name shown in instances.
    pub name: String,
    /// Tuples it certainly has.
    pub lower: TupleSet,
    /// Tuples it may have; a superset of `lower`, equal when the value is known.
    pub upper: TupleSet,
}

/// A top-level constraint, the unit of which an unsatisfiable core is made.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// What must hold.
    pub formula: Formula,
    /// Where it comes from; implicit constraints (a multiplicity, a scope) point at what implies them.
    pub span: Option<Span>,
    /// What it is, in the user's words: ``fact `f` ``, ``multiplicity of field `g` ``.
    pub label: String,
}

/// A total order over the exact atoms of a set, which the solver may fix when it breaks symmetry.
#[derive(Clone, Debug)]
pub struct TotalOrder {
    /// The ordered set: a relation with equal bounds.
    pub elem: RelationId,
    /// The unary relation that holds its first element.
    pub first: RelationId,
    /// The binary successor relation.
    pub next: RelationId,
}

/// A relational problem.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The atoms.
    pub universe: Universe,
    /// Bits of an integer; 0 when there are no integers.
    pub bitwidth: u32,
    /// The atom that stands for each integer, in ascending order of the integers.
    pub ints: Vec<(i64, Atom)>,
    /// The relations.
    pub relations: Vec<Relation>,
    /// All expressions and formulas.
    pub terms: Terms,
    /// What must hold, all together.
    pub constraints: Vec<Constraint>,
    /// Total orders stated by the constraints that the solver may fix instead of translating: the
    /// constraint that says so is *not* in `constraints`, this list replaces it. The bounds of
    /// `first` and `next` allow every order of the atoms of `elem`.
    pub orders: Vec<TotalOrder>,
}

impl Problem {
    /// A problem over these atoms without relations and constraints.
    pub fn new(universe: Universe) -> Self {
        Problem {
            universe,
            bitwidth: 0,
            ints: Vec::new(),
            relations: Vec::new(),
            terms: Terms::default(),
            constraints: Vec::new(),
            orders: Vec::new(),
        }
    }

    /// Adds a relation between two bounds.
    pub fn add_relation(
        &mut self,
        name: impl Into<String>,
        lower: TupleSet,
        upper: TupleSet,
    ) -> RelationId {
        debug_assert!(lower.is_subset(&upper));
        let id = RelationId(u32::try_from(self.relations.len()).unwrap_or(u32::MAX));
        self.relations.push(Relation {
            name: name.into(),
            lower,
            upper,
        });
        id
    }

    /// The relation with this id.
    #[expect(clippy::indexing_slicing, reason = "ids are made by add_relation only")]
    pub fn relation(&self, id: RelationId) -> &Relation {
        &self.relations[id.0 as usize]
    }

    /// The expression of a relation.
    pub fn relation_expr(&mut self, id: RelationId) -> Expr {
        let arity = self.relation(id).upper.arity();
        self.terms.relation(id, arity)
    }

    /// Demands a formula.
    pub fn require(&mut self, formula: Formula, label: impl Into<String>, span: Option<Span>) {
        self.constraints.push(Constraint {
            formula,
            span,
            label: label.into(),
        });
    }
}
