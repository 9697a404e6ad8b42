-- What operators hold back, the order of events that share a key, and the guard against events that come too late.

CREATE TABLE pauses (
    kind      text COLLATE "C" NOT NULL CHECK (kind IN ('endpoint', 'handler', 'destination')),
    name      text COLLATE "C" NOT NULL CHECK (name <> ''),
    paused_at timestamptz NOT NULL DEFAULT now(),
    who       text NOT NULL CHECK (who <> ''),
    reason    text,
    PRIMARY KEY (kind, name)
);

-- Whether the event waits for those of its key that came before; set at its arrival, by the config of that time.
ALTER TABLE webhook_inbox ADD COLUMN ordered boolean NOT NULL DEFAULT false;
-- What the provider calls newer has a greater one; only where the config says where it stands.
ALTER TABLE webhook_inbox ADD COLUMN version bigint;
ALTER TABLE webhook_inbox
    ADD CONSTRAINT webhook_inbox_ordered_has_key CHECK (NOT ordered OR ordering_key IS NOT NULL);

-- By endpoint, so that a claim takes the oldest of each, however many wait at one of them.
DROP INDEX webhook_inbox_unprocessed;
CREATE INDEX webhook_inbox_unprocessed ON webhook_inbox (endpoint, ordered, available_at, seq)
    WHERE processed_at IS NULL AND review_at IS NULL;
-- The first of each key, with one look for each key. Dead ones stand in it too: they may block those behind them.
CREATE INDEX webhook_inbox_ordered ON webhook_inbox (endpoint, ordering_key COLLATE "C", seq)
    WHERE processed_at IS NULL AND ordered;

-- Rows that no worker finds due, since a request works on them itself: found again if it does not come to its end.
CREATE INDEX webhook_inbox_exchanges ON webhook_inbox (available_at, seq)
    WHERE processed_at IS NULL AND review_at IS NULL AND available_at >= '9999-12-31T00:00:00Z';

-- The newest version that was applied, by key.
CREATE TABLE ordering_state (
    endpoint     text COLLATE "C" NOT NULL,
    ordering_key text COLLATE "C" NOT NULL,
    version      bigint NOT NULL,
    applied_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (endpoint, ordering_key)
);
