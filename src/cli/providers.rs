//! `hookgate providers`: the catalogue.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{ContentArrangement, Table};
use serde_json::Value;

use super::out;
use super::request_args::catalogue;
use crate::provider::Catalogue;

/// The longest text in a cell of the list: all of it is in `show` and `--json`.
const MAX_CELL: usize = 48;

/// List the providers that hookgate knows, or show one of them
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Print an array of objects with `id`, `name`, `confidence`, …
    #[arg(long)]
    pub json: bool,
    /// A folder of own definitions, over the embedded ones; may be repeated
    #[arg(long, value_name = "DIR")]
    pub providers_dir: Vec<PathBuf>,
    /// Without one: the list.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The parts of `hookgate providers`.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// One provider: what it signs, what to enter in its dashboard, what it expects back
    Show(ShowArgs),
}

/// The arguments of `hookgate providers show`.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// The provider's id or one of its aliases
    #[arg(value_name = "ID")]
    pub id: String,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// A folder of own definitions, over the embedded ones; may be repeated
    #[arg(long, value_name = "DIR")]
    pub providers_dir: Vec<PathBuf>,
}

/// Prints the list, or one of them.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        None => list(&catalogue(&args.providers_dir)?, args.json)?,
        Some(Command::Show(args)) => show(&catalogue(&args.providers_dir)?, args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(catalogue: &Catalogue, json: bool) -> anyhow::Result<()> {
    let all: Vec<Value> = catalogue.iter().map(|provider| provider.summary()).collect();
    if json {
        out(format_args!("{}", serde_json::to_string_pretty(&all)?))?;
        return Ok(());
    }
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header([
        "provider",
        "signs with",
        "what is signed",
        "signature",
        "id from",
        "handshake",
        "reply",
        "deadline",
        "confidence",
    ]);
    for provider in &all {
        table.add_row(row(provider));
    }
    out(format_args!("{table}"))?;
    Ok(())
}

/// How a provider proves itself and is answered, each in a few words.
fn row(provider: &Value) -> [String; 9] {
    let text = |key: &str| line(&provider[key]);
    let short = |key: &str| {
        let whole = provider[key].get(0).map(line).unwrap_or_default();
        let more =
            provider[key].as_array().is_some_and(|all| all.len() > 1) || whole.chars().count() > MAX_CELL;
        format!("{}{}", whole.chars().take(MAX_CELL).collect::<String>(), if more { " …" } else { "" })
    };
    let or = |text: String, otherwise: &str| if text.is_empty() { otherwise.to_owned() } else { text };
    let deadline = provider["deadline_seconds"].as_u64().map(|seconds| format!("{seconds} s"));
    [
        text("id"),
        text("algorithms"),
        or(short("signed"), "the secret or token itself"),
        short("signature"),
        short("event_id"),
        or(short("handshakes"), "none"),
        text("reply"),
        or(deadline.unwrap_or_default(), "unknown"),
        text("confidence"),
    ]
}

fn show(catalogue: &Catalogue, args: &ShowArgs) -> anyhow::Result<()> {
    let provider = catalogue
        .get(&args.id)
        .with_context(|| format!("there is no provider `{}`; `hookgate providers` lists them", args.id))?;
    let object = provider.description();
    if args.json {
        out(format_args!("{}", serde_json::to_string_pretty(&object)?))?;
    } else {
        print(&object, 0)?;
    }
    Ok(())
}

/// Facts as indented lines; what is empty is left out.
fn print(value: &Value, depth: usize) -> anyhow::Result<()> {
    let Value::Object(object) = value else { return Ok(()) };
    let indent = "  ".repeat(depth);
    for (key, value) in object {
        let key = key.replace('_', " ");
        match value {
            Value::Object(inner)
                if inner.values().any(|value| !line(value).is_empty() || value.is_object()) =>
            {
                out(format_args!("{indent}{key}:"))?;
                print(value, depth + 1)?;
            }
            Value::Array(items) if items.iter().any(Value::is_object) => {
                for item in items {
                    out(format_args!("{indent}{key}:"))?;
                    print(item, depth + 1)?;
                }
            }
            Value::Array(items) if items.len() > 1 => {
                out(format_args!("{indent}{key}:"))?;
                for item in items {
                    out(format_args!("{indent}  - {}", line(item)))?;
                }
            }
            _ if line(value).is_empty() => {}
            _ => out(format_args!("{indent}{key}: {}", line(value)))?,
        }
    }
    Ok(())
}

/// A value on one line.
fn line(value: &Value) -> String {
    match value {
        Value::Null | Value::Object(_) => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(line).collect::<Vec<_>>().join(", "),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => number.to_string(),
    }
}
