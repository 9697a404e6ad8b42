-- Quarantine also keeps requests that were rejected: as they came, within bounds, until an operator releases them.
ALTER TABLE quarantine DROP CONSTRAINT quarantine_endpoint_body_sha256_reason_key;
ALTER TABLE quarantine ALTER COLUMN hint DROP NOT NULL;
ALTER TABLE quarantine
    -- NULL: kept before this was written down.
    ADD COLUMN method           text,
    -- Path and query as they came, credentials removed.
    ADD COLUMN url              text,
    -- What was seen and what was expected; `hint` is the likely cause, where one was found.
    ADD COLUMN detail           text NOT NULL DEFAULT '',
    ADD COLUMN peer             text,
    -- The network of the peer, by which strangers are told apart.
    ADD COLUMN peer_net         text COLLATE "C" NOT NULL DEFAULT '',
    -- Whether a listed proxy sent it.
    ADD COLUMN by_proxy         boolean NOT NULL DEFAULT false,
    -- What tells a rejected request from others: a digest of its method, URL and body, and of the headers that prove it
    -- or name its event.
    ADD COLUMN digest           bytea CHECK (octet_length(digest) = 32),
    -- JSON: salted digests of the credentials that were removed, by which a release knows them again.
    ADD COLUMN credentials      text,
    -- What it takes of the endpoint's `max_bytes`.
    ADD COLUMN bytes            bigint NOT NULL DEFAULT 0 CHECK (bytes >= 0),
    ADD COLUMN copies           bigint NOT NULL DEFAULT 1 CHECK (copies > 0),
    ADD COLUMN last_received_at timestamptz NOT NULL DEFAULT now(),
    -- The last try to release it, and why it stays.
    ADD COLUMN checked_at       timestamptz,
    ADD COLUMN checked_reason   text,
    ADD COLUMN released_at      timestamptz,
    ADD COLUMN released_by      text,
    ADD CONSTRAINT quarantine_released_is_whole CHECK ((released_at IS NULL) = (released_by IS NULL));
UPDATE quarantine SET detail = hint, hint = NULL, last_received_at = received_at;

-- One row for the same genuine bytes under the same id; a row that was released is past.
CREATE UNIQUE INDEX quarantine_verified ON quarantine (endpoint, body_sha256, reason, coalesce(event_id, ''))
    WHERE verified AND released_at IS NULL;
-- One row for the same rejected request from one network: a stranger's copy never stands in the place of another's.
CREATE UNIQUE INDEX quarantine_rejected ON quarantine (endpoint, digest, reason, peer_net)
    WHERE NOT verified AND released_at IS NULL;
-- The bounds, from the index alone.
CREATE INDEX quarantine_bounds ON quarantine (endpoint, verified, reason, peer_net, bytes);
CREATE INDEX quarantine_received ON quarantine (received_at);

-- When each signing secret of an endpoint last made a signature fit. The secret is known by a fingerprint, so that a new
-- order in the configuration mixes nothing up.
CREATE TABLE secret_matches (
    endpoint    text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    -- Since when a gateway has watched it.
    since       timestamptz NOT NULL DEFAULT now(),
    matched_at  timestamptz,
    matches     bigint NOT NULL DEFAULT 0 CHECK (matches >= 0),
    PRIMARY KEY (endpoint, fingerprint)
) WITH (fillfactor = 70);

-- What retention walks. Attempts have no index of their own: they are written in the order of time.
CREATE INDEX outbox_published ON outbox (published_at)
    WHERE published_at IS NOT NULL AND review_at IS NULL AND destination IS NOT NULL;
CREATE INDEX outbox_relayed ON outbox (created_at) WHERE destination IS NULL;
CREATE INDEX replays_finished ON replays (finished_at) WHERE finished_at IS NOT NULL;
