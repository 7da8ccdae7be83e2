//! Types as they hold: each with what it inherits, refined where it says so.

mod capabilities;
pub mod data;
mod interfaces;
mod members;
pub mod members_role {
    //! What a definition is of.
    pub use super::interfaces::operations;
    pub use super::members::Role;
}
mod refine;
mod requirements;

pub use refine::same;

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use locus_core::{Diagnostic, Span};

use super::files::File;
use super::grammar::TypeKind;
use super::names::{Meaning, Names, TypeId};
use super::text::Count;
use super::version::Version;
use crate::yaml::{Mapping, Node, Schema as Yaml, Typed};

pub use data::{DataType, Primitive, Schema};

/// A property, attribute or parameter of a type.
#[derive(Clone, Debug)]
pub struct Property<'a> {
    /// Its name.
    pub name: Arc<str>,
    /// Where its name is written.
    pub span: Span,
    /// What it holds.
    pub schema: Rc<Schema<'a>>,
    /// Whether it must have a value.
    pub required: bool,
    /// Its value when none is given.
    pub default: Option<&'a Node>,
    /// The value that it always has.
    pub value: Option<&'a Node>,
    /// The file that gives it.
    pub file: usize,
}

/// A capability of a node type.
#[derive(Clone, Debug)]
pub struct Capability<'a> {
    /// Its name.
    pub name: Arc<str>,
    /// Where its name is written.
    pub span: Span,
    /// Its type; none when that is not known.
    pub ty: Option<TypeId>,
    /// Its properties, refined.
    pub properties: Vec<Rc<Property<'a>>>,
    /// Its attributes, refined.
    pub attributes: Vec<Rc<Property<'a>>>,
    /// The node types that may use it.
    pub sources: Allowed,
    /// The types of relationships that may lead to it.
    pub relationships: Allowed,
    /// How many relationships may lead to it.
    pub occurrences: Count,
}

/// A requirement of a node type.
#[derive(Clone, Debug)]
pub struct Requirement<'a> {
    /// Its name.
    pub name: Arc<str>,
    /// Its name as the type writes it.
    pub key: &'a Arc<str>,
    /// Where its name is written.
    pub span: Span,
    /// The type of the capability that it needs.
    pub capability: Option<TypeId>,
    /// The name of the capability that it needs, when it names one of its node type.
    pub capability_name: Option<&'a str>,
    /// The type of the node that it needs.
    pub node: Option<TypeId>,
    /// The type of the relationship that it makes.
    pub relationship: Option<TypeId>,
    /// How often it may be assigned.
    pub count: Count,
    /// What a target must fulfil, with the files that say so: what refines a requirement adds to what it inherits.
    pub filters: Vec<(&'a Node, usize)>,
    /// The relationship that it makes, where the requirement refines what the type of it says.
    pub refined: Option<Rc<Flat<'a>>>,
}

/// An interface of a type.
#[derive(Clone, Debug)]
pub struct Interface<'a> {
    /// Its name.
    pub name: Arc<str>,
    /// Its type; none when that is not known.
    pub ty: Option<TypeId>,
    /// Inputs of all its operations.
    pub inputs: Vec<Rc<Property<'a>>>,
    /// Its operations.
    pub operations: Vec<Rc<Operation<'a>>>,
    /// The names of its notifications.
    pub notifications: Vec<Arc<str>>,
}

/// An operation of an interface.
#[derive(Clone, Debug)]
pub struct Operation<'a> {
    /// Its name.
    pub name: Arc<str>,
    /// Its inputs.
    pub inputs: Vec<Rc<Property<'a>>>,
}

/// Types that are allowed somewhere.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// These and what derives from them; none when all are.
    pub types: Option<Vec<TypeId>>,
    /// Whether one of them is not known, so that another may be allowed too.
    pub open: bool,
}

