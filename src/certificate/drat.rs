//! A checker of DRAT proofs that shares nothing with the solver.
//!
//! Every clause of a proof must follow by unit propagation, or by that after resolving on its first literal with every
//! clause that has the opposite one. It is simple rather than fast: proofs about configurations are small.

use std::collections::HashMap;

type Clause = Vec<i32>;

/// Whether a proof shows that clauses in DIMACS form contradict each other.
///
/// # Errors
/// Why it does not.
pub fn check(dimacs: &str, proof: &str) -> Result<(), String> {
    let mut clauses = Clauses::default();
    let mut declared = None;
    for line in dimacs.lines() {
        if let Some(header) = line.strip_prefix("p cnf ") {
            let count = header.split_whitespace().nth(1);
            let count: Option<usize> = count.and_then(|count| count.parse().ok());
            if declared
                .replace(count.ok_or("the header is wrong")?)
                .is_some()
            {
                return Err("there are two headers".to_owned());
            }
        } else if !line.starts_with('c') && !line.trim().is_empty() {
            clauses.add(literals(line)?);
        }
    }
    if declared != Some(clauses.all.len()) {
        return Err("the number of clauses is not the one in the header".to_owned());
    }
    for line in proof.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(rest) = line.strip_prefix('d') {
            clauses.delete(literals(rest)?);
            continue;
        }
        let clause = literals(line)?;
        if !clauses.implies(&clause) {
            return Err(format!("the clause `{}` does not follow", line.trim()));
        }
        if clause.is_empty() {
            return Ok(());
        }
        clauses.add(clause);
    }
    if clauses.conflicts(&[]) {
        Ok(())
    } else {
        Err("it does not end in a contradiction".to_owned())
    }
}

fn literals(line: &str) -> Result<Clause, String> {
    let mut words = line.split_whitespace();
    let mut clause = Vec::new();
    loop {
        let word = words.next().ok_or("a clause does not end with 0")?;
        let literal: i32 = word
            .parse()
            .map_err(|_| format!("`{word}` is not a literal"))?;
        match literal {
            0 => break,
            i32::MIN => return Err(format!("`{word}` is not a literal")),
            literal => clause.push(literal),
        }
    }
    match words.next() {
        None => Ok(clause),
        Some(word) => Err(format!("`{word}` stands behind the end of a clause")),
    }
}

/// The clauses that hold, found by the literals in them.
#[derive(Default)]
struct Clauses {
    /// The first literal of a clause comes first; a deleted one is none.
    all: Vec<Option<Clause>>,
    with: HashMap<i32, Vec<usize>>,
    units: Vec<usize>,
    empty: bool,
    by_content: HashMap<Clause, Vec<usize>>,
}

fn sorted(clause: &[i32]) -> Clause {
    let mut sorted = clause.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}

impl Clauses {
    fn add(&mut self, clause: Clause) {
        let at = self.all.len();
        let content = sorted(&clause);
        for &literal in &content {
            self.with.entry(literal).or_default().push(at);
        }
        match content.len() {
            0 => self.empty = true,
            1 => self.units.push(at),
            _ => {}
        }
        self.by_content.entry(content).or_default().push(at);
        self.all.push(Some(clause));
    }

    /// Unit clauses stay, as checkers agree.
    fn delete(&mut self, clause: Clause) {
        let content = sorted(&clause);
        if content.len() < 2 {
            return;
        }
        let at = self.by_content.get_mut(&content).and_then(Vec::pop);
        if let Some(deleted) = at.and_then(|at| self.all.get_mut(at)) {
            *deleted = None;
        }
    }

    fn implies(&self, clause: &[i32]) -> bool {
        if self.conflicts(clause) {
            return true;
        }
        let Some(&pivot) = clause.first() else {
            return false;
        };
        let opposite = self.with.get(&-pivot).into_iter().flatten();
        let mut opposite = opposite.filter_map(|&at| self.all.get(at)?.as_ref());
        opposite.all(|other| {
            let rest = other.iter().filter(|&&literal| literal != -pivot);
            let resolvent: Clause = clause.iter().chain(rest).copied().collect();
            self.conflicts(&resolvent)
        })
    }

    /// Whether unit propagation ends in a conflict when all of some literals are false.
    fn conflicts(&self, falsified: &[i32]) -> bool {
        if self.empty {
            return true;
        }
        let mut truth: HashMap<i32, bool> = HashMap::new();
        let mut open: Vec<i32> = Vec::new();
        // Makes a literal true; says whether it was false.
        let set = |truth: &mut HashMap<i32, bool>, open: &mut Vec<i32>, literal: i32| match truth
            .insert(literal.abs(), literal > 0)
        {
            None => {
                open.push(literal);
                false
            }
            Some(known) => known != (literal > 0),
        };
        for &literal in falsified {
            if set(&mut truth, &mut open, -literal) {
                return true;
            }
        }
        for &at in &self.units {
            let unit = self.all.get(at).and_then(Option::as_ref);
            if let Some(&literal) = unit.and_then(|unit| unit.first())
                && set(&mut truth, &mut open, literal)
            {
                return true;
            }
        }
        while let Some(literal) = open.pop() {
            let touched = self.with.get(&-literal).into_iter().flatten();
            for clause in touched.filter_map(|&at| self.all.get(at)?.as_ref()) {
                let mut left = None;
                let mut several = false;
                let mut satisfied = false;
                for &literal in clause {
                    match truth.get(&literal.abs()) {
                        Some(&known) if known == (literal > 0) => satisfied = true,
                        Some(_) => {}
                        None if left.is_some_and(|other| other != literal) => several = true,
                        None => left = Some(literal),
                    }
                }
                if satisfied || several {
                    continue;
                }
                match left {
                    None => return true,
                    Some(literal) => {
                        set(&mut truth, &mut open, literal);
                    }
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_proofs_pass_and_wrong_ones_do_not() {
        let contradiction = "p cnf 2 4\n1 2 0\n-1 2 0\n1 -2 0\n-1 -2 0\n";
        assert_eq!(check(contradiction, "2 0\n0\n"), Ok(()));
        assert_eq!(check(contradiction, "2 0\nd 1 2 0\n0\n"), Ok(()));
        assert!(
            check(contradiction, "0\n").is_err(),
            "it does not follow at once"
        );
        assert!(check(contradiction, "").is_err());
        assert!(check("p cnf 2 2\n1 2 0\n-1 2 0\n", "2 0\n").is_err());
        assert!(check("p cnf 2 2\n1 2 0\n-1 -2 0\n", "1 0\n0\n").is_err());
        // A unit clause twice, and a literal twice.
        assert_eq!(check("p cnf 1 2\n1 1 0\n-1 0\n", ""), Ok(()));
    }

    #[test]
    fn what_is_no_proof_is_refused() {
        for (cnf, proof) in [
            ("", "0\n"),
            ("p cnf 1 3\n1 0\n-1 0\n", "0\n"),
            ("p cnf 1 2\n1 0\n-1\n", "0\n"),
            ("p cnf 1 2\n1 0\n-1 0\n", "x 0\n"),
            ("p cnf 1 2\n1 0\n-1 0\n", "-2147483648 0\n"),
            ("p cnf 1 1\np cnf 1 1\n1 0\n", "0\n"),
        ] {
            assert!(check(cnf, proof).is_err(), "{cnf:?} {proof:?}");
        }
    }
}
