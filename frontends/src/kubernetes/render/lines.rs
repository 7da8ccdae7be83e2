//! Which line of a template wrote a line of what was rendered.
//!
//! A template is text with `{{ }}` in it. A line without is found again as it is; of one with markup, what stands around the
//! markup. The lines are brought into the order in which most of them agree; those that are left, such as the second round of a
//! loop, are sought everywhere, and what has no line of its own (what a helper wrote) belongs to the markup before it.

use std::ops::Range;

/// The most pairs of lines that are compared; beyond, the order of lines is not sought.
const PAIRS: usize = 16 << 20;

/// A line of what was rendered.
pub(super) struct Line<'a> {
    /// Where it starts.
    pub(super) start: usize,
    /// Its text, without the line break.
    pub(super) text: &'a str,
}

/// A template, line by line.
pub(super) struct Template {
    lines: Vec<Pattern>,
}

/// A line of a template.
struct Pattern {
    /// Where it is, without the space around it.
    place: Range<usize>,
    /// What stands between its `{{ }}`; a single text for a line without.
    literals: Vec<String>,
}

impl Template {
    pub(super) fn new(text: &str) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        let mut inside = false;
        for line in text.split('\n') {
            let trimmed = line.trim();
            let first = start + (line.len() - line.trim_start().len());
            lines.push(Pattern {
                place: first..first + trimmed.len(),
                literals: literals(trimmed, &mut inside),
            });
            start += line.len() + 1;
        }
        Template { lines }
    }

    /// The place of each line.
    pub(super) fn align(&self, lines: &[Line<'_>]) -> Vec<Range<usize>> {
        let texts: Vec<&str> = lines.iter().map(|line| line.text.trim()).collect();
        let mut found = self.in_order(&texts);
        let mut last = None;
        for (text, found) in texts.iter().zip(&mut found) {
            if found.is_none() {
                *found = self.anywhere(text, last).or_else(|| self.markup(last));
            } else {
                last = *found;
            }
        }
        let first = found.iter().flatten().next().copied();
        let mut place = first.unwrap_or(0);
        let found = found.into_iter().map(|found| {
            place = found.unwrap_or(place);
            self.lines
                .get(place)
                .map_or(0..0, |line| line.place.clone())
        });
        found.collect()
    }

    /// The longest order in which lines follow each other in both, weighted by how much of them is the same.
    fn in_order(&self, texts: &[&str]) -> Vec<Option<usize>> {
        let mut found = vec![None; texts.len()];
        let width = self.lines.len() + 1;
        if texts.len().saturating_mul(width) > PAIRS {
            return found;
        }
        // `best[i][j]`: the weight of what is left from line `i` on, with the lines of the template from `j` on.
        let mut best = vec![0_u32; (texts.len() + 1) * width];
        let at = |best: &[u32], i: usize, j: usize| best.get(i * width + j).copied().unwrap_or(0);
        for (i, text) in texts.iter().enumerate().rev() {
            for (j, line) in self.lines.iter().enumerate().rev() {
                let skip = at(&best, i + 1, j).max(at(&best, i, j + 1));
                let weight = line.weight(text);
                let take = match weight {
                    0 => 0,
                    weight => weight + at(&best, i + 1, j + 1),
                };
                if let Some(cell) = best.get_mut(i * width + j) {
                    *cell = skip.max(take);
                }
            }
        }
        let (mut i, mut j) = (0, 0);
        while let (Some(text), Some(line)) = (texts.get(i), self.lines.get(j)) {
            let weight = line.weight(text);
            if weight > 0 && at(&best, i, j) == weight + at(&best, i + 1, j + 1) {
                if let Some(found) = found.get_mut(i) {
                    *found = Some(j);
                }
                (i, j) = (i + 1, j + 1);
            } else if at(&best, i, j) == at(&best, i + 1, j) {
                i += 1;
            } else {
                j += 1;
            }
        }
        found
    }

    /// The line that fits best, of several the nearest to the one before.
    fn anywhere(&self, text: &str, last: Option<usize>) -> Option<usize> {
        let near = last.unwrap_or(0);
        let lines = self.lines.iter().enumerate();
        let weighed = lines.map(|(at, line)| (line.weight(text), at));
        let fits = weighed.filter(|(weight, _)| *weight > 0);
        let best = fits.max_by_key(|&(weight, at)| (weight, std::cmp::Reverse(at.abs_diff(near))));
        best.map(|(_, at)| at)
    }

    /// The next line that is nothing but markup, which wrote what has no line of its own.
    fn markup(&self, last: Option<usize>) -> Option<usize> {
        let from = last.map_or(0, |last| last + 1);
        let rest = self.lines.iter().enumerate().skip(from);
        let mut rest = rest.filter(|(_, line)| !line.place.is_empty());
        let (at, _) = rest.next().filter(|(_, line)| line.is_markup())?;
        Some(at)
    }
}

