"""One provider or endpoint in depth: does it reach us, do we believe it, is its work done?"""

from model import board, graph, heatmap, number, table
from model import query as q

BOARD = board(
    "hookgate-provider",
    "hookgate / Provider",
    "One provider or endpoint: rejections, secrets, silence, handshakes, conflicts, lag. Choose it above.",
    ["job", "instance", "provider", "endpoint"],
    [
        ("Reception", [
            graph("Requests by outcome", "reqps", """What became of this provider's requests. Only `rejected`: see the
                  reasons beside. `error`: our database or handlers. Nothing at all: see Silence.""",
                  q("sum by (outcome) (rate(hookgate_requests_total{@e@}[$__rate_interval]))", "{{outcome}}"),
                  stacked=True),
            graph("Rejections by endpoint and reason", "reqps", """Why requests were refused. signature_mismatch: wrong
                  secret or changed bytes. stale_timestamp: clocks or a replay. wrong_environment: a test event on a live
                  URL. `hookgate verify` explains a captured request.""",
                  q("sum by (endpoint, reason) (rate(hookgate_rejections_total{@e@}[$__rate_interval])) > 0",
                    "{{endpoint}} {{reason}}"), stacked=True, runbook="rejections"),
            graph("Event types", "eps", """Verified events by type; `other` are types that neither a route nor the
                  definition names. A type that stops while others go on was probably unticked in the provider's
                  dashboard; much `other` is work that nobody routed.""",
                  q("sum by (event_type) (rate(hookgate_event_types_total{@n@}[$__rate_interval])) > 0",
                    "{{event_type}}"), stacked=True),
        ]),
        ("Quarantine", [
            graph("In quarantine", "short", """Requests that became no event and are kept, by endpoint. After the secret or
                  the definition is mended, `hookgate quarantine release` verifies them again.""",
                  q("max by (endpoint) (hookgate_quarantine_rows{@n@})", "{{endpoint}}"), runbook="rejections"),
            graph("Rejected and not kept", "short", """Per hour. rate, full: more came than `[quarantine]` allows, mostly
                  strangers. busy: too much waited to be written. store: the database failed.""",
                  q("sum by (endpoint, cause) (increase(hookgate_quarantine_not_kept_total{@n@}[1h])) > 0",
                    "{{endpoint}} {{cause}}"), runbook="rejections"),
        ]),
        ("Secrets", [
            graph("Secrets in use", "reqps", """Requests proved by the secret at each position of the config. While rotating,
                  the new one must rise and the old one fall to zero; then the old one can go.""",
                  q("sum by (endpoint, secret) (rate(hookgate_secret_matches_total{@n@}[$__rate_interval]))",
                    "{{endpoint}} {{secret}}"), runbook="secret-rotation"),
            table("Old secrets", "s", """Secrets with an end: time left, and how many requests each proved in the last day.
                  Little time and many matches: finish the rotation at the provider, or move `until`.""",
                  q("max by (endpoint, secret) (hookgate_secret_expires_timestamp_seconds{@n@}) - time()", "left",
                    table=True),
                  q("""sum by (endpoint, secret) (increase(hookgate_secret_matches_total{@n@}[1d]))
                       and on (endpoint, secret) hookgate_secret_expires_timestamp_seconds{@n@}""", "matches",
                    table=True),
                  names={"Value #A": "time left", "Value #B": "matches in a day"}, width=8,
                  overrides=[{"matcher": {"id": "byName", "options": "matches in a day"},
                              "properties": [{"id": "unit", "value": "short"}, {"id": "decimals", "value": 0}]}],
                  runbook="secret-rotation"),
            number("Last verified", "s", """Time since the last genuine request of each endpoint, here or at another replica.
                   Compare with what is usual for it; None means that none ever came.""",
                   q("time() - max by (endpoint) (hookgate_last_verified_timestamp_seconds{@n@})", "{{endpoint}}"),
                   width=8, height=8, runbook="silence"),
        ]),
        ("Rhythm", [
            graph("This hour and the usual one", "short", """Events of the last hour, and the smaller of the same hour one and
                  two weeks ago (dashed; needs that much history). Zero under a dashed line of ten or more raises
                  HookgateQuieterThanUsual.""",
                  q("sum by (endpoint) (endpoint:hookgate_events:increase1h{@re@})", "{{endpoint}}"),
                  q("sum by (endpoint) (endpoint:hookgate_events:usual1h{@re@})", "{{endpoint}} usual"),
                  dashed="/ usual$/", runbook="silence"),
            graph("Duplicate rate", "percentunit", """Known events among the verified ones. High right after a deploy or an
                  outage is the provider catching up; high for hours means that it does not hear our acknowledgements.""",
                  q("""sum by (endpoint) (rate(hookgate_events_total{@e@, outcome="duplicate"}[$__rate_interval]))
                       / (sum by (endpoint) (rate(hookgate_events_total{@e@, outcome!="conflict"}[$__rate_interval])) > 0)""",
                    "{{endpoint}}"), runbook="duplicates"),
            graph("Handshakes and conflicts", "short", """Per hour. Handshakes come when a webhook is registered or checked.
                  A conflict is a known id with another body: the first is kept, compare it with the one in quarantine.""",
                  q('sum by (endpoint) (increase(hookgate_requests_total{@e@, outcome="handshake"}[1h]))',
                    "{{endpoint}} handshakes"),
                  q('sum by (endpoint) (increase(hookgate_events_total{@e@, outcome="conflict"}[1h]))',
                    "{{endpoint}} conflicts"), runbook="conflict"),
        ]),
        ("Time", [
            heatmap("Reply time", "s", """How replies spread. Two bands are often hits and misses of a slow handler; a band
                    that creeps up to the provider's limit is the time to change to `async`.""",
                    q("sum by (le) (increase(hookgate_request_duration_seconds_bucket{@e@}[$__rate_interval]))", "{{le}}"),
                    runbook="reply-time"),
            graph("Late acknowledgements", "short", """Acknowledgements after the provider's limit, per hour. It sends those
                  again, although we keep them.""",
                  q("sum by (endpoint) (increase(hookgate_late_replies_total{@e@}[1h]))", "{{endpoint}}"),
                  runbook="reply-time"),
            graph("Lag from reception to commit", "s", """p50 and p99 until the work was committed, retries included. Far
                  above the reply time in `async` mode: workers are behind, or events are retried.""",
                  q("""histogram_quantile(0.5, sum by (endpoint, le)
                       (rate(hookgate_event_lag_seconds_bucket{@e@}[$__rate_interval])))""", "{{endpoint}} p50"),
                  q("""histogram_quantile(0.99, sum by (endpoint, le)
                       (rate(hookgate_event_lag_seconds_bucket{@e@}[$__rate_interval])))""", "{{endpoint}} p99"),
                  runbook="backlog"),
        ]),
        ("Work", [
            graph("Handler runs", "ops", """Runs by handler and outcome. `failed` is tried again, `permanent` needs review at
                  once, `flagged` is done with a remark, `superseded` was out of date, `ignored` found nothing to do.""",
                  q("sum by (handler, outcome) (rate(hookgate_process_attempts_total{@e@}[$__rate_interval])) > 0",
                    "{{handler}} {{outcome}}"), stacked=True, runbook="handler-failing"),
            graph("Events waiting", "short", """Backlog of the endpoint. It should return to zero after each wave.""",
                  q("max by (endpoint) (hookgate_inbox_backlog{@e@})", "{{endpoint}}"), runbook="backlog"),
            graph("Age of the oldest event", "s", """How long the oldest event has waited. See `hookgate backlog`, and
                  last_error of the row, if it climbs.""",
                  q("max by (endpoint) (hookgate_inbox_oldest_seconds{@e@})", "{{endpoint}}"), limit=300,
                  runbook="backlog"),
        ]),
    ],
)