/// A type with all that it inherits.
#[derive(Clone, Debug, Default)]
pub struct Flat<'a> {
    /// Its properties.
    pub properties: Vec<Rc<Property<'a>>>,
    /// Its attributes.
    pub attributes: Vec<Rc<Property<'a>>>,
    /// Its capabilities.
    pub capabilities: Vec<Rc<Capability<'a>>>,
    /// Its requirements.
    pub requirements: Vec<Rc<Requirement<'a>>>,
    /// Its interfaces.
    pub interfaces: Vec<Rc<Interface<'a>>>,
    /// The names of its artifacts.
    pub artifacts: Vec<Arc<str>>,
    /// Of an interface type: inputs, operations, notifications.
    pub inputs: Vec<Rc<Property<'a>>>,
    /// Its operations.
    pub operations: Vec<Rc<Operation<'a>>>,
    /// The names of its notifications.
    pub notifications: Vec<Arc<str>>,
    /// Of a relationship type: capability types it may lead to.
    pub valid_capabilities: Allowed,
    /// Of a relationship type: node types it may lead to.
    pub valid_targets: Allowed,
    /// Of a relationship or capability type: node types it may come from.
    pub valid_sources: Allowed,
    /// Of a capability type: relationship types that may lead to it.
    pub valid_relationships: Allowed,
    /// Of a group or policy type: types of members or targets.
    pub members: Allowed,
    /// Whether a type it derives from is not known, so that it may have more than is listed.
    pub open: bool,
}

/// All types, understood.
pub struct Model<'a> {
    /// Names.
    pub names: Names<'a>,
    /// What is wrong with the types.
    pub diagnostics: RefCell<Vec<Diagnostic>>,
    /// The first type that derives from too many others, one from the next.
    pub too_deep: Option<TypeId>,
    parents: Vec<Parent>,
    flats: Vec<OnceCell<Rc<Flat<'a>>>>,
    /// What types of lists and maps say of their entries and keys, by the key that says it.
    held: RefCell<Held<'a>>,
    defaults: RefCell<Defaults>,
}

/// Schemas by the type that gives them and the key that it gives them with.
type Held<'a> = HashMap<(TypeId, &'static str), Option<Rc<Schema<'a>>>>;

/// Defaults of properties, by where they are written.
#[derive(Default)]
struct Defaults {
    /// Those that are being read, each for the one before it.
    open: Vec<*const Node>,
    /// Those that hold themselves.
    endless: HashSet<*const Node>,
}

/// What a type derives from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parent {
    /// Nothing.
    None,
    /// A type.
    Type(TypeId),
    /// A type of data that TOSCA itself has.
    Primitive(Primitive),
    /// Something that is not known.
    Unknown,
}

/// Types that derive one from the next, at most: rules know of each all that are above it.
const LEVELS: usize = 1000;

/// Defaults that are read for others, at most; a text nests no deeper either.
const DEFAULTS: usize = 128;

/// What the roots of 1.x derive from, and what has nothing itself (1.3, 5.8.3.1 and 5.9.1.3).
pub(super) const ENTITY: &str = "tosca.entity.Root";

impl<'a> Model<'a> {
    /// The types of some files.
    pub fn new(files: &'a [File]) -> Self {
        let names = Names::new(files);
        let mut model = Model {
            flats: names.types.iter().map(|_| OnceCell::new()).collect(),
            parents: Vec::new(),
            diagnostics: RefCell::default(),
            too_deep: None,
            held: RefCell::default(),
            defaults: RefCell::default(),
            names,
        };
        model.parents = model.names.ids().map(|id| model.find_parent(id)).collect();
        model.break_cycles();
        model.limit_levels();
        model
    }

