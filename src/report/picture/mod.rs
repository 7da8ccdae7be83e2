//! The location graph as a drawing: what is needed on the left, what needs it to the right.
//!
//! Layers and lines come from [`layers`], and what no line connects is put side by side; a location that contains others is a frame around them. Beyond [`LIMIT`] locations
//! a drawing is no help, so it is folded into groups.

mod fold;
mod layers;
mod pack;
mod svg;

use locus_core::LocationGraph;
use locus_core::graph::{Presence, RoleKind};

pub use svg::to_svg;
pub(super) use svg::{BROKEN, body, legend};

/// Locations that are drawn one by one.
pub const LIMIT: usize = 500;

/// Something that is drawn as a box or, if others have it as their parent, as a frame.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub sort: String,
    /// The namespace that it is in, else the outermost location that contains it, if any.
    pub group: String,
    /// The item that contains it.
    pub parent: Option<usize>,
    /// Whether it exists before the deployment.
    pub external: bool,
    /// Whether it is not part of the configuration for the inputs given.
    pub absent: bool,
    /// The locations that it stands for, by their positions in the graph.
    pub locations: Vec<usize>,
}

/// A line from what requires something to what provides it.
#[derive(Clone, Debug)]
pub struct Line {
    /// The item that requires.
    pub from: usize,
    /// The item that provides.
    pub to: usize,
    /// What it is for.
    pub kind: RoleKind,
    /// What it is called.
    pub labels: Vec<String>,
}

/// A rectangle by its left upper corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Area {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

/// A drawing.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What is drawn.
    pub items: Vec<Item>,
    /// Where each item is.
    pub areas: Vec<Area>,
    /// Which items are frames.
    pub frames: Vec<bool>,
    /// What connects them.
    pub lines: Vec<Line>,
    /// The points that each line goes through; none when it stays within one item.
    pub routes: Vec<Vec<(f64, f64)>>,
    /// How large it is.
    pub size: (f64, f64),
    /// Whether it was folded.
    pub folded: bool,
}

