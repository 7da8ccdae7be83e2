//! A smaller problem first: fewer of the atoms that nothing tells apart.
//!
//! A command for twenty of everything mostly has an instance with three of most things. What is left
//! out here are possible tuples only, so an instance of the smaller problem is one of the whole.

use crate::sets::{self, Space};
use crate::tighten::Bounds;

/// How many atoms of a class are left besides those that were chosen for something.
const SPARE: usize = if cfg!(test) { 1 } else { 4 };

/// With fewer open tuples than this, all are looked at at once.
const LARGE: usize = if cfg!(test) { 1 } else { 4096 };

/// The bounds without most of the atoms in `classes`, of which none was chosen for anything; none when
/// that is not worth the while. `arities` are those of the relations, of which the first `relations`
/// are no skolems.
pub(crate) fn narrow(
    atoms: usize,
    relations: usize,
    arities: &[usize],
    bounds: &[Bounds],
    classes: &[Vec<u32>],
) -> Option<Vec<Bounds>> {
    let mut left_out = vec![false; atoms];
    for class in classes {
        // A class that many signatures share needs an atom for each.
        let sharing = bounds
            .iter()
            .take(relations)
            .zip(arities)
            .filter(|((_, upper), arity)| {
                **arity == 1
                    && class
                        .first()
                        .is_some_and(|&atom| sets::contains(upper, u64::from(atom)))
            });
        let spare = sharing.count().max(SPARE);
        for &atom in class.iter().skip(spare) {
            if let Some(slot) = left_out.get_mut(atom as usize) {
                *slot = true;
            }
        }
    }
    // What surely exists stays.
    for ((lower, _), _) in bounds.iter().zip(arities).filter(|entry| *entry.1 == 1) {
        for &atom in lower {
            if let Some(slot) = usize::try_from(atom)
                .ok()
                .and_then(|at| left_out.get_mut(at))
            {
                *slot = false;
            }
        }
    }
    let space = Space::new(atoms);
    let stays = |tuple: u64, arity: usize| {
        let mut rest = tuple;
        (0..arity).all(|_| {
            let atom = usize::try_from(rest % space.atoms()).unwrap_or(usize::MAX);
            rest /= space.atoms();
            left_out.get(atom) == Some(&false)
        })
    };
    let open = |bounds: &[Bounds]| -> usize {
        let open = bounds
            .iter()
            .map(|(lower, upper)| upper.len() - lower.len());
        open.sum()
    };
    let smaller: Vec<Bounds> = bounds
        .iter()
        .zip(arities)
        .map(|((lower, upper), &arity)| {
            let upper = upper.iter().copied();
            let upper = upper.filter(|&t| stays(t, arity) || sets::contains(lower, t));
            (lower.clone(), upper.collect())
        })
        .collect();
    let whole = open(bounds);
    (whole >= LARGE && open(&smaller) < whole / 2).then_some(smaller)
}
