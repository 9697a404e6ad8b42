//! The providers' official packages against the gateway: what they sign is taken, what we sign is taken by them, and
//! a changed byte is refused on both sides.

mod case;
mod table;

use std::fmt::Write as _;

use case::Case;

use crate::support::database::{Database, Engine};
use crate::support::gateway::{Gateway, GatewayConfig};
use crate::support::http;

/// Cases that cannot pass, `language/name`, each with the reason. One that passes after all fails the test.
const KNOWN: [(&str, &str); 0] = [];

/// What providers see; several sign it.
const ORIGIN: &str = "https://hooks.example.com";

#[tokio::test(flavor = "multi_thread")]
async fn every_providers_own_package_agrees_with_the_gateway_on_what_is_genuine() {
    let cases = Case::all();
    let database = Database::new(Engine::Sqlite).await;
    let endpoints = cases.iter().fold(String::new(), |toml, case| toml + &case.endpoint());
    let config = GatewayConfig::new(&database.url, "async").with(&endpoints);
    let gateway = config.try_start(&[("HOOKGATE__SERVER__PUBLIC_URL", ORIGIN)]).await;
    let gateway = gateway.unwrap_or_else(|end| panic!("the gateway did not start:\n{}", end.output));
    let mut problems = String::new();
    for case in &cases {
        let known = KNOWN.iter().find(|(id, _)| *id == case.id);
        match (judge(case, &gateway, &database).await, known) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Ok(()), Some(_)) => {
                let _ = writeln!(problems, "{}: passes, and stands among the known failures", case.id);
            }
            (Err(problem), None) => {
                let _ = writeln!(problems, "{} ({}): {problem}", case.id, case.package);
            }
        }
    }
    let _ = gateway.terminate().await;
    assert!(problems.is_empty(), "of {} cases failed:\n{problems}", cases.len());
}

/// Everything that one package can be asked.
async fn judge(case: &Case, gateway: &Gateway, database: &Database) -> Result<(), String> {
    if let Some(error) = &case.error {
        return Err(format!("the package is not there: {error}"));
    }
    let mut ours = Vec::new();
    if case.verifies {
        ours.push(case.signed_by_us("ours").map_err(|e| format!("we cannot sign: {e}"))?);
    }
    if case.makes {
        ours.push(case.signed_by_the_runner("made").map_err(|e| format!("the runner does not sign: {e}"))?);
    }
    for exchange in ours {
        case.sdk
            .verify(&case.name, &exchange.question(case), &exchange.body)
            .map_err(|e| format!("the package refuses what we sign: {e}"))?;
        let forged = exchange.tampered(case);
        if case.sdk.verify(&case.name, &forged.question(case), &forged.body).is_ok() {
            return Err("the package accepts a changed byte".to_owned());
        }
        deliver(case, gateway, database, &forged, false).await?;
        deliver(case, gateway, database, &exchange, true).await?;
    }
    if case.signs {
        let theirs = case.signed_by_them("theirs").map_err(|e| format!("the package does not sign: {e}"))?;
        deliver(case, gateway, database, &theirs.tampered(case), false).await?;
        deliver(case, gateway, database, &theirs, true).await?;
    }
    Ok(())
}

/// Posts the request and looks at the status and at the inbox.
async fn deliver(
    case: &Case,
    gateway: &Gateway,
    database: &Database,
    exchange: &case::Exchange,
    genuine: bool,
) -> Result<(), String> {
    let rows = format!("SELECT count(*) FROM webhook_inbox WHERE endpoint = '{}'", case.endpoint_name());
    let before = database.count(&rows).await;
    let headers: Vec<(&str, &[u8])> = exchange.headers.iter().collect();
    let answer = http::post(gateway.ingress, &exchange.target, &headers, exchange.body.clone()).await?;
    let added = database.count(&rows).await - before;
    let (status, outcome) = answer.summary();
    let accepted = (200..300).contains(&status);
    if accepted == genuine && (added > 0) == genuine {
        return Ok(());
    }
    let what = if genuine { "a genuine request" } else { "a changed byte" };
    Err(format!("{what} was answered {status} {outcome}, {added} new rows: {}", answer.text()))
}
