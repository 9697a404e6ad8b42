//! Where log lines go and how they look.

use std::fmt::{self, Write as _};
use std::io::IsTerminal as _;

use tracing::Subscriber;
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{Log, LogFormat};

/// Why logging could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The filter cannot be read.
    #[error("{origin}: \"{filter}\" is not a filter such as \"info,hookgate::worker=debug\": {why}")]
    Filter {
        /// `RUST_LOG` or `log.level`.
        origin: &'static str,
        /// What was given.
        filter: String,
        /// What is wrong with it.
        why: tracing_subscriber::filter::ParseError,
    },
    /// The program that embeds the gateway has its own subscriber.
    #[error("a tracing subscriber is set already: {0}")]
    AlreadySet(Box<dyn std::error::Error + Send + Sync>),
}

/// Targets that never reach the log, whatever the operator's filter says: their lines hold what no line may. The driver
/// repeats parameters of `database.url` that it does not know, with their values; and the server's notices carry values
/// of the rows that a handler works on.
const MUTED: [&str; 2] = ["sqlx_postgres::options::parse", "sqlx::postgres::notice"];

/// Sends log lines to standard error, as JSON or for people, filtered by `RUST_LOG` or else `log.level`.
///
/// Two targets of the database driver are left out even if the filter asks for them, since their lines hold passwords or
/// event data: `sqlx_postgres::options::parse` and `sqlx::postgres::notice`.
///
/// One event is one line in both forms: control characters in values, which strangers may send, are escaped.
///
/// # Errors
/// [`LogError`]
pub fn init_tracing(log: &Log) -> Result<(), LogError> {
    let filter = filter(log, std::env::var(EnvFilter::DEFAULT_ENV).ok())?;
    let terminal = std::io::stderr().is_terminal();
    let json = match log.format {
        LogFormat::Json => true,
        LogFormat::Pretty => false,
        LogFormat::Auto => !terminal,
    };
    subscriber(filter, json, terminal, std::io::stderr)
        .try_init()
        .map_err(|error| LogError::AlreadySet(error.into()))
}

fn subscriber<W>(filter: EnvFilter, json: bool, colours: bool, writer: W) -> Box<dyn Subscriber + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    if json {
        let builder = builder.json().flatten_event(true).with_current_span(false).with_span_list(false);
        Box::new(builder.finish().with(filter_fn(|line| !MUTED.contains(&line.target()))))
    } else {
        let builder = builder.with_ansi(colours).fmt_fields(debug_fn(write_field).delimited(" "));
        Box::new(builder.finish().with(filter_fn(|line| !MUTED.contains(&line.target()))))
    }
}

fn filter(log: &Log, rust_log: Option<String>) -> Result<EnvFilter, LogError> {
    let (origin, filter) = match rust_log.filter(|filter| !filter.trim().is_empty()) {
        Some(filter) => ("RUST_LOG", filter),
        None => ("log.level", log.level.clone()),
    };
    EnvFilter::try_new(&filter).map_err(|why| LogError::Filter { origin, filter, why })
}

fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    let mut safe = Escaping(writer);
    if field.name() == "message" {
        write!(safe, "{value:?}")
    } else {
        write!(safe, "{}={value:?}", field.name())
    }
}

/// Escapes control characters, so that no value can end a line, begin another or steer a terminal.
struct Escaping<'a, 'w>(&'a mut Writer<'w>);

impl fmt::Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for part in text.split_inclusive(char::is_control) {
            match part.char_indices().last() {
                Some((at, last)) if last.is_control() => {
                    self.0.write_str(&part[..at])?;
                    write!(self.0, "{}", last.escape_default())?;
                }
                _ => self.0.write_str(part)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::*;

    /// What a stranger may send, and what a colour terminal would make of it.
    const NASTY: &str = "evt_1\n{\"message\":\"event.processed\"}\r\u{1b}[31m\u{9b}2J";

    #[derive(Clone, Default)]
    struct Caught(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Caught {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// The lines that a program writes.
    fn lines(json: bool, program: impl FnOnce()) -> Vec<String> {
        lines_of("info", json, program)
    }

    fn lines_of(filter: &str, json: bool, program: impl FnOnce()) -> Vec<String> {
        let caught = Caught::default();
        let writer = caught.clone();
        let subscriber = subscriber(EnvFilter::new(filter), json, false, move || writer.clone());
        tracing::subscriber::with_default(subscriber, program);
        let text = String::from_utf8(caught.0.lock().unwrap().clone()).unwrap();
        text.split_terminator('\n').map(str::to_owned).collect()
    }

    fn nasty_event() {
        tracing::info!(event_id = NASTY, path = %NASTY, hint = ?NASTY, "webhook.request");
    }

    #[test]
    fn no_value_can_begin_a_line_of_its_own() {
        for json in [true, false] {
            let lines = lines(json, nasty_event);
            assert_eq!(lines.len(), 1, "{lines:?}");
            assert!(lines[0].contains("webhook.request") && lines[0].contains("evt_1"), "{lines:?}");
        }
    }

    #[test]
    fn no_value_can_steer_a_terminal() {
        let lines = lines(false, nasty_event);
        assert!(!lines[0].contains(char::is_control), "{lines:?}");
    }

    #[test]
    fn what_the_driver_says_about_values_is_left_out_whatever_the_filter_says() {
        let program = || {
            tracing::warn!(target: "sqlx_postgres::options::parse", value = "MARKER", "ignoring");
            tracing::error!(target: "sqlx::postgres::notice", "MARKER");
            tracing::info!(target: "sqlx::pool", "seen");
        };
        for filter in ["trace", "sqlx_postgres::options::parse=trace,sqlx::postgres::notice=trace,sqlx=info"]
        {
            for json in [true, false] {
                let lines = lines_of(filter, json, program);
                assert!(lines.len() == 1 && lines[0].contains("seen"), "{lines:?}");
            }
        }
    }

    #[test]
    fn fields_stand_beside_the_message() {
        let lines = lines(true, || tracing::info!(event_id = "evt_1", bytes = 3, "event.accepted"));
        let line: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
        assert_eq!(
            (&line["message"], &line["event_id"], &line["bytes"]),
            (&"event.accepted".into(), &"evt_1".into(), &3.into())
        );
        let text = self::lines(false, || tracing::info!(event_id = "evt_1", "event.accepted"));
        assert!(text[0].ends_with("event.accepted event_id=\"evt_1\""), "{text:?}");
    }

    #[test]
    fn a_filter_that_cannot_be_read_says_where_it_stands() {
        let log = Log { format: LogFormat::Json, level: "hookgate=loud".into() };
        let error = filter(&log, None).unwrap_err().to_string();
        assert!(error.starts_with("log.level: \"hookgate=loud\""), "{error}");
        let error = filter(&log, Some("hookgate=shrill".into())).unwrap_err().to_string();
        assert!(error.starts_with("RUST_LOG: \"hookgate=shrill\""), "{error}");
        assert!(filter(&log, Some("debug".into())).is_ok(), "RUST_LOG wins");
    }
}
