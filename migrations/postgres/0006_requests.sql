-- The requests that held a batch, once, as they came: an event of it has only its own bytes. Gone with the payload of
-- the last of its events.
CREATE TABLE webhook_requests (
    -- webhook_inbox.request_id of its events.
    id          uuid PRIMARY KEY,
    endpoint    text COLLATE "C" NOT NULL,
    body        bytea NOT NULL,
    -- As in webhook_inbox.
    headers     text NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now()
);

-- The events of a batch; single ones, which have the index 0, are not in it.
CREATE INDEX webhook_inbox_request ON webhook_inbox (request_id) WHERE item_index > 0;

DO $$
BEGIN
    EXECUTE 'ALTER TABLE webhook_requests ALTER COLUMN body SET COMPRESSION lz4';
    EXECUTE 'ALTER TABLE webhook_requests ALTER COLUMN headers SET COMPRESSION lz4';
EXCEPTION WHEN feature_not_supported OR syntax_error THEN
    NULL;
END
$$;