impl Picture {
    /// Draws a graph.
    pub fn of(graph: &LocationGraph) -> Self {
        let items = graph.locations().map(|(id, location)| Item {
            name: location.name.to_string(),
            sort: location.sort.to_string(),
            group: String::new(),
            parent: location.parent.map(|parent| parent.index()),
            external: location.external,
            absent: location.presence == Presence::Absent,
            locations: vec![id.index()],
        });
        let mut items: Vec<Item> = items.collect();
        let groups: Vec<String> = graph
            .locations()
            .enumerate()
            .map(|(index, (_, location))| fold::group_of(location, &items, index))
            .collect();
        for (item, group) in items.iter_mut().zip(groups) {
            item.group = group;
        }
        let mut lines: Vec<Line> = Vec::new();
        let mut known = rustc_hash::FxHashMap::default();
        for binding in graph.bindings() {
            let role = graph.role(binding.role);
            let (from, to) = (binding.requirer.index(), binding.provider.index());
            let line = *known.entry((from, to, role.kind)).or_insert_with(|| {
                lines.push(Line {
                    from,
                    to,
                    kind: role.kind,
                    labels: Vec::new(),
                });
                lines.len() - 1
            });
            if let Some(line) = lines.get_mut(line) {
                line.labels.push(role.label.to_string());
            }
        }
        let folded = items.len() > LIMIT;
        if folded {
            (items, lines) = fold::fold(graph, &items, &lines);
        }
        let arranged = layers::arrange(&items, &lines);
        Picture {
            items,
            areas: arranged.areas,
            frames: arranged.frames,
            lines,
            routes: arranged.routes,
            size: arranged.size,
            folded,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locus_core::{Location, Sources, Span};

    /// A graph of some locations, each of which needs some that come before it, now and then within a group.
    fn graph(count: usize, mut seed: u64, grouped: bool) -> LocationGraph {
        let mut sources = Sources::new();
        let span = Span::start_of(sources.add("a", ""));
        let mut next = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            usize::try_from(seed % 100_000).unwrap()
        };
        let mut graph = LocationGraph::new();
        let mut ids = Vec::new();
        for index in 0..count {
            let mut location = Location::new(format!("l{index}"), "Sort", span);
            if grouped && index > 3 && next() % 3 == 0 {
                location.parent = Some(ids[next() % 3]);
            }
            ids.push(graph.add_location(location));
            for _ in 0..next() % 3 {
                let other = ids[next() % ids.len()];
                graph.bind(other, ids[index], RoleKind::Reference, "needs", span);
            }
        }
        graph
    }

    fn overlap(a: Area, b: Area) -> bool {
        a.x + a.w > b.x + 0.5
            && b.x + b.w > a.x + 0.5
            && a.y + a.h > b.y + 0.5
            && b.y + b.h > a.y + 0.5
    }

    #[test]
    fn boxes_do_not_overlap_and_no_line_runs_through_one() {
        for seed in 1..30 {
            let picture = Picture::of(&graph(40, seed * 7919, false));
            let areas = &picture.areas;
            for (i, a) in areas.iter().enumerate() {
                for b in &areas[i + 1..] {
                    assert!(!overlap(*a, *b), "{seed}: {a:?} {b:?}");
                }
            }
            for (line, route) in picture.lines.iter().zip(&picture.routes) {
                for pair in route.windows(2) {
                    for (index, area) in areas.iter().enumerate() {
                        if index == line.from || index == line.to {
                            continue;
                        }
                        // Curves stay between the heights of their ends, and bend only between the columns.
                        let flat = (pair[0].1 - pair[1].1).abs() < 0.5;
                        let left = pair[0].0.min(pair[1].0);
                        let width = (pair[0].0 - pair[1].0).abs();
                        let top = pair[0].1.min(pair[1].1);
                        let height = (pair[0].1 - pair[1].1).abs();
                        let swept = Area {
                            x: left,
                            y: top,
                            w: width,
                            h: height.max(0.1),
                        };
                        let hit = if flat {
                            overlap(
                                swept,
                                Area {
                                    y: area.y + 1.0,
                                    h: area.h - 2.0,
                                    ..*area
                                },
                            )
                        } else {
                            overlap(swept, *area)
                        };
                        assert!(!hit, "{seed}: {line:?} {pair:?} {area:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn frames_hold_what_they_contain() {
        for seed in 1..10 {
            let picture = Picture::of(&graph(40, seed * 104_729, true));
            for (item, area) in picture.items.iter().zip(&picture.areas) {
                let Some(parent) = item.parent else { continue };
                assert!(picture.frames[parent]);
                let frame = picture.areas[parent];
                assert!(frame.x <= area.x && frame.x + frame.w >= area.x + area.w);
                assert!(frame.y <= area.y && frame.y + frame.h >= area.y + area.h);
            }
        }
    }

    #[test]
    fn a_large_graph_is_folded_and_hostile_names_are_text() {
        let picture = Picture::of(&graph(2_000, 5, true));
        assert!(picture.folded && picture.items.len() <= LIMIT);
        let drawn: usize = picture.items.iter().map(|item| item.locations.len()).sum();
        assert_eq!(drawn, 2_000, "nothing is left out");
        let mut sources = Sources::new();
        let span = Span::start_of(sources.add("a", ""));
        let mut graph = LocationGraph::new();
        graph.add_location(Location::new(
            "\"><script>alert(1)</script>",
            "<b>&\u{1}",
            span,
        ));
        let svg = to_svg(&graph);
        assert!(
            !svg.contains("<script") && !svg.contains("<b>") && !svg.contains('\u{1}'),
            "{svg}"
        );
        roxmltree::Document::parse(&svg).unwrap();
    }

    #[test]
    fn a_location_that_contains_itself_is_drawn() {
        let mut sources = Sources::new();
        let span = Span::start_of(sources.add("a", ""));
        let mut graph = LocationGraph::new();
        let a = graph.add_location(Location::new("a", "s", span));
        let b = graph.add_location(Location::new("b", "s", span));
        graph.location_mut(a).parent = Some(b);
        graph.location_mut(b).parent = Some(a);
        graph.bind(a, a, RoleKind::Dependency, "itself", span);
        graph.bind(a, b, RoleKind::Dependency, "cycle", span);
        graph.bind(b, a, RoleKind::Dependency, "cycle", span);
        assert!(to_svg(&graph).contains("<svg"));
    }
}
