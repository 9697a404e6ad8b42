//! `hookgate dead`: what waits for a person.

use std::process::ExitCode;

use anyhow::ensure;
use serde_json::json;

use super::desk::Desk;
use super::filter_args::{FilterArgs, OrderArgs, PageArgs};
use super::shown::{self, clean, time};
use super::{Shell, out, warn};
use crate::store::{DeadRecord, Filter, Listed, QueueName, State, StoreError};

/// Look at what waits for a person, try it again, or close it
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List events and messages that need review, the latest first
    List {
        /// Only of this queue
        #[arg(long, value_name = "QUEUE", value_parser = queue)]
        queue: Option<QueueName>,
        #[command(flatten)]
        filter: FilterArgs,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Try dead events and messages again: due at once, with all their attempts before them
    Redrive {
        /// The event, and its messages
        #[arg(value_name = "EVENT_ID", conflicts_with = "id")]
        event: Option<String>,
        /// Only of this queue
        #[arg(long, value_name = "QUEUE", value_parser = queue)]
        queue: Option<QueueName>,
        #[command(flatten)]
        filter: FilterArgs,
        #[command(flatten)]
        order: OrderArgs,
    },
    /// Close flagged events: they are done, and a person has looked
    Resolve {
        /// The event
        #[arg(value_name = "EVENT_ID", conflicts_with = "id")]
        event: Option<String>,
        #[command(flatten)]
        filter: FilterArgs,
        #[command(flatten)]
        order: OrderArgs,
    },
}

/// Asks, orders and prints.
pub async fn run(args: &Args, shell: &Shell) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(shell).await?;
    let ended = match &args.command {
        Command::List { queue, filter, page } => list(&desk, *queue, filter, page).await,
        Command::Redrive { event, queue, filter, order } => {
            let filter = of(event.as_ref(), filter);
            give(&desk, Order::Redrive(*queue), filter, order).await
        }
        Command::Resolve { event, filter, order } => {
            give(&desk, Order::Resolve, of(event.as_ref(), filter), order).await
        }
    };
    desk.close(ended).await
}

fn queue(word: &str) -> Result<QueueName, String> {
    [QueueName::Inbox, QueueName::Outbox]
        .into_iter()
        .find(|queue| queue.as_str() == word)
        .ok_or_else(|| "expected inbox or outbox".into())
}

fn of(event: Option<&String>, args: &FilterArgs) -> Filter {
    let filter = args.filter();
    Filter { id: event.cloned().or(filter.id), ..filter }
}

async fn list(
    desk: &Desk,
    queue: Option<QueueName>,
    filter: &FilterArgs,
    page: &PageArgs,
) -> anyhow::Result<ExitCode> {
    let listed = desk.operations.dead(queue, &filter.filter(), &page.page()).await?;
    if page.json {
        shown::print_list_json("dead", &listed)?;
    } else {
        print(&listed)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn print(listed: &Listed<DeadRecord>) -> anyhow::Result<()> {
    let mut table = shown::table(["since", "queue", "of", "type", "event id", "state", "attempts", "reason"]);
    for row in &listed.rows {
        table.add_row([
            time(row.review_at),
            row.queue.as_str().to_owned(),
            clean(row.destination.as_deref().unwrap_or(&row.endpoint)),
            clean(&row.event_type),
            clean(&row.event_id),
            row.state.clone(),
            row.attempts.to_string(),
            clean(&row.review_reason),
        ]);
    }
    out(format_args!("{table}"))?;
    shown::print_next(listed.next)
}

/// What is done with them.
enum Order {
    /// In one queue or both.
    Redrive(Option<QueueName>),
    Resolve,
}

impl Order {
    fn queues(&self) -> Vec<QueueName> {
        match self {
            Self::Resolve => vec![QueueName::Inbox],
            Self::Redrive(Some(queue)) => vec![*queue],
            Self::Redrive(None) => vec![QueueName::Inbox, QueueName::Outbox],
        }
    }

    fn state(&self) -> State {
        match self {
            Self::Redrive(_) => State::Dead,
            Self::Resolve => State::Flagged,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Redrive(_) => "dead.redrive",
            Self::Resolve => "dead.resolve",
        }
    }

    fn done(&self) -> &'static str {
        match self {
            Self::Redrive(_) => "redriven",
            Self::Resolve => "resolved",
        }
    }
}

/// Counts, asks for `--yes` if there are several, does it in batches, and prints how many it were.
async fn give(desk: &Desk, order: Order, filter: Filter, args: &OrderArgs) -> anyhow::Result<ExitCode> {
    let filter = args.narrow(filter)?;
    let state = order.state();
    ensure!(
        filter.state.is_none_or(|asked| asked == state),
        "{} is for what is {}: leave --state out",
        order.name().replace('.', " "),
        state.as_str()
    );
    let filter = Filter { state: Some(state), ..filter };
    let mut counted = Vec::new();
    for queue in order.queues() {
        counted.push((queue, desk.operations.count_dead(queue, &filter).await?));
    }
    let total: i64 = counted.iter().map(|(_, count)| count).sum();
    if args.dry_run || total == 0 {
        print_counts("matched", &counted, args.json)?;
        // A named event that is not there is a mistake.
        let missing = total == 0 && filter.id.is_some();
        if missing {
            hint(desk, &order, &filter).await?;
        }
        return Ok(if missing { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    if total > 1 && !args.yes {
        print_counts("matched", &counted, args.json)?;
        warn(format_args!("nothing was done: these are several; add --yes"));
        return Ok(ExitCode::FAILURE);
    }
    let done = carry_out(desk, &order, &filter, &args.who()).await?;
    print_counts(order.done(), &done, args.json)?;
    Ok(ExitCode::SUCCESS)
}

/// The other order, where that is what the event waits for.
async fn hint(desk: &Desk, order: &Order, filter: &Filter) -> Result<(), StoreError> {
    let other = if order.state() == State::Dead { Order::Resolve } else { Order::Redrive(None) };
    let filter = Filter { state: Some(other.state()), ..filter.clone() };
    for queue in other.queues() {
        if desk.operations.count_dead(queue, &filter).await? > 0 {
            let (state, command) = (other.state().as_str(), other.name().replace('.', " "));
            warn(format_args!("it is {state}: `hookgate {command}` is for that"));
            break;
        }
    }
    Ok(())
}

async fn carry_out(
    desk: &Desk,
    order: &Order,
    filter: &Filter,
    who: &str,
) -> Result<Vec<(QueueName, i64)>, StoreError> {
    let what = json!({ "queues": order.queues(), "filter": filter }).to_string();
    let audit = desk.operations.audit(who, order.name(), &what).await?;
    let mut done = Vec::new();
    for queue in order.queues() {
        let mut count = 0;
        loop {
            let batch = match order {
                Order::Redrive(_) => desk.operations.redrive(queue, filter, audit).await?,
                Order::Resolve => desk.operations.resolve(filter, audit).await?,
            };
            if batch == 0 {
                break;
            }
            count += batch.cast_signed();
        }
        done.push((queue, count));
    }
    Ok(done)
}

fn print_counts(word: &str, counts: &[(QueueName, i64)], json: bool) -> anyhow::Result<()> {
    if json {
        let counts: serde_json::Map<_, _> =
            counts.iter().map(|(queue, count)| (queue.as_str().to_owned(), json!(count))).collect();
        out(format_args!("{}", json!({ word: counts })))?;
        return Ok(());
    }
    for (queue, count) in counts {
        out(format_args!("{}: {count} {word}", queue.as_str()))?;
    }
    Ok(())
}
