//! A layered layout: items in columns by what they need, long lines led through the columns between.
//!
//! The crate `rust-sugiyama` orders what stands in a column and gives it its height. Lines that span several columns are cut
//! into steps of one column each before, so that it makes room for them: a line bends only between columns, where no box is.
//! Parts that no line connects are laid out by themselves and [packed](super::pack).

use rust_sugiyama::configure::{Config, CrossingMinimization, RankingType};
use rustc_hash::FxHashMap;

use super::pack::{Laid, pack};
use super::{Area, Item, Line};

const GAP: f64 = 70.0;
const ROW: f64 = 18.0;
pub(super) const PAD: f64 = 16.0;
const HEAD: f64 = 26.0;
const CHAR: f64 = 6.8;
/// How many need a box beyond which their places do not depend on it.
const HUB: usize = 8;
/// Boxes and steps of lines beyond which their order is not improved.
const WORTH_IT: usize = 4_000;

/// Where everything is.
pub(super) struct Arranged {
    pub(super) areas: Vec<Area>,
    pub(super) frames: Vec<bool>,
    pub(super) routes: Vec<Vec<(f64, f64)>>,
    pub(super) size: (f64, f64),
}

/// Arranges items and lines.
pub(super) fn arrange(items: &[Item], lines: &[Line]) -> Arranged {
    let parents = parents(items);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
    let mut top = Vec::new();
    for (index, parent) in parents.iter().enumerate() {
        match parent.and_then(|parent| children.get_mut(parent)) {
            Some(siblings) => siblings.push(index),
            None => top.push(index),
        }
    }
    let mut work = Work {
        items,
        children: &children,
        ancestors: (0..items.len())
            .map(|index| ancestors(&parents, index))
            .collect(),
        lines,
        areas: vec![Area::default(); items.len()],
        routes: vec![Vec::new(); lines.len()],
    };
    let (w, h) = work.group(&top, 0);
    Arranged {
        frames: children
            .iter()
            .map(|children| !children.is_empty())
            .collect(),
        areas: work.areas,
        routes: work.routes,
        size: (w, h),
    }
}

/// The parents, without those that would contain themselves.
fn parents(items: &[Item]) -> Vec<Option<usize>> {
    let mut parents: Vec<Option<usize>> = items.iter().map(|item| item.parent).collect();
    for start in 0..parents.len() {
        let mut at = start;
        let mut steps = 0;
        while let Some(Some(parent)) = parents.get(at).copied() {
            steps += 1;
            if parent == start || parent >= items.len() || steps > 64 {
                if let Some(slot) = parents.get_mut(start) {
                    *slot = None;
                }
                break;
            }
            at = parent;
        }
    }
    parents
}

/// An item and what contains it, the outermost first.
fn ancestors(parents: &[Option<usize>], index: usize) -> Vec<usize> {
    let up = std::iter::successors(Some(index), |&at| parents.get(at).copied().flatten());
    let mut chain: Vec<usize> = up.take(70).collect();
    chain.reverse();
    chain
}

struct Work<'a> {
    items: &'a [Item],
    children: &'a [Vec<usize>],
    ancestors: Vec<Vec<usize>>,
    lines: &'a [Line],
    areas: Vec<Area>,
    routes: Vec<Vec<(f64, f64)>>,
}

