//! Reads metrics pages: the text format of Prometheus, as a gateway writes it.

use std::collections::BTreeMap;

/// The samples of one page, or of several gateways' taken together.
#[derive(Clone, Debug, Default)]
pub struct Page {
    samples: BTreeMap<String, Vec<Sample>>,
}

#[derive(Clone, Debug)]
struct Sample {
    labels: BTreeMap<String, String>,
    value: f64,
}

impl Page {
    /// Reads a page; lines that are no samples are passed over.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut page = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some((name, sample)) = sample(line) {
                page.samples.entry(name.to_owned()).or_default().push(sample);
            }
        }
        page
    }

    /// Adds the samples of another gateway.
    pub fn join(&mut self, other: Self) {
        for (name, samples) in other.samples {
            self.samples.entry(name).or_default().extend(samples);
        }
    }

    /// The sum over all samples of `name` with these labels: of counters.
    #[must_use]
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        self.of(name, labels).map(|sample| sample.value).sum()
    }

    /// The largest of these samples: of gauges that all gateways read from one store. `None` where there is none.
    #[must_use]
    pub fn max(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        self.of(name, labels).map(|sample| sample.value).reduce(f64::max)
    }

    /// The values that a label has in the samples of `name`, each with that of another label.
    #[must_use]
    pub fn names(&self, name: &str, label: &str, beside: &str) -> BTreeMap<String, String> {
        let named = |sample: &Sample| {
            let other = sample.labels.get(beside).cloned().unwrap_or_default();
            Some((sample.labels.get(label)?.clone(), other))
        };
        self.of(name, &[]).filter_map(named).collect()
    }

    /// The cumulative buckets of a histogram: upper bound in seconds, and how many were not above it.
    #[must_use]
    pub fn buckets(&self, name: &str, labels: &[(&str, &str)]) -> Vec<(f64, f64)> {
        let mut buckets: Vec<(f64, f64)> = Vec::new();
        for sample in self.of(&format!("{name}_bucket"), labels) {
            let Some(bound) = sample.labels.get("le").and_then(|le| le.parse::<f64>().ok()) else { continue };
            match buckets.iter_mut().find(|(known, _)| known.total_cmp(&bound).is_eq()) {
                Some((_, count)) => *count += sample.value,
                None => buckets.push((bound, sample.value)),
            }
        }
        buckets.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        buckets
    }

    fn of<'a>(&'a self, name: &str, labels: &'a [(&str, &str)]) -> impl Iterator<Item = &'a Sample> {
        let has = |sample: &&Sample| {
            labels.iter().all(|(name, value)| sample.labels.get(*name).is_some_and(|it| it == value))
        };
        self.samples.get(name).into_iter().flatten().filter(has)
    }
}

/// `name{label="value",…} number`; a label's value has `\\`, `\"` and `\n` for what could not stand in it.
fn sample(line: &str) -> Option<(&str, Sample)> {
    let end = line.find(['{', ' '])?;
    let (name, mut rest) = line.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            let (label, after) = rest.split_once("=\"")?;
            let (value, after) = quoted(after)?;
            labels.insert(label.trim_start_matches(',').to_owned(), value);
            rest = after;
        }
        rest = &rest[1..];
    }
    let value = rest.split_ascii_whitespace().next()?.parse().ok()?;
    Some((name, Sample { labels, value }))
}

/// The text up to the closing quote, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match chars.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
    None
}
