-- What operators hold back, the order of events that share a key, and the guard against events that come too late.

CREATE TABLE pauses (
    kind      TEXT NOT NULL CHECK (kind IN ('endpoint', 'handler', 'destination')),
    name      TEXT NOT NULL CHECK (name <> ''),
    paused_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    who       TEXT NOT NULL CHECK (who <> ''),
    reason    TEXT,
    PRIMARY KEY (kind, name)
) STRICT;

-- Whether the event waits for those of its key that came before; set at its arrival, by the config of that time.
ALTER TABLE webhook_inbox ADD COLUMN ordered INTEGER NOT NULL DEFAULT 0
    CONSTRAINT webhook_inbox_ordered_has_key
    CHECK (ordered IN (0, 1) AND (ordered = 0 OR ordering_key IS NOT NULL));
-- What the provider calls newer has a greater one; only where the config says where it stands.
ALTER TABLE webhook_inbox ADD COLUMN version INTEGER;

-- By endpoint, so that a claim takes the oldest of each, however many wait at one of them.
DROP INDEX webhook_inbox_unprocessed;
CREATE INDEX webhook_inbox_unprocessed ON webhook_inbox (endpoint, ordered, available_at, seq)
    WHERE processed_at IS NULL AND review_at IS NULL;
-- The first of each key, with one look for each key. Dead ones stand in it too: they may block those behind them.
CREATE INDEX webhook_inbox_ordered ON webhook_inbox (endpoint, ordering_key, seq)
    WHERE processed_at IS NULL AND ordered = 1;

-- Rows that no worker finds due, since a request works on them itself: found again if it does not come to its end.
CREATE INDEX webhook_inbox_exchanges ON webhook_inbox (available_at, seq)
    WHERE processed_at IS NULL AND review_at IS NULL AND available_at >= '9999-12-31T00:00:00.000Z';

-- The newest version that was applied, by key.
CREATE TABLE ordering_state (
    endpoint     TEXT NOT NULL,
    ordering_key TEXT NOT NULL,
    version      INTEGER NOT NULL,
    applied_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (endpoint, ordering_key)
) STRICT;
