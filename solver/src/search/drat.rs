//! An independent checker of DRAT proofs, and proofs of the solver given to it.
//!
//! It is slow and simple: every clause of the proof must follow by unit propagation, or by that after
//! resolving on its first literal with every clause that has the opposite one.

use std::collections::HashMap;

use super::{Options, Outcome, Search};
use crate::agreement::pigeonhole;

type Clause = Vec<i32>;

fn sorted(mut clause: Clause) -> Clause {
    clause.sort_unstable();
    clause.dedup();
    clause
}

/// Parses DIMACS or the text form of DRAT; deletions are marked.
fn parse(text: &str) -> Vec<(bool, Clause)> {
    text.lines()
        .filter(|line| !line.starts_with(['p', 'c']) && !line.trim().is_empty())
        .map(|line| {
            let (deleted, rest) = match line.strip_prefix('d') {
                Some(rest) => (true, rest),
                None => (false, line),
            };
            let lits = rest.split_whitespace().map(|lit| lit.parse().unwrap());
            (deleted, lits.take_while(|&lit: &i32| lit != 0).collect())
        })
        .collect()
}

/// Whether the clauses lead to a conflict by unit propagation when all literals are false.
fn conflicts(clauses: &[Clause], falsified: &[i32]) -> bool {
    let mut values: HashMap<i32, bool> = HashMap::new();
    for &lit in falsified {
        if values.insert(lit.abs(), lit < 0) == Some(lit > 0) {
            return true;
        }
    }
    loop {
        let mut changed = false;
        for clause in clauses {
            let mut open = None;
            let mut count = 0;
            let mut satisfied = false;
            for &lit in clause {
                match values.get(&lit.abs()) {
                    Some(&value) if value == (lit > 0) => satisfied = true,
                    Some(_) => {}
                    None => {
                        open = Some(lit);
                        count += 1;
                    }
                }
            }
            if satisfied {
                continue;
            }
            match (count, open) {
                (0, _) => return true,
                (1, Some(lit)) => {
                    values.insert(lit.abs(), lit > 0);
                    changed = true;
                }
                _ => {}
            }
        }
        if !changed {
            return false;
        }
    }
}

/// Whether a proof shows that the clauses contradict each other.
fn check(dimacs: &str, drat: &str) -> Result<(), String> {
    let mut clauses: Vec<Clause> = parse(dimacs)
        .into_iter()
        .map(|entry| sorted(entry.1))
        .collect();
    for (deleted, lits) in parse(drat) {
        let clause = sorted(lits.clone());
        if deleted {
            // Unit clauses stay, as checkers agree.
            if clause.len() > 1
                && let Some(at) = clauses.iter().position(|other| *other == clause)
            {
                clauses.swap_remove(at);
            }
            continue;
        }
        let implied = conflicts(&clauses, &lits)
            || lits.first().is_some_and(|&pivot| {
                clauses
                    .iter()
                    .filter(|other| other.contains(&-pivot))
                    .all(|other| {
                        let mut resolvent = lits.clone();
                        resolvent.extend(other.iter().filter(|&&lit| lit != -pivot));
                        conflicts(&clauses, &resolvent)
                    })
            });
        if !implied {
            return Err(format!("{lits:?} does not follow"));
        }
        if clause.is_empty() {
            return Ok(());
        }
        clauses.push(clause);
    }
    if conflicts(&clauses, &[]) {
        Ok(())
    } else {
        Err("the proof does not end in a contradiction".into())
    }
}

#[test]
fn the_checker_rejects_wrong_proofs() {
    assert!(check("p cnf 2 2\n1 2 0\n-1 2 0\n", "2 0\n").is_err());
    assert!(check("p cnf 2 3\n1 2 0\n-1 2 0\n-2 0\n", "0\n").is_ok());
    assert!(check("p cnf 2 2\n1 2 0\n-1 -2 0\n", "1 0\n0\n").is_err());
}

#[test]
fn proofs_of_pigeonholes_are_right() {
    for symmetry in [0, 20] {
        let problem = pigeonhole(4, 3);
        let options = Options {
            symmetry,
            ..Options::default()
        };
        let mut search = Search::new(&problem, &options).unwrap();
        assert_eq!(search.next().unwrap(), Outcome::Unsat);
        let proof = search.proof().unwrap();
        let dimacs = String::from_utf8(proof.dimacs).unwrap();
        let drat = String::from_utf8(proof.drat).unwrap();
        assert!(dimacs.starts_with("p cnf "));
        check(&dimacs, &drat).unwrap();
        // A proof of something else is no proof of this.
        let half: String = dimacs
            .lines()
            .take(6)
            .map(|line| format!("{line}\n"))
            .collect();
        assert!(check(&half, &drat).is_err());
    }
}
