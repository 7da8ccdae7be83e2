//! Counters and timings in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the histogram's buckets, in seconds.
const BUCKETS: [f64; 9] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

#[derive(Default)]
struct Histogram {
    counts: [u64; BUCKETS.len()],
    count: u64,
    sum: f64,
}

#[derive(Default)]
struct Values {
    counters: BTreeMap<(&'static str, String), u64>,
    histograms: BTreeMap<&'static str, Histogram>,
}

/// The gate's metrics.
#[derive(Default)]
pub struct Metrics(Mutex<Values>);

impl Metrics {
    /// Counts an event with an outcome.
    pub fn count(&self, name: &'static str, outcome: &str) {
        self.add(name, outcome, 1);
    }

    /// Adds to a counter.
    pub fn add(&self, name: &'static str, outcome: &str, number: u64) {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counter = values
            .counters
            .entry((name, outcome.to_owned()))
            .or_default();
        *counter = counter.saturating_add(number);
    }

    /// Records how long something took.
    pub fn time(&self, name: &'static str, took: Duration) {
        let seconds = took.as_secs_f64();
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let histogram = values.histograms.entry(name).or_default();
        for (count, bound) in histogram.counts.iter_mut().zip(BUCKETS) {
            if seconds <= bound {
                *count += 1;
            }
        }
        histogram.count += 1;
        histogram.sum += seconds;
    }

    /// The text, with some gauges that are read at this moment.
    pub fn render(&self, gauges: &[(&str, &str, u64)]) -> String {
        let values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        let mut last = "";
        for ((name, outcome), value) in &values.counters {
            if *name != last {
                line(&mut text, format_args!("# TYPE locus_{name}_total counter"));
                last = name;
            }
            line(
                &mut text,
                format_args!(
                    "locus_{name}_total{{outcome=\"{}\"}} {value}",
                    escape(outcome)
                ),
            );
        }
        for (name, histogram) in &values.histograms {
            line(
                &mut text,
                format_args!("# TYPE locus_{name}_seconds histogram"),
            );
            for (bound, count) in BUCKETS.iter().zip(histogram.counts) {
                line(
                    &mut text,
                    format_args!("locus_{name}_seconds_bucket{{le=\"{bound}\"}} {count}"),
                );
            }
            let (count, sum) = (histogram.count, histogram.sum);
            line(
                &mut text,
                format_args!("locus_{name}_seconds_bucket{{le=\"+Inf\"}} {count}"),
            );
            line(&mut text, format_args!("locus_{name}_seconds_sum {sum}"));
            line(
                &mut text,
                format_args!("locus_{name}_seconds_count {count}"),
            );
        }
        let mut last = "";
        for (name, label, value) in gauges {
            if *name != last {
                line(&mut text, format_args!("# TYPE locus_{name} gauge"));
                last = name;
            }
            line(
                &mut text,
                format_args!("locus_{name}{{trust=\"{label}\"}} {value}"),
            );
        }
        text
    }
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{words}");
}

fn escape(label: &str) -> String {
    label
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_what_prometheus_reads() {
        let metrics = Metrics::default();
        metrics.count("attestations", "trusted");
        metrics.count("attestations", "trusted");
        metrics.count("attestations", "worker \"x\"");
        metrics.time("attestation", Duration::from_millis(20));
        let text = metrics.render(&[("workers", "trusted", 3)]);
        let expected = [
            "# TYPE locus_attestations_total counter",
            "locus_attestations_total{outcome=\"trusted\"} 2",
            "locus_attestations_total{outcome=\"worker \\\"x\\\"\"} 1",
            "locus_attestation_seconds_bucket{le=\"0.01\"} 0",
            "locus_attestation_seconds_bucket{le=\"0.025\"} 1",
            "locus_attestation_seconds_bucket{le=\"+Inf\"} 1",
            "locus_attestation_seconds_count 1",
            "locus_workers{trust=\"trusted\"} 3",
        ];
        for line in expected {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }
}
