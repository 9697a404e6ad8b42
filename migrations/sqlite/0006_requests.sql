-- The requests that held a batch, once, as they came: an event of it has only its own bytes. Gone with the payload of
-- the last of its events.
CREATE TABLE webhook_requests (
    -- webhook_inbox.request_id of its events.
    id          TEXT PRIMARY KEY CHECK (length(id) = 36),
    endpoint    TEXT NOT NULL,
    body        BLOB NOT NULL,
    -- As in webhook_inbox.
    headers     TEXT NOT NULL,
    received_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

-- The events of a batch; single ones, which have the index 0, are not in it.
CREATE INDEX webhook_inbox_request ON webhook_inbox (request_id) WHERE item_index > 0;
