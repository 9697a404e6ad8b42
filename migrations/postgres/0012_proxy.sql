-- How the last exchange of an event with the destination of its proxy endpoint ended, and what it answered. While one
-- is under way, or when its end was never recorded, the event's row says so: no worker ever finds it due
-- (available_at is 9999-12-31), and its lease ends with the exchange.
CREATE TABLE proxy_answers (
    provider    text COLLATE "C" NOT NULL,
    endpoint    text COLLATE "C" NOT NULL,
    event_id    text COLLATE "C" NOT NULL,
    destination text COLLATE "C" NOT NULL,
    -- webhook-id: the same over all attempts.
    message_id  text NOT NULL,
    -- webhook_inbox.attempts of the exchange: an older one says nothing of what came of the event since.
    attempt     integer NOT NULL CHECK (attempt > 0),
    outcome     text NOT NULL CHECK (outcome IN ('succeeded', 'failed', 'rejected')),
    -- Whether the destination certainly has not taken the event, so that a copy of it is sent.
    repeatable  boolean NOT NULL,
    -- The HTTP status, headers and body, if there was an answer.
    status      integer,
    headers     text,
    body        bytea,
    -- How long the body was; only the first 64 KiB are kept.
    body_bytes  bigint,
    -- A code such as status.503 or timeout; never a message.
    error       text,
    duration_ms bigint NOT NULL CHECK (duration_ms >= 0),
    ended_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (provider, endpoint, event_id),
    CONSTRAINT proxy_answers_answer_is_whole
        CHECK ((status IS NULL) = (headers IS NULL) AND (status IS NULL) = (body IS NULL)
               AND (status IS NULL) = (body_bytes IS NULL)),
    CONSTRAINT proxy_answers_taken_is_final CHECK (NOT (repeatable AND outcome = 'succeeded'))
);
