//! `[inbox]` and `[outbox]`.

use std::sync::Arc;
use std::time::Duration;

use super::Context;
use super::values::{DAY, FOR_EVER, HOUR, MINUTE, SECOND, TENTH};
use crate::config::key::Key;
use crate::config::raw::{DurationText, RawInbox, RawOutbox};
use crate::config::{Queue, units};

pub(super) fn inbox(raw: &RawInbox, context: &mut Context<'_>) -> Option<Queue> {
    let key = Key::of(&["inbox"]);
    let lease = context.duration(&key.child("lease"), &raw.lease, SECOND..=HOUR);
    let statement_timeout =
        under_lease(&key.child("statement_timeout"), &raw.statement_timeout, lease, context);
    let work_timeout = under_lease(&key.child("work_timeout"), &raw.work_timeout, lease, context);
    let sync_timeout = context.duration(&key.child("sync_timeout"), &raw.sync_timeout, TENTH..=5 * MINUTE);
    let backoff_cap = context.duration(&key.child("backoff_cap"), &raw.backoff_cap, SECOND..=DAY);
    let poll_interval = poll(&key, &raw.poll_interval, context);
    Some(Queue {
        lease: lease?,
        statement_timeout: statement_timeout?,
        work_timeout: work_timeout?,
        sync_timeout: sync_timeout?,
        max_attempts: raw.max_attempts,
        backoff_cap: backoff_cap?,
        backoff: Arc::default(),
        concurrency: raw.concurrency,
        poll_interval: poll_interval?,
        max_age: None,
    })
}

pub(super) fn outbox(raw: &RawOutbox, context: &mut Context<'_>) -> Option<Queue> {
    let key = Key::of(&["outbox"]);
    let lease = context.duration(&key.child("lease"), &raw.lease, SECOND..=HOUR);
    let work_timeout = under_lease(&key.child("work_timeout"), &raw.work_timeout, lease, context);
    let backoff_cap = context.duration(&key.child("backoff_cap"), &raw.backoff_cap, SECOND..=DAY);
    let max_age = context.duration(&key.child("max_age"), &raw.max_age, MINUTE..=FOR_EVER);
    let poll_interval = poll(&key, &raw.poll_interval, context);
    Some(Queue {
        lease: lease?,
        statement_timeout: work_timeout?,
        work_timeout: work_timeout?,
        sync_timeout: work_timeout?,
        max_attempts: raw.max_attempts,
        backoff_cap: backoff_cap?,
        backoff: Arc::default(),
        concurrency: raw.concurrency,
        poll_interval: poll_interval?,
        max_age: Some(max_age?),
    })
}

/// A duration that leaves the holder of a claim time to finish before the claim passes on.
pub(super) fn under_lease(
    key: &Key,
    text: &DurationText,
    lease: Option<Duration>,
    context: &mut Context<'_>,
) -> Option<Duration> {
    let duration = context.duration(key, text, TENTH..=HOUR)?;
    let lease = lease?;
    let most = lease * 9 / 10;
    if duration <= most {
        return Some(duration);
    }
    let what = format!(
        "found {:?}, expected at most {}: nine tenths of the lease of {}",
        text.0,
        units::show(most),
        units::show(lease)
    );
    context.report.error_help(key, what, "otherwise two workers could work on the same row");
    None
}

fn poll(section: &Key, text: &DurationText, context: &mut Context<'_>) -> Option<Duration> {
    context.duration(&section.child("poll_interval"), text, Duration::from_millis(10)..=MINUTE)
}
