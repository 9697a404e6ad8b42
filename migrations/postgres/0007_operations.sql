-- What operators order: replays of processed events, and the record of who ordered what.

-- One order to work again on events of one endpoint, in the order of their arrival. The gateway that holds the lease
-- works on one event after the other; each event's effects and the step to the next one commit together.
CREATE TABLE replays (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint       text COLLATE "C" NOT NULL,
    -- JSON: which events, as it was asked for.
    filter         text NOT NULL,
    -- NULL: all routes.
    route          text,
    -- Whether deliveries get a webhook-id of this replay's own.
    new_ids        boolean NOT NULL,
    -- Events a second; NULL: as fast as they are done.
    rate           double precision CHECK (rate > 0),
    ordered_by     text NOT NULL,
    ordered_at     timestamptz NOT NULL DEFAULT now(),
    -- How many events there were when it was ordered.
    total          bigint NOT NULL CHECK (total >= 0),
    done           bigint NOT NULL DEFAULT 0 CHECK (done >= 0),
    failed         bigint NOT NULL DEFAULT 0 CHECK (failed >= 0),
    -- The last event that was worked on or passed over.
    cursor_at      timestamptz,
    cursor_seq     bigint,
    -- Tries of the next event that failed, and that ended with the process.
    tries          integer NOT NULL DEFAULT 0,
    crash_attempts integer NOT NULL DEFAULT 0,
    available_at   timestamptz NOT NULL DEFAULT now(),
    lease_until    timestamptz,
    lease_epoch    bigint NOT NULL DEFAULT 0,
    finished_at    timestamptz,
    outcome        text CHECK (outcome IN ('done', 'cancelled', 'failed')),
    error          text,
    CONSTRAINT replays_cursor_is_whole CHECK ((cursor_at IS NULL) = (cursor_seq IS NULL)),
    CONSTRAINT replays_finished_has_outcome CHECK ((finished_at IS NULL) = (outcome IS NULL)),
    CONSTRAINT replays_lease_is_live CHECK (lease_until IS NULL OR finished_at IS NULL)
) WITH (fillfactor = 70);

CREATE INDEX replays_unfinished ON replays (available_at, id) WHERE finished_at IS NULL;

-- Events that a replay could not work on.
CREATE TABLE replay_failures (
    replay_id bigint NOT NULL REFERENCES replays (id) ON DELETE CASCADE,
    provider  text COLLATE "C" NOT NULL,
    endpoint  text COLLATE "C" NOT NULL,
    event_id  text COLLATE "C" NOT NULL,
    -- A code such as payload_gone; never a message.
    code      text NOT NULL,
    failed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (replay_id, provider, endpoint, event_id)
);

-- Who ordered what, and how many rows it touched.
CREATE TABLE audit_log (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at       timestamptz NOT NULL DEFAULT now(),
    who      text NOT NULL CHECK (who <> ''),
    action   text NOT NULL CHECK (action <> ''),
    -- JSON: which rows, as it was asked for.
    filter   text NOT NULL,
    affected bigint NOT NULL DEFAULT 0 CHECK (affected >= 0)
);

CREATE INDEX audit_log_at ON audit_log (at);

-- The messages of one event.
CREATE INDEX outbox_event ON outbox (event_id) WHERE event_id IS NOT NULL;

-- When a message got a new life: its age counts from here.
ALTER TABLE outbox ADD COLUMN redriven_at timestamptz;
