//! The smallest instance.

use super::{Error, Instance, Outcome, Search};

impl Search<'_> {
    /// An instance with as few tuples as possible among those not seen yet; at a limit it is not
    /// known which one that is.
    pub fn smallest(&mut self) -> Result<Outcome, Error> {
        self.widen()?;
        if self.found {
            self.block();
        }
        let mut best: Option<(Instance, Vec<bool>)> = None;
        let mut counter: Vec<i32> = Vec::new();
        let mut size = 0;
        loop {
            // Fewer than the best has: the counter says when there are `size`.
            let bound: Vec<i32> = match &best {
                None => Vec::new(),
                Some(_) => match counter.get(size - 1) {
                    Some(&reached) => vec![-reached],
                    None => return Err(Error::Internal("a count is missing".into())),
                },
            };
            match self.solve(&bound)? {
                Outcome::Sat(instance) => {
                    size = self.size();
                    if best.is_none() && size > 0 {
                        let primary = self.primary.clone();
                        counter = self.count(&primary, size);
                    }
                    best = Some((instance, self.blocked_values.clone()));
                    if size == 0 {
                        break;
                    }
                }
                Outcome::Unsat => break,
                unknown => return Ok(unknown),
            }
        }
        match best {
            None => Ok(Outcome::Unsat),
            Some((instance, values)) => {
                self.blocked_values = values;
                self.found = true;
                Ok(Outcome::Sat(instance))
            }
        }
    }

    /// Number of open bits that are set in the model.
    fn size(&self) -> usize {
        self.blocked_values.iter().filter(|&&value| value).count()
    }

    /// Variables of which the `i`-th (from zero) must hold when more than `i` of `vars` do, up to
    /// `most`: a totalizer in the direction that bounds from above.
    fn count(&mut self, vars: &[i32], most: usize) -> Vec<i32> {
        if vars.len() <= 1 {
            return vars.to_vec();
        }
        let (left, right) = vars.split_at(vars.len() / 2);
        let left = self.count(left, most);
        let right = self.count(right, most);
        let total: Vec<i32> = (0..(left.len() + right.len()).min(most))
            .map(|_| {
                self.last_var += 1;
                self.last_var
            })
            .collect();
        for i in 0..=left.len() {
            for j in 0..=right.len() {
                let Some(&reached) = (i + j)
                    .checked_sub(1)
                    .map(|at| at.min(most - 1))
                    .and_then(|at| total.get(at))
                else {
                    continue;
                };
                let mut clause = vec![reached];
                clause.extend(i.checked_sub(1).and_then(|at| left.get(at)).map(|var| -var));
                clause.extend(
                    j.checked_sub(1)
                        .and_then(|at| right.get(at))
                        .map(|var| -var),
                );
                self.solver.add_clause(&clause);
            }
        }
        total
    }
}
