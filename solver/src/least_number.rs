//! The least number heuristic: which atom an existential variable stands for does not matter as long
//! as nothing tells the atoms apart.
//!
//! The first variable over ten interchangeable atoms may as well be the first of them, the second one
//! of the first two, and so on. So a claim about two configurations speaks of two atoms instead of
//! every pair, and what is said of them folds to rows of relations. After the variables, whatever else
//! is one atom of an atom already chosen (its name, its owner) is treated in the same way. Finite
//! model finders do so for constants and functions (K. Claessen and N. Sörensson, "New techniques
//! that improve MACE-style finite model finding").

use crate::problem::Formula;
use crate::skolem::Skolem;
use crate::tighten::Tightener;

/// Leaves each constant the atoms that were chosen before and one more of each class, and tightens
/// the bounds by what `formulas` then say. The atoms chosen leave their classes: they are told apart
/// from now on.
pub(crate) fn choose(
    tightener: &mut Tightener,
    formulas: &[Formula],
    relations: usize,
    skolems: &[Skolem],
    classes: &mut Vec<Vec<u32>>,
) {
    for (place, skolem) in (relations..).zip(skolems) {
        tightener.read(formulas);
        if !skolem.constant || tightener.upper(place).len() < 2 {
            continue;
        }
        let upper = tightener.upper(place).to_vec();
        let possible = |atom: u32| upper.binary_search(&u64::from(atom)).is_ok();
        let mut others = Vec::new();
        for class in classes.iter_mut() {
            if !class.iter().any(|&atom| possible(atom)) {
                continue;
            }
            // A bound that tells atoms of a class apart was learnt from what holds for all of them.
            others.extend(class.iter().skip(1).map(|&atom| u64::from(atom)));
            class.remove(0);
        }
        tightener.restrict(place, |atom| !others.contains(&atom));
    }
    tightener.read_choosing(formulas, classes);
    classes.retain(|class| class.len() > 1);
}