impl Work<'_> {
    /// Arranges the members of a group, from a corner at the origin, and says how large it is.
    fn group(&mut self, members: &[usize], depth: usize) -> (f64, f64) {
        let mut sizes = Vec::with_capacity(members.len());
        for &member in members {
            let inner = self.children.get(member).cloned().unwrap_or_default();
            let label = self.label(member);
            sizes.push(if inner.is_empty() {
                (label, 40.0)
            } else {
                let (w, h) = self.group(&inner, depth + 1);
                (w.max(label), h + HEAD)
            });
        }
        let place: FxHashMap<usize, usize> = members
            .iter()
            .enumerate()
            .map(|(at, &member)| (member, at))
            .collect();
        // The lines between members, or what they contain.
        let mut between: Vec<(usize, usize, usize)> = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            let at = |end: usize| {
                let chain = self.ancestors.get(end)?;
                place.get(chain.get(depth)?).copied()
            };
            if let (Some(from), Some(to)) = (at(line.from), at(line.to))
                && from != to
            {
                between.push((from, to, index));
            }
        }
        let pairs: Vec<(usize, usize)> = between.iter().map(|&(from, to, _)| (from, to)).collect();
        let laid = pack(&sizes, &pairs, columns);
        for ((&member, &(x, y)), &(w, h)) in members.iter().zip(&laid.corners).zip(&sizes) {
            let inner = self.children.get(member).cloned().unwrap_or_default();
            for child in inner {
                self.shift(child, x, y + HEAD);
            }
            if let Some(area) = self.areas.get_mut(member) {
                *area = Area { x, y, w, h };
            }
        }
        for ((.., index), route) in between.iter().zip(laid.routes) {
            if let Some(slot) = self.routes.get_mut(*index) {
                *slot = route;
            }
        }
        laid.size
    }

    /// Moves an item with all that it contains, and the lines among these.
    fn shift(&mut self, item: usize, x: f64, y: f64) {
        let mut todo = vec![item];
        while let Some(at) = todo.pop() {
            if let Some(area) = self.areas.get_mut(at) {
                area.x += x;
                area.y += y;
            }
            todo.extend(self.children.get(at).into_iter().flatten());
            // A line moves with the item that it starts in, if it ends beside or below that.
            for (line, route) in self.lines.iter().zip(&mut self.routes) {
                if line.from == at {
                    for point in route {
                        point.0 += x;
                        point.1 += y;
                    }
                }
            }
        }
    }

    fn label(&self, index: usize) -> f64 {
        let longest = self.items.get(index).map_or(0, |item| {
            item.name.chars().count().max(item.sort.chars().count())
        });
        #[expect(clippy::cast_precision_loss, reason = "at most 36")]
        let longest = longest.clamp(6, 36) as f64;
        longest * CHAR + 20.0
    }
}

