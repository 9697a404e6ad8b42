//! `[log]`.

use tracing_subscriber::EnvFilter;

use super::Context;
use crate::config::key::Key;
use crate::config::problem::suggest;
use crate::config::raw::{RawLog, RawLogFormat};
use crate::config::{Log, LogFormat};

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

pub(super) fn log(raw: &RawLog, context: &mut Context<'_>) -> Log {
    let key = Key::of(&["log", "level"]);
    if let Err(error) = EnvFilter::try_new(&raw.level) {
        context.report.error(&key, format!("found {:?}: {error}", raw.level));
    }
    // A bare word that is no level counts as a module's name: a typing mistake would silence everything else.
    for word in raw.level.split(',').map(str::trim).filter(|word| !word.contains(['=', '[', ':'])) {
        if !LEVELS.contains(&word.to_lowercase().as_str()) {
            let what = format!("found {word:?}, expected a level or module=level");
            context.report.error_help(&key, what, suggest(word, LEVELS.into_iter()));
        }
    }
    let format = match raw.format {
        RawLogFormat::Auto => LogFormat::Auto,
        RawLogFormat::Json => LogFormat::Json,
        RawLogFormat::Pretty => LogFormat::Pretty,
    };
    Log { format, level: raw.level.clone() }
}
