-- Messages with the same ordering key: what a destination with `ordered = true` keeps in order, and what brokers
-- partition by. The gateway adds the event's own key when a handler has ended.

ALTER TABLE outbox ADD COLUMN ordering_key TEXT;

-- The first message of each key, and messages without key by number. Dead ones stand in it too, for they hold their key
-- back. The condition on id holds for every row, so that this index fits only statements that repeat it: no claim of
-- another destination is ever planned over it.
CREATE INDEX outbox_order ON outbox (destination, ordering_key, id)
    WHERE published_at IS NULL AND destination IS NOT NULL AND (ordering_key IS NOT NULL OR review_at IS NULL)
          AND id > 0;

-- Destinations that have failed since they last answered; one that is well has no row.
CREATE TABLE circuits (
    destination TEXT PRIMARY KEY NOT NULL,
    -- In a row.
    failures    INTEGER NOT NULL CHECK (failures > 0),
    -- How often it opened since then: each time for twice as long.
    openings    INTEGER NOT NULL DEFAULT 0 CHECK (openings >= 0),
    -- NULL: closed. Before this nothing is sent, after it one message, the probe.
    open_until  TEXT,
    -- The probe is on its way until then.
    probe_until TEXT,
    failed_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    last_error  TEXT,
    CONSTRAINT circuits_open_was_opened CHECK ((open_until IS NULL) = (openings = 0)),
    CONSTRAINT circuits_probe_needs_open CHECK (probe_until IS NULL OR open_until IS NOT NULL)
) STRICT;