/// Arranges boxes in columns; a line goes from what needs to what is needed, which is further left.
fn columns(sizes: &[(f64, f64)], lines: &[(usize, usize)]) -> Laid {
    let layer = layer(sizes.len(), lines);
    let depth = |index: usize| layer.get(index).copied().unwrap_or(0);
    // Steps of lines are vertices beside the boxes.
    let mut layers: Vec<usize> = layer.clone();
    let mut heights: Vec<f64> = sizes.iter().map(|size| size.1).collect();
    let mut edges: Vec<(usize, usize)> = Vec::new();
    let mut chains: Vec<Vec<usize>> = Vec::new();
    let ends = |&(from, to): &(usize, usize)| match depth(to) < depth(from) {
        true => (to, from),
        false => (from, to),
    };
    let mut uses = vec![0_usize; sizes.len()];
    for (low, _) in lines.iter().map(ends) {
        if let Some(uses) = uses.get_mut(low) {
            *uses += 1;
        }
    }
    let is_hub = |index: usize| uses.get(index).is_some_and(|&uses| uses > HUB);
    // What everything needs says nothing about what belongs side by side.
    let mut far: Vec<(usize, usize)> = Vec::new();
    let mut join = |low: usize, high: usize| match is_hub(low) {
        true => far.push((low, high)),
        false => edges.push((low, high)),
    };
    for line in lines {
        let ((from, to), (low, high)) = (*line, ends(line));
        let mut chain = Vec::new();
        let mut at = low;
        for step in depth(low) + 1..depth(high) {
            let own = layers.len();
            layers.push(step);
            heights.push(2.0);
            chain.push(own);
            join(at, own);
            at = own;
        }
        if depth(low) != depth(high) {
            join(at, high);
        }
        if depth(to) < depth(from) {
            chain.reverse();
        }
        chains.push(chain);
    }
    let middles = heights_of(&layers, &heights, &edges, &far);
    let count = layers.iter().max().map_or(0, |last| last + 1);
    let mut widths = vec![0.0_f64; count];
    for (index, size) in sizes.iter().enumerate() {
        if let Some(width) = widths.get_mut(depth(index)) {
            *width = width.max(size.0);
        }
    }
    let mut lefts = Vec::with_capacity(count);
    let mut x = PAD;
    for width in &widths {
        lefts.push(x);
        x += width + GAP;
    }
    let left = |layer: usize| lefts.get(layer).copied().unwrap_or(PAD);
    let right = |layer: usize| left(layer) + widths.get(layer).copied().unwrap_or(0.0);
    let top = middles.iter().zip(&heights).map(|(y, h)| y - h / 2.0);
    let shift = PAD - top.fold(f64::INFINITY, f64::min).min(1e9);
    let y = |index: usize| middles.get(index).copied().unwrap_or(0.0) + shift;
    let bottom =
        (0..middles.len()).map(|index| y(index) + heights.get(index).copied().unwrap_or(0.0) / 2.0);
    let height = bottom.fold(0.0, f64::max) + PAD;
    let corners = sizes
        .iter()
        .enumerate()
        .map(|(index, size)| (left(depth(index)), y(index) - size.1 / 2.0));
    let corners: Vec<(f64, f64)> = corners.collect();
    let end = |index: usize, towards: usize| {
        let (x, _) = corners.get(index).copied().unwrap_or_default();
        let width = sizes.get(index).map_or(0.0, |size| size.0);
        let x = if towards > depth(index) { x + width } else { x };
        (x, y(index))
    };
    let routes = lines.iter().zip(&chains).map(|(&(from, to), chain)| {
        let mut route = vec![end(from, depth(to))];
        // From the box to the edge of its column, so that it bends beyond it.
        let goes_right = depth(to) > depth(from);
        if goes_right {
            route.push((right(depth(from)), y(from)));
        }
        for &step in chain {
            let layer = layers.get(step).copied().unwrap_or(0);
            let (a, b) = ((left(layer), y(step)), (right(layer), y(step)));
            route.extend(if goes_right { [a, b] } else { [b, a] });
        }
        if !goes_right {
            route.push((right(depth(to)), y(to)));
        }
        route.push(end(to, depth(from)));
        route
    });
    Laid {
        routes: routes.collect(),
        corners,
        size: ((x - GAP).max(PAD) + PAD, height),
    }
}

/// The column of each box: one more than what it needs. Of a cycle, one line goes the other way.
fn layer(count: usize, lines: &[(usize, usize)]) -> Vec<usize> {
    let mut needs: Vec<Vec<usize>> = vec![Vec::new(); count];
    for &(from, to) in lines {
        if let Some(needs) = needs.get_mut(from) {
            needs.push(to);
        }
    }
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done(usize),
    }
    let mut states = vec![State::New; count];
    let state =
        |states: &[State], index: usize| states.get(index).copied().unwrap_or(State::Done(0));
    for start in 0..count {
        let mut stack = vec![(start, 0)];
        while let Some((at, next)) = stack.pop() {
            if state(&states, at) == State::New && next == 0 {
                if let Some(slot) = states.get_mut(at) {
                    *slot = State::Open;
                }
            } else if next == 0 {
                continue;
            }
            let needed = needs.get(at).and_then(|needs| needs.get(next));
            match needed {
                Some(&needed) => {
                    stack.push((at, next + 1));
                    if state(&states, needed) == State::New {
                        stack.push((needed, 0));
                    }
                }
                None => {
                    let own = needs.get(at).into_iter().flatten();
                    let deepest = own.filter_map(|&needed| match state(&states, needed) {
                        State::Done(layer) => Some(layer + 1),
                        _ => None,
                    });
                    let layer = deepest.max().unwrap_or(0);
                    if let Some(slot) = states.get_mut(at) {
                        *slot = State::Done(layer);
                    }
                }
            }
        }
    }
    let layers = states.iter().map(|state| match state {
        State::Done(layer) => *layer,
        _ => 0,
    });
    apart(layers.collect(), lines)
}

