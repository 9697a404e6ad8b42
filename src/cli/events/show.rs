//! `hookgate events show`

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::cli::desk::Desk;
use crate::cli::{deliveries, out, shown};
use crate::model::EventKey;
use crate::store::{EventDetail, EventRecord, ExchangeRecord, Filter, Page};

/// Show one event: its row, its headers, its messages, what a proxy's destination answered, and with --body the bytes
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The event's id
    #[arg(value_name = "EVENT_ID")]
    event: String,
    /// Of this endpoint, if several have an event of this id
    #[arg(long, value_name = "NAME")]
    endpoint: Option<String>,
    /// Of this provider, if several have an event of this id
    #[arg(long, value_name = "ID")]
    provider: Option<String>,
    /// Show the bytes too
    #[arg(long)]
    body: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, desk: &Desk) -> anyhow::Result<ExitCode> {
    let filter = Filter {
        id: Some(args.event.clone()),
        endpoint: args.endpoint.clone(),
        provider: args.provider.clone(),
        ..Filter::default()
    };
    let record = the_one(desk, &filter).await?;
    let key = EventKey {
        provider: record.provider.into(),
        endpoint: record.endpoint.into(),
        event_id: record.event_id,
    };
    let found = desk.operations.event(&key).await?.context("it was removed just now")?;
    print(&found, desk, args)?;
    Ok(ExitCode::SUCCESS)
}

/// The only event that a filter with an id means.
pub(super) async fn the_one(desk: &Desk, filter: &Filter) -> anyhow::Result<EventRecord> {
    let id = filter.id.as_deref().unwrap_or_default();
    let mut found = desk.operations.events(filter, &Page { after: None, limit: 20 }).await?.rows;
    match (found.pop(), found.len()) {
        (None, _) => bail!("there is no such event: {id}"),
        (Some(record), 0) => Ok(record),
        (Some(last), _) => {
            let names: Vec<String> = found
                .iter()
                .chain([&last])
                .map(|row| format!("{} ({})", row.endpoint, row.provider))
                .collect();
            bail!("several endpoints have an event {id}: {}; say which with --endpoint", names.join(", "))
        }
    }
}

fn print(found: &EventDetail, desk: &Desk, args: &Args) -> anyhow::Result<()> {
    let mut object: Value = serde_json::to_value(&found.record)?;
    object["account"] = json!(found.account);
    object["ordering_key"] = json!(found.ordering_key);
    object["request_id"] = json!(found.request_id);
    object["item_index"] = json!(found.item_index);
    let mask = desk.mask();
    if args.json {
        object["deliveries"] = json!(found.deliveries);
        shown::content_json(&mut object, &found.content, &mask, args.body);
        if let Some(exchange) = &found.exchange {
            object["exchange"] = exchange_json(exchange, &mask, args.body);
        }
        out(format_args!("{object}"))?;
        return Ok(());
    }
    shown::print_fields(&object)?;
    if !found.deliveries.is_empty() {
        deliveries::print(&found.deliveries)?;
    }
    shown::print_content(&found.content, &mask, args.body)?;
    let Some(exchange) = &found.exchange else { return Ok(()) };
    shown::print_fields(exchange)?;
    exchange.content.as_ref().map_or(Ok(()), |answer| shown::print_content(answer, &mask, args.body))
}

fn exchange_json(exchange: &ExchangeRecord, mask: &shown::Mask, body: bool) -> Value {
    let mut object = json!(exchange);
    if let Some(answer) = &exchange.content {
        shown::content_json(&mut object, answer, mask, body);
        object["body_bytes"] = json!(exchange.body_bytes);
    }
    object
}