    /// The file at a position.
    #[expect(
        clippy::indexing_slicing,
        reason = "positions of files are only ever made with the file they stand for"
    )]
    pub fn file(&self, index: usize) -> &'a File {
        &self.names.files[index]
    }

    /// The version of a file.
    pub fn version(&self, file: usize) -> Version {
        self.file(file).version
    }

    fn find_parent(&self, id: TypeId) -> Parent {
        let ty = self.names.get(id);
        let Some(node) = ty.node.get("derived_from") else {
            return Parent::None;
        };
        let Some(Typed::Str(name)) = node.typed(Yaml::Core) else {
            return Parent::Unknown;
        };
        if *name == *ENTITY && self.version(ty.file).is_simple() {
            return Parent::None;
        }
        if ty.kind == TypeKind::Data
            && let Some(primitive) = Primitive::named(&name, self.version(ty.file))
        {
            return Parent::Primitive(primitive);
        }
        match self.names.lookup(ty.file, ty.kind, &name) {
            Meaning::Type(parent) if parent != id => Parent::Type(parent),
            // A type of the same name that comes with the program: `derived_from` means that one.
            Meaning::Type(_) => Parent::Unknown,
            _ => Parent::Unknown,
        }
    }

    /// Whether a node is what a type of a file derives from.
    pub fn derives_from(&self, file: usize, node: &Node) -> bool {
        let mut own = self.names.types.iter().filter(|ty| ty.file == file);
        own.any(|ty| {
            let above = ty.node.get("derived_from");
            above.is_some_and(|above| std::ptr::eq(above, node))
        })
    }

    fn break_cycles(&mut self) {
        // The walk that came by a type first; zero for none.
        let mut walks = vec![0; self.parents.len()];
        for (walk, id) in (1..).zip(self.names.ids()) {
            let mut at = id;
            while let Some(mark) = walks.get_mut(at.index()).filter(|mark| **mark == 0) {
                *mark = walk;
                let Some(Parent::Type(parent)) = self.parents.get(at.index()).copied() else {
                    break;
                };
                at = parent;
                if walks.get(at.index()) == Some(&walk) {
                    let ty = self.names.get(at);
                    let message = format!("`{}` derives from itself", ty.name);
                    let diagnostic = Diagnostic::error("tosca-derivation", message);
                    self.diagnostics.borrow_mut().push(diagnostic.at(ty.span));
                    if let Some(slot) = self.parents.get_mut(at.index()) {
                        *slot = Parent::Unknown;
                    }
                }
            }
        }
    }

    /// Takes what lies above too many levels for unknown.
    fn limit_levels(&mut self) {
        let mut levels = vec![0; self.parents.len()];
        let ids: Vec<TypeId> = self.names.ids().collect();
        for id in ids {
            let unknown = |at: &TypeId| levels.get(at.index()) == Some(&0);
            let due: Vec<TypeId> = self.ancestors(id).take_while(unknown).collect();
            for at in due.into_iter().rev() {
                let above = match self.parent(at) {
                    Parent::Type(parent) => levels.get(parent.index()).copied().unwrap_or(0),
                    _ => 0,
                };
                let own = if above < LEVELS { above + 1 } else { 1 };
                if above >= LEVELS
                    && let Some(parent) = self.parents.get_mut(at.index())
                {
                    *parent = Parent::Unknown;
                    self.too_deep = self.too_deep.or(Some(at));
                }
                if let Some(level) = levels.get_mut(at.index()) {
                    *level = own;
                }
            }
        }
    }

    /// What a type derives from.
    pub fn parent(&self, id: TypeId) -> Parent {
        self.parents
            .get(id.index())
            .copied()
            .unwrap_or(Parent::None)
    }

    /// The type and those it derives from, nearest first.
    pub fn ancestors(&self, id: TypeId) -> impl Iterator<Item = TypeId> + '_ {
        std::iter::successors(Some(id), |&at| match self.parent(at) {
            Parent::Type(parent) => Some(parent),
            _ => None,
        })
    }

    /// Whether what a type derives from is known to the end.
    pub fn is_closed(&self, id: TypeId) -> bool {
        self.ancestors(id)
            .last()
            .is_none_or(|last| self.parent(last) != Parent::Unknown)
    }

    /// Whether a type is another or derives from it; none when that is not known.
    pub fn derives(&self, id: TypeId, from: TypeId) -> Option<bool> {
        if self.ancestors(id).any(|at| at == from) {
            return Some(true);
        }
        if let Some(name) = self.global_name(from) {
            let mut above = self.ancestors(id);
            if above.any(|at| self.global_name(at) == Some(name)) {
                return Some(true);
            }
        }
        self.is_closed(id).then_some(false)
    }

    /// The kind and the full name of a type of 1.x. Two files of a package may define such a type, as some define those of the Simple
    /// Profile anew, and must define it alike (1.3, 3.1.3.1).
    pub fn global_name(&self, id: TypeId) -> Option<(TypeKind, &'a str)> {
        let ty = self.names.get(id);
        let is_global = self.version(ty.file).is_simple() && ty.name.contains('.');
        is_global.then_some((ty.kind, &**ty.name))
    }

    /// The name of a type.
    pub fn name(&self, id: TypeId) -> &'a Arc<str> {
        self.names.get(id).name
    }

    /// Reports something, unless it is about a file that comes with the program.
    pub fn report(&self, file: usize, diagnostic: Diagnostic) {
        if !self.file(file).builtin {
            self.diagnostics.borrow_mut().push(diagnostic);
        }
    }

    /// Reads the default of a property; none when it holds itself, as that of a property of its own type does that is a map without the
    /// property.
    pub fn default<T>(
        &self,
        property: &Property<'a>,
        node: &'a Node,
        read: impl FnOnce() -> T,
    ) -> Option<T> {
        let key = std::ptr::from_ref(node);
        {
            let mut defaults = self.defaults.borrow_mut();
            if defaults.endless.contains(&key) || defaults.open.len() >= DEFAULTS {
                return None;
            }
            if let Some(at) = defaults.open.iter().position(|&open| open == key) {
                let circle: Vec<_> = defaults.open.iter().skip(at).copied().collect();
                defaults.endless.extend(circle);
                let message = format!(
                    "the default of `{}` holds itself without end",
                    property.name
                );
                let diagnostic = Diagnostic::error("tosca-value", message)
                    .help("give the property a value in the default, or no default");
                self.report(property.file, diagnostic.at(node.used_at()));
                return None;
            }
            defaults.open.push(key);
        }
        let value = read();
        self.defaults.borrow_mut().open.pop();
        Some(value)
    }

    /// Finds a type by a node that names it; what it names is told elsewhere when there is none.
    pub fn named(&self, file: usize, kind: TypeKind, node: Option<&Node>) -> Option<TypeId> {
        match node?.typed(Yaml::Core)? {
            Typed::Str(name) => self.names.lookup(file, kind, &name).id(),
            _ => None,
        }
    }

    /// A list of types.
    fn allowed(&self, file: usize, kind: TypeKind, node: Option<&Node>) -> Allowed {
        let Some(items) = node.and_then(Node::as_sequence) else {
            return Allowed::default();
        };
        let types: Vec<Option<TypeId>> = items
            .iter()
            .map(|item| self.named(file, kind, Some(item)))
            .collect();
        Allowed {
            open: types.iter().any(Option::is_none),
            types: Some(types.into_iter().flatten().collect()),
        }
    }

    /// Whether a type is among those allowed; none when that is not known.
    pub fn is_allowed(&self, id: TypeId, allowed: &Allowed) -> Option<bool> {
        let Some(types) = &allowed.types else {
            return Some(true);
        };
        let mut unknown = allowed.open;
        for &from in types {
            match self.derives(id, from) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => unknown = true,
            }
        }
        if unknown { None } else { Some(false) }
    }

    /// A type with all that it inherits.
    pub fn flat(&self, id: TypeId) -> Rc<Flat<'a>> {
        let Some(cell) = self.flats.get(id.index()) else {
            return Rc::default();
        };
        if let Some(flat) = cell.get() {
            return flat.clone();
        }
        // From the first type that is not put together yet down to this one, so that long chains need no deep stack.
        let known = |at: &TypeId| self.flats.get(at.index()).and_then(OnceCell::get).is_none();
        let due: Vec<TypeId> = self.ancestors(id).skip(1).take_while(known).collect();
        for at in due.into_iter().rev() {
            let flat = Rc::new(self.flatten(at));
            if let Some(cell) = self.flats.get(at.index()) {
                cell.get_or_init(|| flat);
            }
        }
        let flat = Rc::new(self.flatten(id));
        cell.get_or_init(|| flat).clone()
    }
}

