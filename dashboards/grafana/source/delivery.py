"""What leaves: which destination takes its messages, and when will the rest be gone?"""

from model import board, graph, number
from model import query as q

BOARD = board(
    "hookgate-delivery",
    "hookgate / Delivery",
    "Messages to destinations: attempts, time, backlog, forecast.",
    ["job", "instance", "destination"],
    [
        ("Now", [
            number("Delivered", "ops", """Messages that a destination took. Zero with a backlog below: nothing gets through.""",
                   q('sum(rate(hookgate_delivery_attempts_total{@d@, outcome="succeeded"}[$__rate_interval]))',
                     "delivered"), width=6),
            number("Attempts that fail", "percentunit", """Share of attempts that failed or were refused. Retries hide single
                   failures; a lasting share says that a destination is unwell.""",
                   q("""sum(rate(hookgate_delivery_attempts_total{@d@, outcome!="succeeded"}[$__rate_interval]))
                        / (sum(rate(hookgate_delivery_attempts_total{@d@}[$__rate_interval])) > 0)""", "failed"),
                   good=0.05, bad=0.5, width=6, runbook="deliveries"),
            number("Messages waiting now", "short", """Over all chosen destinations. Normal is a few; growth means that one takes
                   less than it gets.""",
                   q("sum(max by (destination) (hookgate_outbox_backlog{@d@}))", "backlog"), good=1000, bad=10000,
                   width=6, runbook="deliveries"),
            number("Oldest message", "s", """The longest wait. After the destination's max_age (3 days unless configured) a
                   message needs review instead of another try.""",
                   q("max(hookgate_outbox_oldest_seconds{@d@})", "oldest"), good=300, bad=900, width=6,
                   runbook="deliveries"),
        ]),
        ("Attempts", [
            graph("Attempts by outcome", "ops", """succeeded; failed (tried again later: no connection, 5xx, 429, time-out);
                  rejected (no further try helps: needs review). Look at the destination's own log for failed, at the
                  message for rejected.""",
                  q("sum by (destination, outcome) (rate(hookgate_delivery_attempts_total{@d@}[$__rate_interval])) > 0",
                    "{{destination}} {{outcome}}"), stacked=True, width=12, runbook="deliveries"),
            graph("Time of an attempt", "s", """p50 and p99 of single attempts, failed ones included. At the destination's
                  `timeout` (15 s unless configured) it hangs instead of refusing.""",
                  q("""histogram_quantile(0.5, sum by (destination, le)
                       (rate(hookgate_delivery_duration_seconds_bucket{@d@}[$__rate_interval])))""",
                    "{{destination}} p50"),
                  q("""histogram_quantile(0.99, sum by (destination, le)
                       (rate(hookgate_delivery_duration_seconds_bucket{@d@}[$__rate_interval])))""",
                    "{{destination}} p99"), width=12, runbook="deliveries"),
        ]),
        ("Waiting", [
            graph("Messages waiting", "short", """By destination; 100001 means that many or more. Only one grows: that
                  destination. All grow: the dispatcher (see Workers on the Store board) or the database.""",
                  q("max by (destination) (hookgate_outbox_backlog{@d@})", "{{destination}}"), runbook="deliveries"),
            graph("Age of the oldest message", "s", """The red line is where the alert begins. If it climbs while
                  deliveries succeed, single messages fail again and again: find them by last_error in the outbox.""",
                  q("max by (destination) (hookgate_outbox_oldest_seconds{@d@})", "{{destination}}"), limit=900,
                  runbook="deliveries"),
            graph("Drain forecast", "s", """When the backlog would be gone at the speed of the last 15 minutes. No line: it
                  does not shrink. Longer than you can wait: raise the destination's `concurrency`.""",
                  q("""destination:hookgate_outbox_backlog:max{@rd@}
                       / (-deriv(destination:hookgate_outbox_backlog:max{@rd@}[15m]) > 0)""", "{{destination}}"),
                  runbook="deliveries"),
        ]),
        ("Trouble", [
            graph("Circuits", "short", """0 closed: messages go. 2 open: the destination failed many times in a row, so none
                  are sent and no attempts are used up. 1 half-open: one message at a time is tried. `hookgate
                  destinations` says with which error; it closes by itself when the destination answers.""",
                  q("max by (destination) (hookgate_circuit_state{@d@})", "{{destination}}"), runbook="deliveries"),
            graph("Needs review", "short", """Messages that are tried no more: refused, too old, or out of attempts.""",
                  q("max by (destination) (hookgate_outbox_needs_review{@d@})", "{{destination}}"),
                  runbook="needs-review"),
            graph("Success rate by destination", "percentunit", """1 is all. A destination at 0 is down; between, it is
                  overloaded or refuses some messages.""",
                  q("""sum by (destination) (rate(hookgate_delivery_attempts_total{@d@, outcome="succeeded"}[$__rate_interval]))
                       / (sum by (destination) (rate(hookgate_delivery_attempts_total{@d@}[$__rate_interval])) > 0)""",
                    "{{destination}}"), runbook="deliveries"),
            graph("Leases lost", "short", """Deliveries per hour whose lease had passed to another worker when they ended: they
                  may have been sent twice (under one webhook-id). Keep work_timeout well under the lease.""",
                  q('sum by (instance) (increase(hookgate_leases_lost_total{@i@, queue="outbox"}[1h]))', "{{instance}}"),
                  runbook="workers"),
        ]),
    ],
)
