-- Processed events that still have what retention empties, in the order in which it does so: it never walks over what
-- it has emptied already. A row enters this index when its work is done and leaves it for good when it is emptied.
CREATE INDEX webhook_inbox_unemptied ON webhook_inbox (received_at)
    WHERE processed_at IS NOT NULL AND review_at IS NULL AND (octet_length(body) > 0 OR headers <> '[]');
