//! What the demo prints.

use std::collections::BTreeMap;
use std::path::Path;

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{ContentArrangement, Table};

use super::Effects;
use super::player::Played;
use crate::app::Gateway;

/// What came in, what happened, why.
pub(super) fn table(played: &[Played]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Dynamic).set_header([
        "",
        "endpoint",
        "what came in",
        "status",
        "what happened",
        "why",
    ]);
    for one in played {
        table.add_row([
            mark(one.is_right()).to_owned(),
            one.scene.endpoint.to_owned(),
            one.scene.what.to_owned(),
            statuses(one),
            outcomes(one),
            one.scene.why.to_owned(),
        ]);
    }
    table
}

/// What the database holds after all that.
pub(super) fn effects(effects: &Effects) -> String {
    format!(
        "{} after all that, the database holds: 1 invoice, status {}; {} ledger entry; {} messages delivered, \
         {} of them verified by the receiving endpoint `inner`; {} in need of review",
        mark(effects.are_right()),
        effects.invoice_status,
        effects.ledger_entries,
        effects.messages_published,
        effects.received_back,
        effects.messages_needing_review,
    )
}

/// Where a person can look while the demo stays up.
pub(super) fn where_to_look(gateway: &Gateway, folder: &Path) -> String {
    let (config, admin) = (folder.join("hookgate.toml"), gateway.admin());
    let config = config.display();
    format!(
        "\nThe gateway stays up until Ctrl-C.\n\
         \x20 metrics      http://{admin}/metrics\n\
         \x20 health       http://{admin}/healthz  http://{admin}/readyz\n\
         \x20 its config   {config}\n\
         \x20 more events  hookgate send billing --config {config} --type invoice.paid --count 100 --duplicate-rate 0.2\n\
         \x20 what waits   hookgate backlog --config {config}"
    )
}

fn mark(right: bool) -> &'static str {
    if right { "✓" } else { "✗" }
}

fn statuses(played: &Played) -> String {
    let mut statuses: Vec<String> = played.answers.iter().map(|(status, _)| status.to_string()).collect();
    statuses.dedup();
    statuses.join(", ")
}

/// `processed`, or `1 accepted, 39 duplicate`.
fn outcomes(played: &Played) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, outcome) in &played.answers {
        *counts.entry(outcome).or_default() += 1;
    }
    match played.answers.as_slice() {
        [(_, outcome)] => outcome.clone(),
        _ => {
            counts.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect::<Vec<_>>().join(", ")
        }
    }
}
