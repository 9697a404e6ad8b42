//! `hookgate doctor`: what is unsafe or doubtful about this installation.

use std::process::ExitCode;

use chrono::TimeDelta;
use serde::Serialize;
use serde_json::json;

use super::shown::{self, clean};
use super::{Shell, out};
use crate::clock::{Clock as _, SystemClock, Timestamp};
use crate::config::{Config, DatabaseUrl, Destination, DestinationKind, Endpoint, Loaded};
use crate::store::{self, Store, StoreError};

/// Name every unsafe or doubtful setting of this installation
///
/// Exit code 1 if one is unsafe.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// A secret that ends within this time should have a successor by now.
const SOON: TimeDelta = TimeDelta::days(7);
/// Between this machine's clock and the database's, it is worth a look.
const SKEW: TimeDelta = TimeDelta::seconds(1);
/// So much moves what counts as a fresh signature.
const UNSAFE_SKEW: TimeDelta = TimeDelta::seconds(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Unsafe,
    Doubtful,
}

/// One thing that was found.
#[derive(Debug, Serialize)]
struct Finding {
    severity: Severity,
    /// The setting, or `database`.
    place: String,
    what: String,
    /// What to do about it.
    help: String,
}

/// Looks at the configuration and at the database, and prints.
pub async fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let loaded = shell.load(Vec::new())?;
    let mut findings = of_config(&loaded, SystemClock.now());
    findings.extend(of_database(&loaded.config).await);
    findings.sort_by_key(|finding| finding.severity);
    if args.json {
        out(format_args!("{}", json!({ "findings": findings })))?;
    } else {
        print(&findings)?;
    }
    let is_unsafe = findings.iter().any(|finding| finding.severity == Severity::Unsafe);
    Ok(if is_unsafe { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print(findings: &[Finding]) -> anyhow::Result<()> {
    if findings.is_empty() {
        return Ok(out(format_args!("nothing unsafe or doubtful was found"))?);
    }
    let mut table = shown::table(["", "where", "what", "what to do"]);
    for finding in findings {
        let severity = if finding.severity == Severity::Unsafe { "unsafe" } else { "doubtful" };
        table.add_row([severity, &clean(&finding.place), &clean(&finding.what), &finding.help]);
    }
    Ok(out(format_args!("{table}"))?)
}

fn of_config(loaded: &Loaded, now: Timestamp) -> Vec<Finding> {
    let config = &loaded.config;
    let mut findings: Vec<Finding> = loaded
        .warnings
        .iter()
        .map(|warning| {
            let place = format!("{} {}", warning.place, warning.key);
            doubtful(place.trim(), warning.what.clone(), warning.help.as_deref().unwrap_or_default())
        })
        .collect();
    if !config.admin.listen.ip().is_loopback() {
        let what = format!("operators' pages on {}, in plain HTTP", config.admin.listen);
        findings.push(doubtful("admin.listen", what, "let only the monitoring network reach it"));
    }
    let server = &config.server;
    if server.tls.is_none() && !server.listen.ip().is_loopback() && server.trusted_proxies.is_empty() {
        let what = format!("plain HTTP on {}, and no proxy is named that ends TLS", server.listen);
        findings.push(doubtful(
            "server",
            what,
            "set server.tls, or server.trusted_proxies to the proxy in front",
        ));
    }
    findings.extend(config.endpoints.values().flat_map(|endpoint| of_endpoint(endpoint, now)));
    findings.extend(config.destinations.values().filter_map(|it| of_destination(it)));
    findings
}

fn of_endpoint(endpoint: &Endpoint, now: Timestamp) -> Vec<Finding> {
    let place = |key: &str| format!("endpoints.{}{key}", endpoint.name);
    let mut findings = Vec::new();
    if endpoint.provider.takes_unproved() {
        let what = "requests are taken without proof: whoever knows the path can send events";
        findings.push(not_safe(
            &place(""),
            what.into(),
            "use another variant of the provider, or let only its addresses reach the path",
        ));
    }
    let live: Vec<_> =
        endpoint.secrets.iter().filter(|secret| secret.until.is_none_or(|until| now < until)).collect();
    let last = live.iter().map(|secret| secret.until).max_by_key(|until| until.unwrap_or(Timestamp::MAX_UTC));
    match last {
        Some(Some(until)) if until - now < SOON => {
            let what = format!("its last secret ends on {}", until.format("%F %R UTC"));
            findings.push(not_safe(&place(".secrets"), what, "add the secret that follows it"));
        }
        None if !endpoint.secrets.is_empty() => {
            let what = "all its secrets have ended: every request is rejected";
            findings.push(not_safe(&place(".secrets"), what.into(), "add the secret of today"));
        }
        _ => {}
    }
    findings
}

fn of_destination(destination: &Destination) -> Option<Finding> {
    let unsigned = matches!(destination.kind, DestinationKind::Http { .. })
        && destination.sign.is_empty()
        && destination.headers.is_empty();
    let what =
        "deliveries carry neither a signature nor a header of yours: whoever reaches it can send it events";
    let place = format!("destinations.{}", destination.name);
    unsigned.then(|| doubtful(&place, what.into(), "set `sign`, and verify it there"))
}

async fn of_database(config: &Config) -> Vec<Finding> {
    if let DatabaseUrl::Sqlite(path) = &config.database.url
        && !path.exists()
    {
        return Vec::new(); // `serve` makes it, as it should be
    }
    let store = match store::connect(&config.database).await {
        Ok(store) => store,
        Err(error) => return vec![unreachable_database(&error)],
    };
    let findings = of_store(&store, config.database.migrate).await;
    store.close().await;
    findings
}

async fn of_store(store: &Store, migrates: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Err(error) = store.ledger.ready().await {
        // `serve` migrates first, unless it is told not to.
        let finding = if migrates { doubtful } else { not_safe };
        findings.push(finding(
            "database",
            error.to_string(),
            "`hookgate migrate` brings its schema up to date",
        ));
    }
    let condition = match store.ledger.condition().await {
        Ok(condition) => condition,
        Err(error) => return vec![unreachable_database(&error)],
    };
    if !condition.durable {
        let what =
            "its settings let it lose what it has committed (fsync, full_page_writes, synchronous_commit)";
        findings.push(not_safe("database", what.into(), "set them to `on`: a 2xx would not mean committed"));
    }
    if store.is_pooled() {
        let what =
            "behind a transaction pooler: statements have no names, and cost four round trips instead of one";
        let help =
            "nothing where speed does not count; else connect directly, or in the pooler's session mode";
        findings.push(doubtful("database", what.into(), help));
    }
    let skew = (SystemClock.now() - condition.now).abs();
    if skew > SKEW {
        let what = format!("its clock and this machine's are {:.1} s apart", skew.as_seconds_f64());
        let help = "keep both on NTP: freshness is judged by this machine's, leases by the database's";
        let finding = if skew > UNSAFE_SKEW { not_safe } else { doubtful };
        findings.push(finding("database", what, help));
    }
    findings
}

fn unreachable_database(error: &StoreError) -> Finding {
    not_safe("database", format!("cannot be looked at: {error}"), "start it, or mend database.url")
}

fn not_safe(place: &str, what: String, help: &str) -> Finding {
    Finding { severity: Severity::Unsafe, place: place.to_owned(), what, help: help.to_owned() }
}

fn doubtful(place: &str, what: String, help: &str) -> Finding {
    Finding { severity: Severity::Doubtful, place: place.to_owned(), what, help: help.to_owned() }
}
