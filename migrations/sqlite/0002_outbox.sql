-- The outbox: one row for each message to one destination. A handler may write it with a bare
--   INSERT INTO outbox (aggregate_type, aggregate_id, event_type, payload) VALUES (…)
-- : the gateway adds the event's key, its route and its time when the handler has ended. Rows with destination NULL
-- are the operator's own relay's: the gateway never touches them afterwards.

CREATE TABLE outbox (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    aggregate_type TEXT NOT NULL CHECK (aggregate_type <> ''),
    aggregate_id   TEXT NOT NULL,
    event_type     TEXT NOT NULL,
    -- A handler's message, or the bytes of a forwarded event.
    payload        TEXT CHECK (json_valid(payload)),
    body           BLOB,
    created_at     TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    published_at   TEXT,
    destination    TEXT CHECK (destination <> ''),
    -- webhook-id: the same over all attempts.
    message_id     TEXT,
    available_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    lease_until    TEXT,
    lease_epoch    INTEGER NOT NULL DEFAULT 0 CHECK (lease_epoch >= 0),
    attempts       INTEGER NOT NULL DEFAULT 0,
    crash_attempts INTEGER NOT NULL DEFAULT 0,
    last_error     TEXT,
    review_at      TEXT,
    review_reason  TEXT,
    -- What a delivery says of the event, so that it can leave even when the inbox row is pruned.
    provider       TEXT,
    endpoint       TEXT,
    event_id       TEXT,
    route          TEXT,
    received_at    TEXT,
    trace_context  TEXT,
    content_type   TEXT,
    headers        TEXT,
    CONSTRAINT outbox_one_content CHECK ((payload IS NULL) <> (body IS NULL)),
    CONSTRAINT outbox_body_is_an_event CHECK (body IS NULL OR aggregate_type = 'webhook_event'),
    CONSTRAINT outbox_key_is_whole
        CHECK ((provider IS NULL) = (endpoint IS NULL) AND (provider IS NULL) = (event_id IS NULL)),
    CONSTRAINT outbox_addressed_is_complete
        CHECK (destination IS NULL
               OR (message_id IS NOT NULL AND provider IS NOT NULL AND received_at IS NOT NULL)),
    CONSTRAINT outbox_attempts CHECK (crash_attempts BETWEEN 0 AND attempts),
    CONSTRAINT outbox_review_has_reason CHECK ((review_at IS NULL) = (review_reason IS NULL)),
    CONSTRAINT outbox_lease_is_live CHECK (lease_until IS NULL OR (published_at IS NULL AND review_at IS NULL))
) STRICT;

CREATE INDEX outbox_unpublished ON outbox (destination, available_at, id)
    WHERE published_at IS NULL AND review_at IS NULL AND destination IS NOT NULL;
CREATE INDEX outbox_review ON outbox (destination, review_at) WHERE review_at IS NOT NULL;

-- Each try to deliver a message, also one whose sender had lost its lease.
CREATE TABLE delivery_attempts (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    outbox_id     INTEGER NOT NULL,
    destination   TEXT NOT NULL,
    message_id    TEXT NOT NULL,
    attempt       INTEGER NOT NULL CHECK (attempt > 0),
    outcome       TEXT NOT NULL CHECK (outcome IN ('succeeded', 'failed', 'rejected')),
    -- The HTTP status, if there was an answer.
    status        INTEGER,
    -- A code such as status.503 or timeout; never a message.
    error         TEXT,
    duration_ms   INTEGER NOT NULL CHECK (duration_ms >= 0),
    lease_lost    INTEGER NOT NULL CHECK (lease_lost IN (0, 1)),
    attempted_at  TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE INDEX delivery_attempts_outbox ON delivery_attempts (outbox_id);
