"""Is anything lost, late, duplicated, rejected or silent, and whose fault is it?"""

from model import board, graph, number
from model import query as q

BAD = """(sum by (endpoint) (rate(hookgate_requests_total{@e@, outcome="error"}[$__rate_interval]))
         + sum by (endpoint) (rate(hookgate_late_replies_total{@e@}[$__rate_interval])))"""

BOARD = board(
    "hookgate-overview",
    "hookgate / Overview",
    "All endpoints at a glance. Red numbers above, the endpoint to blame below.",
    ["job", "instance", "provider", "endpoint"],
    [
        ("Now", [
            number("Alerts", "none", """Alerts of hookgate that fire now. Should be 0; the list with their runbooks is in
                   Alertmanager, and under Alerting.""",
                   q('count(ALERTS{alertname=~"Hookgate.*", alertstate="firing", job=~"$job|"}) or vector(0)', "firing"),
                   good=1, bad=3),
            number("Requests", "reqps", """All requests to configured paths, whatever came of them. Zero where there is
                   usually traffic: see Silence below, and whether the proxy in front reaches the gateway.""",
                   q("sum(rate(hookgate_requests_total{@e@}[$__rate_interval]))", "requests")),
            number("Answered well", "percentunit", """Share of the requests that are neither errors of ours nor
                   acknowledged too late; rejected ones do not count. Below 99.9 % providers send again: see which
                   endpoint under Reply time.""",
                   q("""1 - (sum(rate(hookgate_requests_total{@e@, outcome="error"}[$__rate_interval]))
                        + sum(rate(hookgate_late_replies_total{@e@}[$__rate_interval])))
                        / (sum(rate(hookgate_requests_total{@e@, outcome!="rejected"}[$__rate_interval])) > 0)""",
                     "good"),
                   low_is_bad=True, good=0.999, bad=0.99, runbook="reply-time"),
            number("Events waiting now", "short", """Events that are stored and not yet worked off, retries included. A number
                   that only grows: workers are behind or gone.""",
                   q("sum(max by (provider, endpoint) (hookgate_inbox_backlog{@e@}))", "backlog"),
                   good=1000, bad=10000, runbook="backlog"),
            number("Oldest event", "s", """Age of the event that has waited longest. Minutes: an event fails and is tried
                   again, or workers are behind. This is the number to watch, not the count.""",
                   q("max(hookgate_inbox_oldest_seconds{@e@})", "oldest"), good=60, bad=300, runbook="backlog"),
            number("Needs review now", "short", """Rows of both queues that are tried no more and wait for a person. Anything
                   above 0 is work for somebody today.""",
                   q("""(sum(max by (provider, endpoint) (hookgate_inbox_needs_review{@e@})) or vector(0))
                        + (sum(max by (destination) (hookgate_outbox_needs_review{@i@})) or vector(0))""", "rows"),
                   good=1, bad=10, runbook="needs-review"),
        ]),
        ("Traffic", [
            graph("Requests by outcome", "reqps", """What became of requests. `error` is our fault, `rejected` is a secret or
                  a stranger, `duplicate` is normal in small numbers. A jump of one colour names the kind of trouble; the
                  Provider board names the endpoint.""",
                  q("sum by (outcome) (rate(hookgate_requests_total{@e@}[$__rate_interval]))", "{{outcome}}"),
                  stacked=True, width=12),
            graph("Events by endpoint", "eps", """Verified events, counted once at the door. A line that falls to zero
                  while others go on: that provider stopped sending.""",
                  q("sum by (endpoint) (rate(hookgate_events_total{@e@}[$__rate_interval]))", "{{endpoint}}"),
                  width=12, runbook="silence"),
            graph("Duplicate rate", "percentunit", """Share of verified events that were known already, conflicts apart; the
                  dashed line is the week's own average. A lasting rise: the provider does not see our acknowledgements
                  in time, or the webhook is registered twice.""",
                  q("""sum by (endpoint) (rate(hookgate_events_total{@e@, outcome="duplicate"}[$__rate_interval]))
                       / (sum by (endpoint) (rate(hookgate_events_total{@e@, outcome!="conflict"}[$__rate_interval])) > 0)""",
                    "{{endpoint}}"),
                  q("max by (endpoint) (endpoint:hookgate_duplicates:baseline1w{@re@})", "{{endpoint}} week"),
                  dashed="/ week$/", runbook="duplicates"),
            graph("Rejections by reason", "reqps", """Requests that were not proved genuine. signature_mismatch on an
                  endpoint that worked before: its secret was rolled. Many on all endpoints: strangers.""",
                  q("sum by (reason) (rate(hookgate_rejections_total{@e@}[$__rate_interval])) > 0", "{{reason}}"),
                  stacked=True, runbook="rejections"),
            graph("Silence", "s", """Time since the last genuine request; the dashed line is the endpoint's `expect_every`.
                  A line that climbs above it, or far above its usual peaks: ask the provider's dashboard whether it
                  still sends.""",
                  q("time() - max by (endpoint) (hookgate_last_verified_timestamp_seconds{@n@})", "{{endpoint}}"),
                  q("max by (endpoint) (hookgate_expected_every_seconds{@n@})", "{{endpoint}} expected"),
                  dashed="/ expected$/", runbook="silence"),
        ]),
        ("Reply time", [
            graph("Reply time and the provider's limit", "s", """Half of the replies are faster than p50, one in a hundred is
                  slower than p99; the dashed line is when the provider gives up. p99 near it: use `async` mode, or find
                  the slow handler on the Provider board.""",
                  q("""histogram_quantile(0.5, sum by (endpoint, le)
                       (rate(hookgate_request_duration_seconds_bucket{@e@}[$__rate_interval])))""", "{{endpoint}} p50"),
                  q("""histogram_quantile(0.99, sum by (endpoint, le)
                       (rate(hookgate_request_duration_seconds_bucket{@e@}[$__rate_interval])))""", "{{endpoint}} p99"),
                  q("max by (endpoint) (hookgate_reply_deadline_seconds{@e@})", "{{endpoint}} limit"),
                  dashed="/ limit$/", width=12, runbook="reply-time"),
            graph("Failed or late replies", "percentunit", """Share of requests answered with an error, or acknowledged after
                  the provider's limit. The objective is 0.1 % over 30 days; the red line is the rate that uses 2 % of
                  the month's budget in an hour.""",
                  q(BAD + """ / (sum by (endpoint)
                       (rate(hookgate_requests_total{@e@, outcome!="rejected"}[$__rate_interval])) > 0)""",
                    "{{endpoint}}"),
                  limit=0.0144, width=6, runbook="reply-time"),
            number("Error budget left", "percentunit", """What is left of the allowed 0.1 % over the time shown above (choose
                   30 days for the month). Below 0 the objective is missed: repair before you release anything else.""",
                   q("""1 - ((sum by (endpoint) (increase(hookgate_requests_total{@e@, outcome="error"}[$__range]))
                        + sum by (endpoint) (increase(hookgate_late_replies_total{@e@}[$__range])))
                        / (sum by (endpoint) (increase(hookgate_requests_total{@e@, outcome!="rejected"}[$__range])) > 0))
                        / 0.001""", "{{endpoint}}", instant=True),
                   low_is_bad=True, good=0.5, bad=0, width=6, height=8, runbook="reply-time"),
        ]),
        ("Work", [
            graph("Events waiting", "short", """Backlog by endpoint; 100001 means that many or more. One endpoint alone: its
                  handler is slow or fails. All: too few workers, or a slow database.""",
                  q("max by (endpoint) (hookgate_inbox_backlog{@e@})", "{{endpoint}}"), runbook="backlog"),
            graph("Age of the oldest event", "s", """A saw-tooth is normal while retries wait. A straight climb means that
                  nothing is worked off: see Workers on the Store board. The red line is where the alert begins.""",
                  q("max by (endpoint) (hookgate_inbox_oldest_seconds{@e@})", "{{endpoint}}"), limit=300,
                  runbook="backlog"),
            graph("Lag from reception to commit", "s", """p50 and p99 of how long events took, retries included. In `sync`
                  mode it is a part of the reply time; in `async` mode it is what users feel.""",
                  q("""histogram_quantile(0.5, sum by (endpoint, le)
                       (rate(hookgate_event_lag_seconds_bucket{@e@}[$__rate_interval])))""", "{{endpoint}} p50"),
                  q("""histogram_quantile(0.99, sum by (endpoint, le)
                       (rate(hookgate_event_lag_seconds_bucket{@e@}[$__rate_interval])))""", "{{endpoint}} p99"),
                  runbook="backlog"),
            graph("Handlers that fail", "ops", """Runs that failed (will be tried again) or failed for good (need review). A
                  steady line of one handler: its code, its tables or what it calls is broken; the log line event.failed
                  has the code.""",
                  q("""sum by (handler, outcome)
                       (rate(hookgate_process_attempts_total{@e@, outcome=~"failed|permanent"}[$__rate_interval]))""",
                    "{{handler}} {{outcome}}"), runbook="handler-failing"),
            graph("Needs review", "short", """Rows that wait for a person, by endpoint and by destination. They stay at any
                  age until somebody decides.""",
                  q("max by (endpoint) (hookgate_inbox_needs_review{@e@})", "{{endpoint}}"),
                  q("max by (destination) (hookgate_outbox_needs_review{@i@})", "to {{destination}}"),
                  runbook="needs-review"),
            graph("Messages waiting", "short", """Outbox by destination. One that only grows: its destination is down or slow;
                  the Delivery board tells which.""",
                  q("max by (destination) (hookgate_outbox_backlog{@i@})", "{{destination}}"), runbook="deliveries"),
        ]),
    ],
)
