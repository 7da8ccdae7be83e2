//! Who can be served together: items that each need some units of the places they may use, places that have so many.

use std::collections::VecDeque;

/// What is to be assigned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Problem {
    /// How many units each item needs.
    pub needs: Vec<u64>,
    /// The places that each item may use.
    pub fits: Vec<Vec<usize>>,
    /// How many units each place has; none when that is without limit.
    pub places: Vec<Option<u64>>,
}

/// Which items take how many units of which places.
struct Assignment<'p> {
    problem: &'p Problem,
    /// For each item, what it takes of the places that it may use, in their order.
    taken: Vec<Vec<u64>>,
    /// The items that may use a place, with the number of the place among theirs.
    users: Vec<Vec<(usize, usize)>>,
    left: Vec<Option<u64>>,
}

impl<'p> Assignment<'p> {
    fn new(problem: &'p Problem, items: &[usize]) -> Self {
        let mut users = vec![Vec::new(); problem.places.len()];
        for &item in items {
            for (number, &place) in problem.fits.get(item).into_iter().flatten().enumerate() {
                if let Some(users) = users.get_mut(place) {
                    users.push((item, number));
                }
            }
        }
        Assignment {
            problem,
            taken: problem
                .fits
                .iter()
                .map(|fits| vec![0; fits.len()])
                .collect(),
            users,
            left: problem.places.clone(),
        }
    }

    fn fits(&self, item: usize) -> &'p [usize] {
        self.problem.fits.get(item).map_or(&[], Vec::as_slice)
    }

    fn free(&self, place: usize) -> u64 {
        self.left.get(place).copied().flatten().unwrap_or(u64::MAX)
    }

    fn change(&mut self, item: usize, number: usize, by: u64, more: bool) {
        let cell = self
            .taken
            .get_mut(item)
            .and_then(|taken| taken.get_mut(number));
        if let Some(cell) = cell {
            *cell = if more {
                cell.saturating_add(by)
            } else {
                cell.saturating_sub(by)
            };
        }
    }

    /// Gives an item all that it needs, moving others where that helps; otherwise, the items that are in each other's way.
    fn serve(&mut self, item: usize) -> Result<(), Vec<usize>> {
        let mut need = self.problem.needs.get(item).copied().unwrap_or(0);
        while need > 0 {
            need -= self.augment(item, need)?;
        }
        Ok(())
    }

    /// Finds some units for an item.
    fn augment(&mut self, item: usize, need: u64) -> Result<u64, Vec<usize>> {
        // From an item to a place that it may use, from there to items that could give it up.
        let mut from: Vec<Option<(usize, usize)>> = vec![None; self.problem.places.len()];
        let mut through: Vec<Option<(usize, usize)>> = vec![None; self.problem.needs.len()];
        let mut seen = vec![item];
        let mut queue = VecDeque::from([item]);
        while let Some(at) = queue.pop_front() {
            for (number, &place) in self.fits(at).iter().enumerate() {
                match from.get_mut(place) {
                    Some(known @ None) => *known = Some((at, number)),
                    _ => continue,
                }
                if self.free(place) > 0 {
                    return Ok(self.shift(item, place, need, &from, &through));
                }
                for &(other, theirs) in self.users.get(place).into_iter().flatten() {
                    let holds = self.taken.get(other).and_then(|taken| taken.get(theirs));
                    if holds.is_some_and(|&holds| holds > 0) && !seen.contains(&other) {
                        if let Some(known) = through.get_mut(other) {
                            *known = Some((place, theirs));
                        }
                        seen.push(other);
                        queue.push_back(other);
                    }
                }
            }
        }
        Err(seen)
    }

    /// The places of which an item has units.
    fn held_by(&self, item: usize) -> Vec<usize> {
        let taken = self.taken.get(item).into_iter().flatten();
        let held = self.fits(item).iter().zip(taken);
        held.filter(|(_, units)| **units > 0)
            .map(|(place, _)| *place)
            .collect()
    }

    /// The places that a unit can come from when one more of a place is taken: that place, those that its users may use, and so on.
    fn reached(&self, start: usize) -> Vec<bool> {
        let mut reached = vec![false; self.problem.places.len()];
        let mut queue = vec![start];
        while let Some(place) = queue.pop() {
            match reached.get_mut(place) {
                Some(known @ false) => *known = true,
                _ => continue,
            }
            for &(other, theirs) in self.users.get(place).into_iter().flatten() {
                let holds = self.taken.get(other).and_then(|taken| taken.get(theirs));
                if holds.is_some_and(|&holds| holds > 0) {
                    queue.extend(self.fits(other));
                }
            }
        }
        reached
    }

    /// Moves units along the way that was found, as many as all of it allows.
    fn shift(
        &mut self,
        item: usize,
        end: usize,
        need: u64,
        from: &[Option<(usize, usize)>],
        through: &[Option<(usize, usize)>],
    ) -> u64 {
        let mut steps = Vec::new();
        let mut units = need.min(self.free(end));
        let mut place = end;
        while let Some((at, number)) = from.get(place).copied().flatten() {
            steps.push((at, number, true));
            if at == item {
                break;
            }
            let Some((before, theirs)) = through.get(at).copied().flatten() else {
                break;
            };
            let holds = self.taken.get(at).and_then(|taken| taken.get(theirs));
            units = units.min(holds.copied().unwrap_or(0));
            steps.push((at, theirs, false));
            place = before;
        }
        for (at, number, more) in steps {
            self.change(at, number, units, more);
        }
        if let Some(Some(left)) = self.left.get_mut(end) {
            *left = left.saturating_sub(units);
        }
        units
    }
}

