-- What operators order: replays of processed events, and the record of who ordered what.

-- One order to work again on events of one endpoint, in the order of their arrival. The gateway that holds the lease
-- works on one event after the other; each event's effects and the step to the next one commit together.
CREATE TABLE replays (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint       TEXT NOT NULL,
    -- JSON: which events, as it was asked for.
    filter         TEXT NOT NULL CHECK (json_valid(filter)),
    -- NULL: all routes.
    route          TEXT,
    -- Whether deliveries get a webhook-id of this replay's own.
    new_ids        INTEGER NOT NULL CHECK (new_ids IN (0, 1)),
    -- Events a second; NULL: as fast as they are done.
    rate           REAL CHECK (rate > 0),
    ordered_by     TEXT NOT NULL,
    ordered_at     TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    -- How many events there were when it was ordered.
    total          INTEGER NOT NULL CHECK (total >= 0),
    done           INTEGER NOT NULL DEFAULT 0 CHECK (done >= 0),
    failed         INTEGER NOT NULL DEFAULT 0 CHECK (failed >= 0),
    -- The last event that was worked on or passed over.
    cursor_at      TEXT,
    cursor_seq     INTEGER,
    -- Tries of the next event that failed, and that ended with the process.
    tries          INTEGER NOT NULL DEFAULT 0,
    crash_attempts INTEGER NOT NULL DEFAULT 0,
    available_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    lease_until    TEXT,
    lease_epoch    INTEGER NOT NULL DEFAULT 0,
    finished_at    TEXT,
    outcome        TEXT CHECK (outcome IN ('done', 'cancelled', 'failed')),
    error          TEXT,
    CONSTRAINT replays_cursor_is_whole CHECK ((cursor_at IS NULL) = (cursor_seq IS NULL)),
    CONSTRAINT replays_finished_has_outcome CHECK ((finished_at IS NULL) = (outcome IS NULL)),
    CONSTRAINT replays_lease_is_live CHECK (lease_until IS NULL OR finished_at IS NULL)
) STRICT;

CREATE INDEX replays_unfinished ON replays (available_at, id) WHERE finished_at IS NULL;

-- Events that a replay could not work on.
CREATE TABLE replay_failures (
    replay_id INTEGER NOT NULL REFERENCES replays (id) ON DELETE CASCADE,
    provider  TEXT NOT NULL,
    endpoint  TEXT NOT NULL,
    event_id  TEXT NOT NULL,
    -- A code such as payload_gone; never a message.
    code      TEXT NOT NULL,
    failed_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (replay_id, provider, endpoint, event_id)
) STRICT;

-- Who ordered what, and how many rows it touched.
CREATE TABLE audit_log (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    at       TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    who      TEXT NOT NULL CHECK (who <> ''),
    action   TEXT NOT NULL CHECK (action <> ''),
    -- JSON: which rows, as it was asked for.
    filter   TEXT NOT NULL CHECK (json_valid(filter)),
    affected INTEGER NOT NULL DEFAULT 0 CHECK (affected >= 0)
) STRICT;

CREATE INDEX audit_log_at ON audit_log (at);

-- The messages of one event.
CREATE INDEX outbox_event ON outbox (event_id) WHERE event_id IS NOT NULL;

-- When a message got a new life: its age counts from here.
ALTER TABLE outbox ADD COLUMN redriven_at TEXT;