/// The entries of a section with names.
pub fn entries<'a>(
    node: Option<&'a Node>,
) -> impl Iterator<Item = (&'a Arc<str>, &'a crate::yaml::Entry)> {
    let map: Option<&'a Mapping> = node.and_then(Node::as_mapping);
    map.into_iter().flat_map(Mapping::named)
}

/// The entries of a list of maps with one name each, or of a map.
pub fn ordered(node: Option<&Node>) -> Vec<(&Arc<str>, &crate::yaml::Entry)> {
    let Some(node) = node else { return Vec::new() };
    match node.as_sequence() {
        Some(items) => {
            let maps = items.iter().filter_map(Node::as_mapping);
            maps.filter_map(|map| map.named().next()).collect()
        }
        None => entries(Some(node)).collect(),
    }
}

/// The item with a name.
pub fn find<'v, 'a, T: Named>(list: &'v [Rc<T>], name: &str) -> Option<&'v Rc<T>>
where
    'a: 'v,
{
    list.iter().find(|item| item.name() == name)
}

/// Something that has a name.
pub trait Named {
    /// Its name.
    fn name(&self) -> &str;
}

macro_rules! named {
    ($($ty:ident),*) => { $(impl Named for $ty<'_> {
        fn name(&self) -> &str {
            &self.name
        }
    })* };
}

named!(Property, Capability, Requirement, Interface, Operation);
