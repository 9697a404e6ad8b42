-- Quarantine also keeps requests that were rejected: as they came, within bounds, until an operator releases them.
CREATE TABLE quarantine_new (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    provider         TEXT NOT NULL,
    endpoint         TEXT NOT NULL,
    reason           TEXT NOT NULL,
    hint             TEXT,
    event_id         TEXT,
    headers          TEXT NOT NULL,
    body             BLOB NOT NULL,
    body_sha256      BLOB NOT NULL CHECK (length(body_sha256) = 32),
    verified         INTEGER NOT NULL CHECK (verified IN (0, 1)),
    request_id       TEXT NOT NULL,
    received_at      TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    -- NULL: kept before this was written down.
    method           TEXT,
    -- Path and query as they came, credentials removed.
    url              TEXT,
    -- What was seen and what was expected; `hint` is the likely cause, where one was found.
    detail           TEXT NOT NULL DEFAULT '',
    peer             TEXT,
    -- The network of the peer, by which strangers are told apart.
    peer_net         TEXT NOT NULL DEFAULT '',
    -- Whether a listed proxy sent it.
    by_proxy         INTEGER NOT NULL DEFAULT 0 CHECK (by_proxy IN (0, 1)),
    -- What tells a rejected request from others: a digest of its method, URL and body, and of the headers that prove it
    -- or name its event.
    digest           BLOB CHECK (length(digest) = 32),
    -- JSON: salted digests of the credentials that were removed, by which a release knows them again.
    credentials      TEXT,
    -- What it takes of the endpoint's `max_bytes`.
    bytes            INTEGER NOT NULL DEFAULT 0 CHECK (bytes >= 0),
    copies           INTEGER NOT NULL DEFAULT 1 CHECK (copies > 0),
    last_received_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    -- The last try to release it, and why it stays.
    checked_at       TEXT,
    checked_reason   TEXT,
    released_at      TEXT,
    released_by      TEXT,
    CONSTRAINT quarantine_released_is_whole CHECK ((released_at IS NULL) = (released_by IS NULL))
) STRICT;
INSERT INTO quarantine_new (id, provider, endpoint, reason, event_id, headers, body, body_sha256, verified, request_id,
                            received_at, detail, last_received_at)
SELECT id, provider, endpoint, reason, event_id, headers, body, body_sha256, verified, request_id,
       received_at, hint, received_at
FROM quarantine;
DROP TABLE quarantine;
ALTER TABLE quarantine_new RENAME TO quarantine;

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
    endpoint    TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    -- Since when a gateway has watched it.
    since       TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    matched_at  TEXT,
    matches     INTEGER NOT NULL DEFAULT 0 CHECK (matches >= 0),
    PRIMARY KEY (endpoint, fingerprint)
) STRICT;

-- What retention walks. Attempts have no index of their own: they are written in the order of time.
CREATE INDEX outbox_published ON outbox (published_at)
    WHERE published_at IS NOT NULL AND review_at IS NULL AND destination IS NOT NULL;
CREATE INDEX outbox_relayed ON outbox (created_at) WHERE destination IS NULL;
CREATE INDEX replays_finished ON replays (finished_at) WHERE finished_at IS NOT NULL;
