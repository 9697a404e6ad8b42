//! How the messages of a destination flow: rate, circuit, order, waits between attempts.

use std::sync::Arc;
use std::time::Duration;

use super::Context;
use super::values::{DAY, HOUR, MINUTE, SECOND, TENTH};
use crate::config::key::Key;
use crate::config::raw::{RawCircuit, RawCircuitNumbers, RawDestination, RawOnDead};
use crate::config::{Flow, OnDead, Rate};
use crate::model::Circuit;

/// The highest rate there is, a second's.
const MOST: f64 = 100_000.0;

pub(super) fn flow(key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> Option<Flow> {
    let rate = match &raw.rate {
        Some(text) => rate(&key.child("rate"), text, context).map(Some),
        None => Some(None),
    };
    let circuit = circuit(&key.child("circuit"), &raw.circuit, context);
    let order = order(key, raw, context);
    Some(Flow { rate: rate?, circuit, order })
}

fn rate(key: &Key, text: &str, context: &mut Context<'_>) -> Option<Rate> {
    let parsed = text.split_once('/').and_then(|(count, unit)| {
        let per = match unit.trim() {
            "s" => SECOND,
            "m" => MINUTE,
            "h" => HOUR,
            _ => return None,
        };
        Some(Rate { count: count.trim().parse().ok()?, per })
    });
    let possible =
        parsed.filter(|rate| rate.count > 0 && f64::from(rate.count) / rate.per.as_secs_f64() <= MOST);
    if possible.is_none() {
        let what = format!("found {text:?}, expected a rate such as \"100/s\", \"30/m\" or \"5/h\"");
        context.report.error_help(key, what, "at least 1, at most 100000/s");
    }
    possible
}

/// None where it is switched off, or wrong.
fn circuit(key: &Key, raw: &RawCircuit, context: &mut Context<'_>) -> Option<Circuit> {
    let standard = RawCircuitNumbers::default();
    let numbers = match raw {
        RawCircuit::Switch(false) => return None,
        RawCircuit::Switch(true) => &standard,
        RawCircuit::Numbers(numbers) => numbers,
    };
    let open = context.duration(&key.child("open"), &numbers.open, SECOND..=DAY)?;
    Some(Circuit { failures: numbers.failures, open })
}

fn order(key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> Option<OnDead> {
    if !raw.ordered {
        if raw.on_dead.is_some() {
            let what = "without `ordered = true` no message waits for another";
            context.report.error_help(&key.child("on_dead"), what, "set `ordered = true`, or leave this out");
        }
        return None;
    }
    Some(match raw.on_dead {
        None | Some(RawOnDead::Block) => OnDead::Block,
        Some(RawOnDead::Skip) => OnDead::Skip,
    })
}

/// The waits as written; none where the usual ones apply.
pub(super) fn backoff(key: &Key, raw: &RawDestination, context: &mut Context<'_>) -> Option<Arc<[Duration]>> {
    let Some(steps) = &raw.backoff else { return Some(Arc::default()) };
    let key = &key.child("backoff");
    if raw.backoff_cap.is_some() {
        let what = "`backoff` and `backoff_cap` exclude each other";
        context.report.error_help(key, what, "the list says every wait; leave `backoff_cap` out");
    }
    let week = 7 * DAY;
    let waits: Vec<Option<Duration>> = steps
        .iter()
        .enumerate()
        .map(|(at, text)| context.duration(&key.index(at), text, TENTH..=week))
        .collect();
    waits.into_iter().collect()
}
