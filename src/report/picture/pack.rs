//! Parts of a drawing that no line connects, put side by side so that the whole is about as wide as a screen.

use super::layers::PAD;

/// How much wider than high a drawing is to be.
const RATIO: f64 = 1.6;

/// Boxes and lines that were laid out, with some room around them.
pub(super) struct Laid {
    /// The left upper corner of each box.
    pub(super) corners: Vec<(f64, f64)>,
    /// The points of each line.
    pub(super) routes: Vec<Vec<(f64, f64)>>,
    /// How large all of it is.
    pub(super) size: (f64, f64),
}

/// A connected part: its boxes and lines by their positions among all, and how it was laid out.
struct Part {
    boxes: Vec<usize>,
    lines: Vec<usize>,
    laid: Laid,
}

/// Lays each connected part out by itself and puts them into rows, the highest first. Boxes without lines stand in columns.
pub(super) fn pack(
    sizes: &[(f64, f64)],
    lines: &[(usize, usize)],
    lay: impl Fn(&[(f64, f64)], &[(usize, usize)]) -> Laid,
) -> Laid {
    let mut parts = connected(sizes.len(), lines);
    if parts.len() <= 1 {
        return lay(sizes, lines);
    }
    let alone: Vec<usize> = parts
        .extract_if(.., |(boxes, _)| boxes.len() == 1)
        .flat_map(|(boxes, _)| boxes)
        .collect();
    let size = |index: usize| sizes.get(index).copied().unwrap_or_default();
    let mut parts: Vec<Part> = parts
        .into_iter()
        .map(|(boxes, own)| {
            let inner: Vec<(f64, f64)> = boxes.iter().map(|&index| size(index)).collect();
            let at = |index: usize| boxes.binary_search(&index).unwrap_or_default();
            let ends = own.iter().filter_map(|&line| lines.get(line));
            let ends: Vec<(usize, usize)> = ends.map(|&(a, b)| (at(a), at(b))).collect();
            let laid = lay(&inner, &ends);
            Part {
                boxes,
                lines: own,
                laid,
            }
        })
        .collect();
    let room = |(w, h): (f64, f64)| (w + PAD) * (h + PAD);
    let area: f64 = parts.iter().map(|part| room(part.laid.size)).sum::<f64>()
        + alone.iter().map(|&index| room(size(index))).sum::<f64>();
    let widest = parts.iter().map(|part| part.laid.size.0);
    let width = widest.fold((area * RATIO).sqrt(), f64::max);
    if !alone.is_empty() {
        let inner: Vec<(f64, f64)> = alone.iter().map(|&index| size(index)).collect();
        let laid = grid(&inner, width);
        let lines = Vec::new();
        parts.push(Part {
            boxes: alone,
            lines,
            laid,
        });
    }
    parts.sort_by(|a, b| b.laid.size.1.total_cmp(&a.laid.size.1));
    let mut all = Laid {
        corners: vec![(0.0, 0.0); sizes.len()],
        routes: vec![Vec::new(); lines.len()],
        size: (0.0, 0.0),
    };
    // Each part has room around it, of which neighbours share.
    let (mut x, mut y, mut below) = (0.0_f64, 0.0_f64, 0.0_f64);
    for part in parts {
        let (w, h) = part.laid.size;
        if x > 0.0 && x + w > width + PAD {
            (x, y) = (0.0, below - PAD);
        }
        let moved = |(a, b): (f64, f64)| (a + x, b + y);
        for (&index, &corner) in part.boxes.iter().zip(&part.laid.corners) {
            if let Some(slot) = all.corners.get_mut(index) {
                *slot = moved(corner);
            }
        }
        for (&index, route) in part.lines.iter().zip(part.laid.routes) {
            if let Some(slot) = all.routes.get_mut(index) {
                *slot = route.into_iter().map(moved).collect();
            }
        }
        below = below.max(y + h);
        all.size = (all.size.0.max(x + w), below);
        x += w - PAD;
    }
    all
}

/// The connected parts, in the order of their first boxes: boxes and lines, each ascending.
fn connected(count: usize, lines: &[(usize, usize)]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut above: Vec<usize> = (0..count).collect();
    fn top(above: &mut [usize], mut at: usize) -> usize {
        while let Some(&next) = above.get(at).filter(|&&next| next != at) {
            // Half of the way is cut off for whoever comes next.
            let over = above.get(next).copied().unwrap_or(next);
            if let Some(slot) = above.get_mut(at) {
                *slot = over;
            }
            at = next;
        }
        at
    }
    for &(a, b) in lines {
        let (a, b) = (top(&mut above, a), top(&mut above, b));
        // The first of a part stands for it.
        if let Some(slot) = above.get_mut(a.max(b)) {
            *slot = a.min(b);
        }
    }
    let mut parts: Vec<(Vec<usize>, Vec<usize>)> = vec![Default::default(); count];
    for index in 0..count {
        if let Some((boxes, _)) = parts.get_mut(top(&mut above, index)) {
            boxes.push(index);
        }
    }
    for (index, &(from, _)) in lines.iter().enumerate() {
        if let Some((_, own)) = parts.get_mut(top(&mut above, from)) {
            own.push(index);
        }
    }
    parts.retain(|(boxes, _)| !boxes.is_empty());
    parts
}

/// Boxes in as few rows as fit into a width, one column after the other.
fn grid(sizes: &[(f64, f64)], width: f64) -> Laid {
    let widest = |column: &[(f64, f64)]| column.iter().map(|size| size.0).fold(0.0, f64::max);
    let wide = |rows: usize| -> f64 {
        let columns = sizes.chunks(rows);
        columns.map(|column| widest(column) + PAD).sum::<f64>() + PAD
    };
    let rows = (1..sizes.len()).find(|&rows| wide(rows) <= width + PAD);
    let rows = rows.unwrap_or(sizes.len()).max(1);
    let (mut corners, mut x, mut bottom) = (Vec::with_capacity(sizes.len()), PAD, 0.0_f64);
    for column in sizes.chunks(rows) {
        let mut y = PAD;
        for size in column {
            corners.push((x, y));
            y += size.1 + PAD;
        }
        bottom = bottom.max(y);
        x += widest(column) + PAD;
    }
    Laid {
        corners,
        routes: Vec::new(),
        size: (x, bottom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_lines_connect() {
        let found = connected(6, &[(4, 1), (2, 4), (5, 5)]);
        let expected = [
            (vec![0], vec![]),
            (vec![1, 2, 4], vec![0, 1]),
            (vec![3], vec![]),
            (vec![5], vec![2]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn boxes_without_lines_fill_a_screen() {
        let sizes = vec![(120.0, 40.0); 60];
        let laid = pack(&sizes, &[], |_, _| unreachable!("nothing is connected"));
        let (w, h) = laid.size;
        assert!((1.0..2.5).contains(&(w / h)), "{w} x {h}");
        let mut corners = laid.corners.clone();
        corners.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        corners.dedup();
        assert_eq!(corners.len(), 60);
    }
}
