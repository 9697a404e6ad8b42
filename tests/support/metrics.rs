//! Reads a metrics page.

use std::net::SocketAddr;

use super::http;

/// The samples of one scrape.
#[derive(Debug)]
pub struct Metrics(Vec<(String, f64)>);

impl Metrics {
    /// Scrapes the admin listener.
    pub async fn scrape(admin: SocketAddr) -> Self {
        let page = http::get(admin, "/metrics").await.expect("the metrics page answers");
        assert_eq!(page.status, 200, "{}", page.text());
        Self::parse(&page.text())
    }

    /// Reads the text format.
    pub fn parse(page: &str) -> Self {
        let samples = page.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
            let (series, value) = line.rsplit_once(' ')?;
            Some((series.to_owned(), value.parse().ok()?))
        });
        Self(samples.collect())
    }

    /// The sum over all series of `name` that carry all these labels; 0 if there are none.
    pub fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
        self.0
            .iter()
            .filter(|(series, _)| series.split('{').next() == Some(name))
            .filter(|(series, _)| labels.iter().all(|label| series.contains(label.as_str())))
            .map(|(_, value)| value)
            .sum()
    }
}