impl Problem {
    /// Items that no place without a limit would do for.
    fn limited(&self, items: &[usize]) -> Vec<usize> {
        let limited = |item: &usize| {
            let mut fits = self.fits.get(*item).into_iter().flatten();
            fits.all(|&place| self.places.get(place).is_some_and(Option::is_some))
        };
        items.iter().copied().filter(limited).collect()
    }

    /// A smallest set of items that cannot be served together, if there is one: without any of them the others could be.
    pub(crate) fn shortage(&self, items: &[usize]) -> Option<Vec<usize>> {
        let mut core = self.in_the_way(items)?;
        // What is left out of the core one by one, and it stays too large, was not needed.
        let mut at = 0;
        while at < core.len() {
            let mut without = core.clone();
            without.remove(at);
            match self.in_the_way(&without) {
                Some(smaller) => core = smaller,
                None => at += 1,
            }
        }
        core.sort_unstable();
        Some(core)
    }

    /// Items that cannot be served together, not the fewest.
    fn in_the_way(&self, items: &[usize]) -> Option<Vec<usize>> {
        let items = self.limited(items);
        let mut assignment = Assignment::new(self, &items);
        items.iter().find_map(|&item| {
            let mut stuck = assignment.serve(item).err()?;
            stuck.sort_unstable();
            Some(stuck)
        })
    }

    /// How many units the places have that some items may use; none when that is without limit.
    pub(crate) fn supply(&self, items: &[usize]) -> Option<u64> {
        let mut places: Vec<usize> = items
            .iter()
            .flat_map(|&item| self.fits.get(item).into_iter().flatten().copied())
            .collect();
        places.sort_unstable();
        places.dedup();
        let mut units = places
            .iter()
            .map(|&place| self.places.get(place).copied().flatten());
        units.try_fold(0_u64, |sum, units| Some(sum.saturating_add(units?)))
    }

    /// For each item, the places that it has in some assignment that serves all items.
    pub(crate) fn choices(&self, items: &[usize]) -> Vec<Vec<usize>> {
        let mut choices = self.fits.clone();
        let limited = self.limited(items);
        let mut assignment = Assignment::new(self, &limited);
        if limited.iter().any(|&item| assignment.serve(item).is_err()) {
            return choices;
        }
        // From one assignment all others follow: an item may take a unit of a place when somebody can give it up for one of
        // another place, and so on, to a place with a unit left or one of the item's own.
        let reached: Vec<Vec<bool>> = (0..self.places.len())
            .map(|place| assignment.reached(place))
            .collect();
        for &item in items {
            let is_limited = limited.contains(&item);
            let own: Vec<usize> = if is_limited {
                assignment.held_by(item)
            } else {
                Vec::new()
            };
            let fits = |place: &usize| {
                if !self.is_limited(*place) {
                    return true;
                }
                let Some(from) = reached.get(*place) else {
                    return false;
                };
                let mut ends = from.iter().enumerate().filter(|(_, reached)| **reached);
                ends.any(|(end, _)| assignment.free(end) > 0 || own.contains(&end))
            };
            let needed = self.needs.get(item).is_some_and(|&need| need > 0);
            if let Some(choice) = choices.get_mut(item).filter(|_| needed) {
                choice.retain(fits);
            }
        }
        choices
    }

