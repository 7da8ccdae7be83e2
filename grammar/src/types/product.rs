//! The bounding type itself: a union of products of signatures, or a formula.

use std::collections::HashSet;
use std::rc::Rc;

use super::hierarchy::Hierarchy;
use crate::model::{self, SigId, builtin};

/// One product of signatures: the columns of a tuple.
pub(crate) type Product = Rc<[SigId]>;

/// Products of types with more products than this are not told apart any more.
const MAX_PRODUCTS: usize = 1_024;

/// Larger unions drop duplicates only: comparing each with all would take too long.
const LARGE_UNION: usize = 64;

/// A bounding type.
///
/// An integer value has the type of a set of integers and the mark `is_value`: it can be used as
/// a set, and every operation on sets drops the mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Type {
    products: Rc<Vec<Product>>,
    pub(crate) is_bool: bool,
    is_value: bool,
}

fn is_empty(product: &Product) -> bool {
    product.first().is_none_or(|sig| *sig == builtin::NONE)
}

fn is_sub(hierarchy: &Hierarchy, a: &Product, b: &Product) -> bool {
    a.iter()
        .zip(b.iter())
        .all(|(a, b)| hierarchy.is_sub(*a, *b))
}

fn none(arity: usize) -> Product {
    std::iter::repeat_n(builtin::NONE, arity).collect()
}

/// The columns they have in common; `none` in every column when one is empty.
fn intersect(hierarchy: &Hierarchy, a: &Product, b: &Product) -> Product {
    if is_empty(a) {
        return a.clone();
    }
    if is_empty(b) {
        return b.clone();
    }
    let columns: Product = a
        .iter()
        .zip(b.iter())
        .map(|(a, b)| hierarchy.intersect(*a, *b))
        .collect();
    if columns.contains(&builtin::NONE) {
        none(columns.len())
    } else {
        columns
    }
}

/// `a.b`; `None` when both have one column.
pub(crate) fn join(hierarchy: &Hierarchy, a: &Product, b: &Product) -> Option<Product> {
    let (last, a_rest) = a.split_last()?;
    let (first, b_rest) = b.split_first()?;
    let arity = a_rest.len() + b_rest.len();
    if arity == 0 {
        return None;
    }
    if !hierarchy.intersects(*last, *first) {
        return Some(none(arity));
    }
    Some(a_rest.iter().chain(b_rest).copied().collect())
}

pub(crate) fn product(a: &Product, b: &Product) -> Product {
    if is_empty(a) || is_empty(b) {
        return none(a.len() + b.len());
    }
    a.iter().chain(b.iter()).copied().collect()
}

/// One column narrowed to a signature.
pub(crate) fn restrict(hierarchy: &Hierarchy, a: &Product, column: usize, to: SigId) -> Product {
    let Some(at) = a.get(column) else {
        return a.clone();
    };
    if is_empty(a) {
        return a.clone();
    }
    let narrowed = hierarchy.intersect(*at, to);
    if narrowed == *at {
        a.clone()
    } else if narrowed == builtin::NONE {
        none(a.len())
    } else {
        let mut columns: Vec<SigId> = a.to_vec();
        if let Some(slot) = columns.get_mut(column) {
            *slot = narrowed;
        }
        columns.into()
    }
}

/// Collects products, dropping those that others include.
#[derive(Default)]
pub(crate) struct Union {
    products: Vec<Product>,
    /// The same products, once there are many.
    known: HashSet<Product>,
}

impl Union {
    pub(crate) fn from(ty: &Type) -> Self {
        Union {
            products: ty.products.to_vec(),
            known: HashSet::new(),
        }
    }

    pub(crate) fn add(&mut self, hierarchy: &Hierarchy, x: Product) {
        if x.is_empty() {
            return;
        }
        if self.products.len() > LARGE_UNION {
            if self.known.is_empty() {
                self.known = self.products.iter().cloned().collect();
            }
            let is_new = !is_empty(&x) || self.products.iter().all(|y| y.len() != x.len());
            if is_new && self.known.insert(x.clone()) {
                self.products.push(x);
            }
            return;
        }
        let mut at = self.products.len();
        while at > 0 {
            at -= 1;
            let Some(y) = self.products.get(at) else {
                break;
            };
            if y.len() != x.len() {
                continue;
            }
            if is_sub(hierarchy, &x, y) {
                return;
            }
            if is_sub(hierarchy, y, &x) {
                self.products.swap_remove(at);
            }
        }
        self.products.push(x);
    }

    pub(crate) fn finish(self) -> Type {
        Type {
            products: Rc::new(self.products),
            is_bool: false,
            is_value: false,
        }
    }
}

impl Type {
    /// The type of what has none: an error.
    pub(crate) fn empty() -> Self {
        Self::default()
    }

    /// The type of formulas.
    pub(crate) fn formula() -> Self {
        Type {
            is_bool: true,
            ..Self::default()
        }
    }

    /// The type of integer values.
    pub(crate) fn value() -> Self {
        Type {
            is_value: true,
            ..Self::sig(builtin::INT)
        }
    }