/// Members of a cycle that share a column are moved apart, so that no line stays within a column.
fn apart(mut layers: Vec<usize>, lines: &[(usize, usize)]) -> Vec<usize> {
    for _ in 0..layers.len().min(64) {
        let mut moved = false;
        for &(from, to) in lines {
            let (a, b) = (layers.get(from).copied(), layers.get(to).copied());
            if let (Some(a), Some(b)) = (a, b)
                && a == b
                && from != to
                && let Some(slot) = layers.get_mut(from)
            {
                *slot = b + 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    layers
}

/// The middle of each vertex within its column, such that none overlap.
fn heights_of(
    layers: &[usize],
    heights: &[f64],
    edges: &[(usize, usize)],
    far: &[(usize, usize)],
) -> Vec<f64> {
    let count = layers.len();
    let mut middles: Vec<f64> = vec![0.0; count];
    let mut offset = 0.0;
    if count <= WORTH_IT && count > 1 {
        let id = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        let vertices: Vec<(u32, (f64, f64))> = heights
            .iter()
            .enumerate()
            .map(|(index, h)| (id(index), (*h, 10.0)))
            .collect();
        let edges: Vec<(u32, u32)> = edges.iter().map(|&(a, b)| (id(a), id(b))).collect();
        let config = Config {
            minimum_length: 1,
            vertex_spacing: ROW,
            dummy_vertices: true,
            dummy_size: 1.0,
            ranking_type: RankingType::Up,
            c_minimization: CrossingMinimization::Barycenter,
            transpose: count < 120,
        };
        for (part, ..) in rust_sugiyama::from_vertices_and_edges(&vertices, &edges, &config) {
            let low = part
                .iter()
                .map(|(_, at)| at.0)
                .fold(f64::INFINITY, f64::min);
            let high = part
                .iter()
                .map(|(_, at)| at.0)
                .fold(f64::NEG_INFINITY, f64::max);
            let tallest = part
                .iter()
                .filter_map(|(index, _)| heights.get(*index))
                .copied()
                .fold(0.0, f64::max);
            for (index, at) in &part {
                if let Some(middle) = middles.get_mut(*index) {
                    *middle = offset + at.0 - low + tallest / 2.0;
                }
            }
            offset += high - low + tallest + ROW;
        }
    }
    // What many need stands in the middle of them.
    let mut hubs: FxHashMap<usize, Vec<f64>> = FxHashMap::default();
    for &(hub, user) in far {
        let middle = middles.get(user).copied().unwrap_or(0.0);
        hubs.entry(hub).or_default().push(middle);
    }
    for (hub, mut users) in hubs {
        users.sort_by(f64::total_cmp);
        if let (Some(slot), Some(middle)) = (middles.get_mut(hub), users.get(users.len() / 2)) {
            *slot = *middle;
        }
    }
    // Whatever the order is, what stands in a column is kept apart.
    let mut order: Vec<usize> = (0..count).collect();
    let at = |middles: &[f64], index: usize| middles.get(index).copied().unwrap_or(0.0);
    order.sort_by(|&a, &b| {
        let layer = |index: usize| layers.get(index).copied().unwrap_or(0);
        layer(a)
            .cmp(&layer(b))
            .then(at(&middles, a).total_cmp(&at(&middles, b)))
    });
    let mut last: Option<(usize, f64)> = None;
    for index in order {
        let layer = layers.get(index).copied().unwrap_or(0);
        let half = heights.get(index).copied().unwrap_or(0.0) / 2.0;
        let wanted = at(&middles, index) - half;
        let top = match last {
            Some((same, end)) if same == layer => wanted.max(end + ROW / 2.0),
            _ => wanted,
        };
        if let Some(middle) = middles.get_mut(index) {
            *middle = top + half;
        }
        last = Some((layer, top + 2.0 * half));
    }
    middles
}
