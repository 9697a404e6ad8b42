-- The inbox: one row for each event, kept for as long as a copy of it may come again.
-- Times are UTC text of one form, 2026-01-31T12:34:56.789Z, so that they sort as times.

CREATE TABLE webhook_inbox (
    provider       TEXT NOT NULL CHECK (length(CAST(provider AS BLOB)) BETWEEN 1 AND 128),
    endpoint       TEXT NOT NULL CHECK (length(CAST(endpoint AS BLOB)) BETWEEN 1 AND 128),
    -- PostgreSQL takes no NUL in a text; neither do we.
    event_id       TEXT NOT NULL CHECK (length(CAST(event_id AS BLOB)) BETWEEN 1 AND 1024
                                        AND instr(CAST(event_id AS BLOB), x'00') = 0),
    -- The order of arrival.
    seq            INTEGER NOT NULL UNIQUE,
    event_type     TEXT NOT NULL CHECK (instr(CAST(event_type AS BLOB), x'00') = 0),
    -- The event's own bytes as they came; emptied by retention.
    body           BLOB NOT NULL,
    body_sha256    BLOB NOT NULL CHECK (length(body_sha256) = 32),
    content_type   TEXT,
    -- JSON: [["name","value"],…]; a value that is not UTF-8 is {"base64":"…"}.
    headers        TEXT NOT NULL,
    request_id     TEXT NOT NULL CHECK (length(request_id) = 36),
    item_index     INTEGER NOT NULL DEFAULT 0 CHECK (item_index >= 0),
    account        TEXT CHECK (instr(CAST(account AS BLOB), x'00') = 0),
    ordering_key   TEXT CHECK (instr(CAST(ordering_key AS BLOB), x'00') = 0),
    trace_context  TEXT,
    occurred_at    TEXT,
    received_at    TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    -- When a try is due. Indexed, so only a failure moves it; claims write lease_until, which no index holds.
    available_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    lease_until    TEXT,
    lease_epoch    INTEGER NOT NULL DEFAULT 0 CHECK (lease_epoch >= 0),
    attempts       INTEGER NOT NULL DEFAULT 0,
    crash_attempts INTEGER NOT NULL DEFAULT 0,
    last_error     TEXT,
    processed_at   TEXT,
    outcome        TEXT CHECK (outcome IN ('processed', 'ignored', 'flagged', 'superseded')),
    review_at      TEXT,
    review_reason  TEXT,
    PRIMARY KEY (provider, endpoint, event_id),
    CONSTRAINT webhook_inbox_attempts CHECK (crash_attempts BETWEEN 0 AND attempts),
    CONSTRAINT webhook_inbox_done_has_outcome CHECK ((processed_at IS NULL) = (outcome IS NULL)),
    CONSTRAINT webhook_inbox_review_has_reason CHECK ((review_at IS NULL) = (review_reason IS NULL)),
    CONSTRAINT webhook_inbox_lease_is_live
        CHECK (lease_until IS NULL OR (processed_at IS NULL AND review_at IS NULL))
) STRICT;

-- The order of claims, live rows only: done and dead ones must not stand at the front of the scan. With seq, so that
-- rows of one moment need no sorting, however many they are.
CREATE INDEX webhook_inbox_unprocessed ON webhook_inbox (available_at, seq)
    WHERE processed_at IS NULL AND review_at IS NULL;
-- Backlog and its age by endpoint, from the index alone. The last condition holds for every row, and is there so that
-- this index fits only statements that repeat it: no claim is ever planned over it.
CREATE INDEX webhook_inbox_backlog ON webhook_inbox (provider, endpoint, received_at)
    WHERE processed_at IS NULL AND review_at IS NULL AND provider <> '';
CREATE INDEX webhook_inbox_review ON webhook_inbox (provider, endpoint, review_at)
    WHERE review_at IS NOT NULL;
CREATE INDEX webhook_inbox_received ON webhook_inbox (received_at);

CREATE VIEW webhook_inbox_events AS
SELECT provider, endpoint, event_id, seq, event_type, body, body_sha256, content_type, headers, request_id,
       item_index, account, ordering_key, trace_context, occurred_at, received_at, available_at, lease_until,
       lease_epoch, attempts, crash_attempts, last_error, processed_at, outcome, review_at, review_reason,
       -- A body as JSON, NULL where it is none (also where it was pruned).
       CASE WHEN instr(body, x'00') = 0 AND json_valid(CAST(body AS TEXT)) THEN CAST(body AS TEXT) END AS payload
FROM webhook_inbox;

-- Genuine requests that cannot become an event, or that contradict one: kept, so that nothing genuine vanishes.
CREATE TABLE quarantine (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    provider    TEXT NOT NULL,
    endpoint    TEXT NOT NULL,
    reason      TEXT NOT NULL,
    hint        TEXT NOT NULL,
    event_id    TEXT,
    headers     TEXT NOT NULL,
    body        BLOB NOT NULL,
    body_sha256 BLOB NOT NULL CHECK (length(body_sha256) = 32),
    verified    INTEGER NOT NULL CHECK (verified IN (0, 1)),
    request_id  TEXT NOT NULL,
    received_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    UNIQUE (endpoint, body_sha256, reason)
) STRICT;

-- Verified events and duplicates by endpoint and hour, for the duplicate rate.
CREATE TABLE webhook_counts (
    endpoint   TEXT NOT NULL,
    hour       TEXT NOT NULL,
    events     INTEGER NOT NULL CHECK (events >= 0),
    duplicates INTEGER NOT NULL CHECK (duplicates BETWEEN 0 AND events),
    counted_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (endpoint, hour)
) STRICT;
