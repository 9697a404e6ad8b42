-- The outbox: one row for each message to one destination. A handler may write it with a bare
--   INSERT INTO outbox (aggregate_type, aggregate_id, event_type, payload) VALUES (…)
-- : the event's key, its route and its time are the defaults while the gateway runs the handler. Rows with
-- destination NULL are the operator's own relay's: the gateway never touches them.

CREATE TABLE outbox (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    aggregate_type text NOT NULL CHECK (aggregate_type <> ''),
    aggregate_id   text NOT NULL,
    event_type     text NOT NULL,
    -- A handler's message, or the bytes of a forwarded event.
    payload        jsonb,
    body           bytea,
    created_at     timestamptz NOT NULL DEFAULT now(),
    published_at   timestamptz,
    destination    text COLLATE "C" CHECK (destination <> ''),
    -- webhook-id: the same over all attempts.
    message_id     text,
    available_at   timestamptz NOT NULL DEFAULT now(),
    lease_until    timestamptz,
    lease_epoch    bigint NOT NULL DEFAULT 0 CHECK (lease_epoch >= 0),
    attempts       integer NOT NULL DEFAULT 0,
    crash_attempts integer NOT NULL DEFAULT 0,
    last_error     text,
    review_at      timestamptz,
    review_reason  text,
    -- What a delivery says of the event, so that it can leave even when the inbox row is pruned.
    provider       text DEFAULT nullif(current_setting('hookgate.provider', true), ''),
    endpoint       text DEFAULT nullif(current_setting('hookgate.endpoint', true), ''),
    event_id       text DEFAULT nullif(current_setting('hookgate.event_id', true), ''),
    route          text DEFAULT nullif(current_setting('hookgate.route', true), ''),
    received_at    timestamptz DEFAULT nullif(current_setting('hookgate.received_at', true), '')::timestamptz,
    trace_context  text DEFAULT nullif(current_setting('hookgate.trace_context', true), ''),
    content_type   text,
    headers        text,
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
) WITH (fillfactor = 70);

CREATE INDEX outbox_unpublished ON outbox (destination, available_at, id)
    WHERE published_at IS NULL AND review_at IS NULL AND destination IS NOT NULL;
CREATE INDEX outbox_review ON outbox (destination, review_at) WHERE review_at IS NOT NULL;

-- Each try to deliver a message, also one whose sender had lost its lease.
CREATE TABLE delivery_attempts (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    outbox_id     bigint NOT NULL,
    destination   text COLLATE "C" NOT NULL,
    message_id    text NOT NULL,
    attempt       integer NOT NULL CHECK (attempt > 0),
    outcome       text NOT NULL CHECK (outcome IN ('succeeded', 'failed', 'rejected')),
    -- The HTTP status, if there was an answer.
    status        integer,
    -- A code such as status.503 or timeout; never a message.
    error         text,
    duration_ms   bigint NOT NULL CHECK (duration_ms >= 0),
    lease_lost    boolean NOT NULL,
    attempted_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX delivery_attempts_outbox ON delivery_attempts (outbox_id);

DO $$
BEGIN
    EXECUTE 'ALTER TABLE outbox ALTER COLUMN body SET COMPRESSION lz4';
    EXECUTE 'ALTER TABLE outbox ALTER COLUMN payload SET COMPRESSION lz4';
EXCEPTION WHEN feature_not_supported OR syntax_error THEN
    NULL;
END
$$;
