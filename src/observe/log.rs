//! Where log lines go and how they look.

use std::fmt::{self, Write as _};
use std::io::IsTerminal as _;

use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt::format::{Writer, debug_fn};

use crate::config::{Log, LogFormat};

/// Why logging could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The filter cannot be read.
    #[error("{origin}: \"{filter}\" is not a filter such as \"info,hookgate::worker=debug\": {source}")]
    Filter {
        /// `RUST_LOG` or `log.level`.
        origin: &'static str,
        /// What was given.
        filter: String,
        /// What is wrong with it.
        source: tracing_subscriber::filter::ParseError,
    },
    /// The program that embeds the gateway has its own subscriber.
    #[error("a tracing subscriber is set already: {0}")]
    AlreadySet(Box<dyn std::error::Error + Send + Sync>),
}

/// Sends log lines to standard error, as JSON or for people, filtered by `RUST_LOG` or else `log.level`.
///
/// One event is one line in both forms: control characters in values, which strangers may send, are escaped.
///
/// # Errors
/// [`LogError`]
pub fn init_tracing(log: &Log) -> Result<(), LogError> {
    let builder = tracing_subscriber::fmt().with_env_filter(filter(log)?).with_writer(std::io::stderr);
    let terminal = std::io::stderr().is_terminal();
    let json = match log.format {
        LogFormat::Json => true,
        LogFormat::Pretty => false,
        LogFormat::Auto => !terminal,
    };
    if json {
        builder.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init()
    } else {
        builder.with_ansi(terminal).fmt_fields(debug_fn(write_field).delimited(" ")).try_init()
    }
    .map_err(LogError::AlreadySet)
}

fn filter(log: &Log) -> Result<EnvFilter, LogError> {
    let (origin, filter) = match std::env::var(EnvFilter::DEFAULT_ENV) {
        Ok(filter) if !filter.trim().is_empty() => ("RUST_LOG", filter),
        _ => ("log.level", log.level.clone()),
    };
    EnvFilter::try_new(&filter).map_err(|source| LogError::Filter { origin, filter, source })
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