    /// The type of a set of atoms of one signature.
    pub(crate) fn sig(sig: SigId) -> Self {
        Self::of(Rc::from([sig]))
    }

    pub(crate) fn pair(sig: SigId) -> Self {
        Self::of(Rc::from([sig, sig]))
    }

    fn of(product: Product) -> Self {
        Type {
            products: Rc::new(vec![product]),
            is_bool: false,
            is_value: false,
        }
    }

    pub(crate) fn products(&self) -> impl Iterator<Item = &Product> {
        self.products.iter()
    }

    /// Neither a formula nor a relation.
    pub(crate) fn is_nothing(&self) -> bool {
        !self.is_bool && self.products.is_empty()
    }

    /// Has at least one product, be it of `none`.
    pub(crate) fn is_relation(&self) -> bool {
        !self.products.is_empty()
    }

    /// An integer value, not a set.
    pub(crate) fn is_value(&self) -> bool {
        self.is_value
    }

    /// Can be a set of integers.
    pub(crate) fn has_int(&self) -> bool {
        self.products
            .iter()
            .any(|product| matches!(product.as_ref(), [builtin::INT]))
    }

    /// Some product is not empty.
    pub(crate) fn has_tuple(&self) -> bool {
        self.products.iter().any(|product| !is_empty(product))
    }

    pub(crate) fn has_arity(&self, arity: usize) -> bool {
        self.products.iter().any(|product| product.len() == arity)
    }

    /// The arity of all products; `None` without products or when they differ.
    pub(crate) fn arity(&self) -> Option<usize> {
        let first = self.products.first()?.len();
        self.products
            .iter()
            .all(|product| product.len() == first)
            .then_some(first)
    }

    pub(crate) fn has_common_arity(&self, other: &Type) -> bool {
        self.products
            .iter()
            .any(|product| other.has_arity(product.len()))
    }

    pub(crate) fn first_column_overlaps(&self, hierarchy: &Hierarchy, other: &Type) -> bool {
        self.products.iter().any(|a| {
            other.products.iter().any(|b| match (a.first(), b.first()) {
                (Some(a), Some(b)) => hierarchy.intersects(*a, *b),
                _ => false,
            })
        })
    }

    /// `other ++ self` may replace something.
    pub(crate) fn can_override(&self, hierarchy: &Hierarchy, other: &Type) -> bool {
        self.products.iter().any(|a| {
            other.products.iter().any(|b| match (a.first(), b.first()) {
                (Some(x), Some(y)) => a.len() == b.len() && hierarchy.intersects(*x, *y),
                _ => false,
            })
        })
    }

    /// They may share a tuple.
    pub(crate) fn intersects(&self, hierarchy: &Hierarchy, other: &Type) -> bool {
        self.products.iter().filter(|a| !is_empty(a)).any(|a| {
            other.products.iter().any(|b| {
                a.len() == b.len()
                    && !is_empty(b)
                    && a.iter()
                        .zip(b.iter())
                        .all(|(a, b)| hierarchy.intersects(*a, *b))
            })
        })
    }

    /// Keeps the products only.
    pub(crate) fn as_relation(&self) -> Type {
        Type {
            products: self.products.clone(),
            is_bool: false,
            is_value: false,
        }
    }

    pub(crate) fn or_formula(mut self) -> Type {
        self.is_bool = true;
        self
    }

    fn build(&self, f: impl FnOnce(&mut Union)) -> Type {
        let mut union = Union::default();
        f(&mut union);
        union.finish()
    }

    pub(crate) fn intersect(&self, hierarchy: &Hierarchy, other: &Type) -> Type {
        // What both have is the whole of what they share for it; with many products most are such.
        let shared: HashSet<&Product> = if other.products.len() > LARGE_UNION {
            other.products.iter().collect()
        } else {
            HashSet::new()
        };
        self.build(|union| {
            for a in self.products.iter() {
                if shared.contains(a) {
                    union.add(hierarchy, a.clone());
                    continue;
                }
                for b in other.products.iter().filter(|b| a.len() == b.len()) {
                    union.add(hierarchy, intersect(hierarchy, a, b));
                }
            }
        })
    }

    pub(crate) fn intersect_product(&self, hierarchy: &Hierarchy, other: &Product) -> Type {
        self.build(|union| {
            for a in self.products.iter().filter(|a| a.len() == other.len()) {
                union.add(hierarchy, intersect(hierarchy, a, other));
            }
        })
    }

    /// Everything that either may be, formula included.
    pub(crate) fn merge(&self, hierarchy: &Hierarchy, other: &Type) -> Type {
        if self.is_bool == other.is_bool {
            if self.products.is_empty() {
                return other.clone();
            }
            if other.products.is_empty() {
                return self.clone();
            }
        }
        let mut union = Union::from(self);
        for product in other.products.iter() {
            union.add(hierarchy, product.clone());
        }
        let mut merged = union.finish();
        merged.is_bool = self.is_bool || other.is_bool;
        merged
    }

