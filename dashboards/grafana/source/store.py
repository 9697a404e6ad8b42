"""The ground: database, workers, process."""

from model import board, graph, number, table
from model import query as q

BOARD = board(
    "hookgate-store",
    "hookgate / Store and process",
    "The database as the gateway sees it, the workers, and the processes themselves.",
    ["job", "instance"],
    [
        ("Now", [
            number("Database answers", "bool_yes_no", """Whether the database answered the last question, by replica. No:
                   every request is answered 503 and sent again.""",
                   q("min by (instance) (hookgate_store_up{@i@})", "{{instance}}"), low_is_bad=True, good=1, bad=0.5,
                   width=6, runbook="store-down"),
            number("Durability degraded", "bool_yes_no", """Yes: fsync, full_page_writes or synchronous_commit is off, and a
                   crash of the database's machine can take back acknowledged events.""",
                   q("max(hookgate_durability_degraded{@i@})", "degraded"), bad=1, width=6, runbook="durability"),
            number("Replicas", "none", """Gateways that Prometheus sees. Fewer than you run: look for the missing one.""",
                   q("count(hookgate_build_info{@i@})", "replicas"), width=6, runbook="down"),
            table("Versions", "none", """What runs where. Two versions are normal only during a roll-out.""",
                  q("max by (instance, version) (hookgate_build_info{@i@})", "version", table=True), hide=["Value"],
                  width=6, height=5),
        ]),
        ("Database", [
            graph("Connections", "short", """Connections of each process: busy at work, idle in the pool. Busy at
                  database.max_connections for minutes: the database is slow, or the pool too small.""",
                  q("sum by (instance, state) (hookgate_store_connections{@i@})", "{{instance}} {{state}}"),
                  runbook="store-slow"),
            graph("Wait for a transaction", "s", """p50 and p99 of how long work waited for a connection and an open
                  transaction. Over a second: see Connections beside, then the database's own load.""",
                  q("""histogram_quantile(0.5, sum by (instance, le)
                       (rate(hookgate_store_wait_seconds_bucket{@i@}[$__rate_interval])))""", "{{instance}} p50"),
                  q("""histogram_quantile(0.99, sum by (instance, le)
                       (rate(hookgate_store_wait_seconds_bucket{@i@}[$__rate_interval])))""", "{{instance}} p99"),
                  runbook="store-slow"),
            graph("Clock skew", "s", """The database's clock less the gateway's. Beyond a few seconds repair time
                  synchronisation: signatures are judged by the gateway's clock.""",
                  q("max by (instance) (hookgate_clock_skew_seconds{@i@})", "{{instance}}"), least=None,
                  runbook="clock-skew"),
        ]),
        ("Workers", [
            graph("Workers", "short", """Loops that run, by replica and queue. 0: that replica accepts and does not work; if all
                  are 0, the backlog grows. Restart it and read its log before it.""",
                  q("sum by (instance, queue) (hookgate_workers_alive{@i@})", "{{instance}} {{queue}}"),
                  runbook="workers"),
            graph("Leases lost", "short", """Settlements per hour that came too late: another worker had taken over. Many:
                  work outlasts its lease, or the process is paused (swap, CPU limits).""",
                  q("sum by (queue) (increase(hookgate_leases_lost_total{@i@}[1h]))", "{{queue}}"), runbook="workers"),
            graph("Paused by operators", "short", """Endpoints, handlers and destinations that somebody holds back: their
                  work waits and the backlog grows. `hookgate pauses` says since when, by whom and why.""",
                  q("max by (kind, name) (hookgate_paused{@i@})", "{{kind}} {{name}}")),
            graph("Retention", "short", """Rows deleted and payloads emptied per hour. Zero for days on a busy gateway: the
                  table only grows; run `hookgate prune` by hand and see what it says.""",
                  q("sum by (table) (increase(hookgate_pruned_total{@i@}[1h]))", "{{table}}"), runbook="store-slow"),
        ]),
        ("Process", [
            graph("CPU", "percentunit", """1 is one core. At the container's limit replies become slow: raise it, or add a
                  replica.""",
                  q("sum by (instance) (rate(process_cpu_seconds_total{@i@}[$__rate_interval]))", "{{instance}}")),
            graph("Memory", "bytes", """Resident memory. It follows the requests in flight and is bounded; a line that only
                  climbs for days is a fault of ours: report it with this graph.""",
                  q("max by (instance) (process_resident_memory_bytes{@i@})", "{{instance}}")),
            graph("File descriptors", "short", """Open, and the limit (dashed). Near it no connection is accepted: raise
                  `LimitNOFILE`, or find who keeps connections open.""",
                  q("max by (instance) (process_open_fds{@i@})", "{{instance}}"),
                  q("max by (instance) (process_max_fds{@i@})", "{{instance}} limit"), dashed="/ limit$/",
                  runbook="down"),
            graph("Threads", "short", """Threads of each process; constant but for blocking work. Steady growth is a fault of
                  ours: report it.""",
                  q("max by (instance) (process_threads{@i@})", "{{instance}}")),
            graph("Up since", "s", """Time since each process started. Saw-teeth that nobody deployed are crashes: see its
                  last log lines.""",
                  q("time() - max by (instance) (process_start_time_seconds{@i@})", "{{instance}}"), runbook="down"),
            graph("Requests to no endpoint", "reqps", """not_found: a path that no endpoint has, mostly scanners; many from one
                  provider mean a mistyped URL in its dashboard. panic: a fault of hookgate, answered 500.""",
                  q("sum by (reason) (rate(hookgate_unrouted_requests_total{@i@}[$__rate_interval]))", "{{reason}}"),
                  runbook="panic"),
        ]),
    ],
)
