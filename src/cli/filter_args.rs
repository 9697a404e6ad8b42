//! Which rows an operator means, as arguments.

use crate::clock::{Clock as _, SystemClock, Timestamp};
use crate::store::{Cursor, Filter, Page, State};

/// Conditions that every table knows. All that are given must hold.
#[derive(Clone, Debug, Default, clap::Args)]
pub(in crate::cli) struct WhoseArgs {
    /// Of this provider
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) provider: Option<String>,
    /// Of this endpoint
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) endpoint: Option<String>,
    /// Of the event with this id
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) id: Option<String>,
    /// Received since: `2h` (ago) or `2026-01-31T12:00:00Z`; messages: written since
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(in crate::cli) since: Option<Timestamp>,
    /// Received before
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(in crate::cli) until: Option<Timestamp>,
}

/// Conditions on events and messages.
#[derive(Clone, Debug, Default, clap::Args)]
pub(in crate::cli) struct FilterArgs {
    #[command(flatten)]
    pub(in crate::cli) whose: WhoseArgs,
    /// Of this type; `*` stands for any text
    #[arg(long = "type", value_name = "GLOB")]
    pub(in crate::cli) event_type: Option<String>,
    /// In this state: pending, leased, processed, ignored, superseded, flagged or dead
    #[arg(long, value_name = "STATE")]
    pub(in crate::cli) state: Option<State>,
    /// For this destination; events: with a message for it
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) destination: Option<String>,
}

impl WhoseArgs {
    pub(in crate::cli) fn filter(&self) -> Filter {
        let Self { provider, endpoint, id, since, until } = self.clone();
        Filter { provider, endpoint, since, until, id, ..Filter::default() }
    }
}

impl FilterArgs {
    pub(in crate::cli) fn filter(&self) -> Filter {
        let Self { whose, event_type, state, destination } = self.clone();
        Filter { event_type, state, destination, ..whose.filter() }
    }
}

/// How much of a list is shown.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::cli) struct PageArgs {
    /// Rows at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(in crate::cli) limit: u32,
    /// Go on where a list ended
    #[arg(long, value_name = "PLACE")]
    pub(in crate::cli) after: Option<Cursor>,
    /// Print one JSON object
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

impl PageArgs {
    pub(in crate::cli) fn page(&self) -> Page {
        Page { after: self.after, limit: self.limit }
    }
}

/// How an order for many rows is given.
#[derive(Clone, Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(in crate::cli) struct OrderArgs {
    /// Everything that can be meant: no condition is needed
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// Only count
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Do it, however many there are
    #[arg(long)]
    pub(in crate::cli) yes: bool,
    /// Who orders it, for the audit log [default: the user of this session]
    #[arg(long = "as", value_name = "NAME")]
    pub(in crate::cli) who: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

/// Which row to show, and how much of it.
#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// Its number in the list
    #[arg(value_name = "NUMBER")]
    pub(in crate::cli) number: i64,
    /// Show the bytes too
    #[arg(long)]
    pub(in crate::cli) body: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

impl OrderArgs {
    /// The name for the audit log.
    pub(in crate::cli) fn who(&self) -> String {
        who(self.who.as_deref())
    }

    /// An order without a condition would mean everything: that has to be said.
    pub(in crate::cli) fn narrow(&self, filter: Filter) -> anyhow::Result<Filter> {
        anyhow::ensure!(
            self.all || filter != Filter::default(),
            "say which: an event's id, conditions such as --endpoint and --since, or --all"
        );
        Ok(filter)
    }
}

/// The name for the audit log: as it is said, or the session's user.
pub(in crate::cli) fn who(said: Option<&str>) -> String {
    let session = || ["SUDO_USER", "USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    let name = said.map(str::to_owned).or_else(session).filter(|name| !name.is_empty());
    format!("cli:{}", name.as_deref().unwrap_or("unknown"))
}

/// A time: how long ago, or when.
pub(in crate::cli) fn moment(text: &str) -> Result<Timestamp, String> {
    if let Ok(age) = humantime::parse_duration(text) {
        return SystemClock
            .now()
            .checked_sub_signed(chrono::TimeDelta::from_std(age).unwrap_or_default())
            .ok_or_else(|| "that is too long ago".into());
    }
    text.parse()
        .map_err(|_| "expected how long ago, such as 2h, or a time such as 2026-01-31T12:00:00Z".into())
}