    /// The union of products whose arity both have.
    pub(crate) fn union(&self, hierarchy: &Hierarchy, other: &Type) -> Type {
        self.build(|union| {
            for a in self.products.iter().filter(|a| other.has_arity(a.len())) {
                union.add(hierarchy, a.clone());
            }
            for b in other.products.iter().filter(|b| self.has_arity(b.len())) {
                union.add(hierarchy, b.clone());
            }
        })
    }

    /// The products whose arity the other has too.
    pub(crate) fn pick_common_arity(&self, other: &Type) -> Type {
        self.filtered(|product| other.has_arity(product.len()))
    }

    /// The products of this arity.
    pub(crate) fn extract(&self, arity: usize) -> Type {
        self.filtered(|product| product.len() == arity)
    }

    fn filtered(&self, keep: impl Fn(&Product) -> bool) -> Type {
        Type {
            products: Rc::new(self.products.iter().filter(|p| keep(p)).cloned().collect()),
            is_bool: false,
            is_value: false,
        }
    }

    pub(crate) fn product(&self, hierarchy: &Hierarchy, other: &Type) -> Type {
        if self.products.len().saturating_mul(other.products.len()) > MAX_PRODUCTS {
            return self.coarse().product(hierarchy, &other.coarse());
        }
        self.build(|union| {
            for a in self.products.iter() {
                for b in other.products.iter() {
                    union.add(hierarchy, product(a, b));
                }
            }
        })
    }

    pub(crate) fn join(&self, hierarchy: &Hierarchy, other: &Type) -> Type {
        let pairs = self.products.len().saturating_mul(other.products.len());
        if pairs > MAX_PRODUCTS * MAX_PRODUCTS {
            return self.coarse().join(hierarchy, &other.coarse());
        }
        self.build(|union| {
            for a in self.products.iter() {
                for b in other.products.iter() {
                    if let Some(joined) = join(hierarchy, a, b) {
                        union.add(hierarchy, joined);
                    }
                }
            }
        })
    }

    /// Everything of the same arities.
    fn coarse(&self) -> Type {
        let mut products: Vec<Product> = Vec::new();
        for product in self.products.iter() {
            if products.iter().all(|known| known.len() != product.len()) {
                products.push(std::iter::repeat_n(builtin::UNIV, product.len()).collect());
            }
        }
        Type {
            products: Rc::new(products),
            is_bool: false,
            is_value: false,
        }
    }

    pub(crate) fn transpose(&self, hierarchy: &Hierarchy) -> Type {
        self.build(|union| {
            for a in self.products.iter() {
                if let [x, y] = a.as_ref() {
                    union.add(hierarchy, Rc::from([*y, *x]));
                }
            }
        })
    }

    pub(crate) fn closure(&self, hierarchy: &Hierarchy) -> Type {
        let step = self.extract(2);
        let mut all = step.clone();
        let mut more = step.clone();
        loop {
            more = more.join(hierarchy, &step);
            let next = all.union(hierarchy, &more);
            if next == all || all.products.is_empty() {
                return all;
            }
            all = next;
        }
    }

    /// `other <: self`.
    pub(crate) fn domain_restrict(&self, hierarchy: &Hierarchy, other: &Type) -> Type {
        self.restrict_column(hierarchy, other, |_| 0)
    }

    /// `self :> other`.
    pub(crate) fn range_restrict(&self, hierarchy: &Hierarchy, other: &Type) -> Type {
        self.restrict_column(hierarchy, other, |arity| arity.saturating_sub(1))
    }

    fn restrict_column(
        &self,
        hierarchy: &Hierarchy,
        other: &Type,
        column: impl Fn(usize) -> usize,
    ) -> Type {
        self.build(|union| {
            for b in other.products.iter() {
                let [to] = b.as_ref() else { continue };
                for a in self.products.iter() {
                    union.add(hierarchy, restrict(hierarchy, a, column(a.len()), *to));
                }
            }
        })
    }

    /// As the model keeps it.
    pub(crate) fn to_model(&self) -> model::Type {
        if self.is_value {
            return model::Type::int();
        }
        model::Type {
            products: self.products.iter().map(|p| p.to_vec()).collect(),
            is_bool: self.is_bool,
            is_int: false,
        }
    }

    /// In the words of the model: `A -> B, C`.
    pub(crate) fn describe(&self, name: impl Fn(SigId) -> String) -> String {
        if self.is_bool && self.products.is_empty() {
            return "a formula".to_owned();
        }
        if self.is_value {
            return "an integer".to_owned();
        }
        let mut shown: Vec<String> = self
            .products
            .iter()
            .take(8)
            .map(|product| {
                let columns: Vec<String> = product.iter().map(|sig| name(*sig)).collect();
                format!("`{}`", columns.join(" -> "))
            })
            .collect();
        if self.products.len() > shown.len() {
            shown.push("..".to_owned());
        }
        if self.is_bool {
            shown.push("a formula".to_owned());
        }
        if shown.is_empty() {
            "nothing".to_owned()
        } else {
            shown.join(" or ")
        }
    }
}