    fn is_limited(&self, place: usize) -> bool {
        self.places.get(place).is_some_and(Option::is_some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn problem(needs: &[u64], fits: &[&[usize]], places: &[Option<u64>]) -> Problem {
        Problem {
            needs: needs.to_vec(),
            fits: fits.iter().map(|fits| fits.to_vec()).collect(),
            places: places.to_vec(),
        }
    }

    /// Whether all items can be served, by trying everything.
    fn possible(problem: &Problem, items: &[usize], left: &mut [Option<u64>]) -> bool {
        let Some((&item, rest)) = items.split_first() else {
            return true;
        };
        fn units(
            problem: &Problem,
            item: usize,
            need: u64,
            rest: &[usize],
            left: &mut [Option<u64>],
        ) -> bool {
            if need == 0 {
                return possible(problem, rest, left);
            }
            for &place in &problem.fits[item] {
                let before = left[place];
                if before == Some(0) {
                    continue;
                }
                left[place] = before.map(|units| units - 1);
                let done = units(problem, item, need - 1, rest, left);
                left[place] = before;
                if done {
                    return true;
                }
            }
            false
        }
        units(problem, item, problem.needs[item], rest, left)
    }

    #[test]
    fn sixty_requirements_share_fifty_nine_places() {
        let fits: Vec<usize> = (0..60).collect();
        let all: Vec<&[usize]> = vec![&fits; 60];
        let items: Vec<usize> = (0..60).collect();
        let mut places = vec![Some(1); 60];
        assert_eq!(problem(&[1; 60], &all, &places).shortage(&items), None);
        places[7] = Some(0);
        let core = problem(&[1; 60], &all, &places).shortage(&items).unwrap();
        assert_eq!(core, items);
        // Three that may use two places alone are the reason, whatever the others do.
        let mut narrow = all.clone();
        for item in [3, 30, 59] {
            narrow[item] = &[1, 2];
        }
        let core = problem(&[1; 60], &narrow, &[Some(1); 60]).shortage(&items);
        assert_eq!(core, Some(vec![3, 30, 59]));
    }

    proptest! {
        #[test]
        fn it_agrees_with_trying_everything(
            fits in prop::collection::vec(prop::collection::vec(0..4_usize, 0..4), 1..5),
            needs in prop::collection::vec(1..3_u64, 5),
            places in prop::collection::vec(prop::option::weighted(0.8, 0..3_u64), 4),
        ) {
            let fits: Vec<Vec<usize>> = fits.into_iter().map(|mut fits| {
                fits.sort_unstable();
                fits.dedup();
                fits
            }).collect();
            let items: Vec<usize> = (0..fits.len()).collect();
            let problem = Problem { needs: needs[..fits.len()].to_vec(), fits, places };
            let can = possible(&problem, &items, &mut problem.places.clone());
            let core = problem.shortage(&items);
            prop_assert_eq!(core.is_none(), can);
            if let Some(core) = core {
                prop_assert!(!possible(&problem, &core, &mut problem.places.clone()));
                for &left_out in &core {
                    let rest: Vec<usize> = core.iter().copied().filter(|&item| item != left_out).collect();
                    prop_assert!(possible(&problem, &rest, &mut problem.places.clone()));
                }
            } else {
                for (item, choices) in problem.choices(&items).iter().enumerate() {
                    for &place in &problem.fits[item] {
                        let mut forced = problem.clone();
                        let open = forced.places[place] != Some(0);
                        forced.places[place] = forced.places[place].map(|units| units.saturating_sub(1));
                        forced.needs[item] -= 1;
                        let can = open && possible(&forced, &items, &mut forced.places.clone());
                        prop_assert_eq!(choices.contains(&place), can);
                    }
                }
            }
        }
    }
}