impl Pattern {
    fn is_markup(&self) -> bool {
        self.literals.len() > 1
            && self
                .literals
                .iter()
                .all(|literal| literal.trim().is_empty())
    }

    /// How much of a line this one wrote; 0 when it did not write it.
    fn weight(&self, text: &str) -> u32 {
        let (Some(first), Some(last)) = (self.literals.first(), self.literals.last()) else {
            return 0;
        };
        if text.is_empty() {
            return 0;
        }
        if self.literals.len() == 1 {
            return if first == text { 4 + length(text) } else { 0 };
        }
        let known: u32 = self
            .literals
            .iter()
            .map(|literal| length(literal.trim()))
            .sum();
        if known == 0 {
            return 0;
        }
        let Some(rest) = text.strip_prefix(&**first) else {
            return 0;
        };
        // A space before markup that writes nothing is cut off.
        let Some(mut rest) = rest.strip_suffix(last.trim_end()) else {
            return 0;
        };
        let inner = self.literals.get(1..self.literals.len() - 1);
        for literal in inner.unwrap_or_default() {
            match rest.find(&**literal) {
                Some(at) => rest = rest.get(at + literal.len()..).unwrap_or(""),
                None => return 0,
            }
        }
        known
    }
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

/// What stands around the markup of a line; markup may go on over lines.
fn literals(line: &str, inside: &mut bool) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut rest = line;
    loop {
        if *inside {
            let Some((_, after)) = rest.split_once("}}") else {
                if all.len() == 1 {
                    all.push(String::new());
                }
                return all;
            };
            *inside = false;
            all.push(String::new());
            rest = after;
            continue;
        }
        let Some((before, after)) = rest.split_once("{{") else {
            if let Some(last) = all.last_mut() {
                last.push_str(rest);
            }
            return all;
        };
        if let Some(last) = all.last_mut() {
            // `{{-` takes the space before it.
            let kept = match after.starts_with('-') {
                true => before.trim_end(),
                false => before,
            };
            last.push_str(kept);
        }
        *inside = true;
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the lines of a template, from 1, that wrote those of a text.
    fn numbers(template: &str, rendered: &str) -> Vec<usize> {
        let lines: Vec<Line<'_>> = rendered
            .lines()
            .map(|text| Line { start: 0, text })
            .collect();
        let found = Template::new(template).align(&lines);
        let number = |place: Range<usize>| template[..place.start].matches('\n').count() + 1;
        found.into_iter().map(number).collect()
    }

    #[test]
    fn lines_are_found_by_what_stands_around_the_markup() {
        let template = "kind: Pod\nmetadata:\n  name: {{ .Release.Name }}-web\n  {{- if .Values.a }}\n  namespace: {{ .Values.a }}\n  {{- end }}\nspec: {}\n";
        let rendered = "kind: Pod\nmetadata:\n  name: x-web\n  namespace: y\nspec: {}\n";
        assert_eq!(numbers(template, rendered), [1, 2, 3, 5, 7]);
        let without = "kind: Pod\nmetadata:\n  name: x-web\nspec: {}\n";
        assert_eq!(numbers(template, without), [1, 2, 3, 7]);
    }

    #[test]
    fn a_second_round_of_a_loop_is_from_the_same_lines() {
        let template = "a:\n{{- range .Values.all }}\n- name: {{ .name }}\n  value: {{ .value | quote }}\n{{- end }}\nb: 1\n";
        let rendered = "a:\n- name: x\n  value: \"1\"\n- name: y\n  value: \"2\"\nb: 1\n";
        assert_eq!(numbers(template, rendered), [1, 3, 4, 3, 4, 6]);
    }

    #[test]
    fn what_a_helper_wrote_is_from_where_it_is_called() {
        let template = "metadata:\n  labels:\n    {{- include \"labels\" . | nindent 4 }}\nspec:\n";
        let rendered = "metadata:\n  labels:\n    app: a\n    more: b\nspec:\n";
        assert_eq!(numbers(template, rendered), [1, 2, 3, 3, 4]);
    }

    #[test]
    fn markup_over_lines_is_no_text() {
        let template = "{{/*\nkind: Pod\n*/}}\nkind: Pod\n";
        assert_eq!(numbers(template, "kind: Pod\n"), [4]);
    }

    #[test]
    fn nothing_of_a_template_is_its_start() {
        assert_eq!(numbers("", "a: 1\n"), [1]);
        assert_eq!(numbers("{{ x }}\n", "a: 1\nb: 2\n"), [1, 1]);
    }
}
