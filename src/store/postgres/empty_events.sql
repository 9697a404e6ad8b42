-- Empties $2 processed events that are older than $1 seconds, the oldest first. Whoever holds a row keeps it for now.
-- The conditions are those of the index webhook_inbox_unemptied: what is empty is not looked at again.
WITH old AS MATERIALIZED (
    SELECT provider, endpoint, event_id
    FROM webhook_inbox
    WHERE received_at < now() - make_interval(secs => $1)
      AND processed_at IS NOT NULL AND review_at IS NULL AND (octet_length(body) > 0 OR headers <> '[]')
    ORDER BY received_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
UPDATE webhook_inbox i
SET body = '', headers = '[]'
FROM old
WHERE i.provider = old.provider AND i.endpoint = old.endpoint AND i.event_id = old.event_id
-- Its key, and the batch that it came in.
RETURNING i.provider, i.endpoint, i.event_id,
          CASE WHEN i.item_index > 0 THEN i.request_id::text END AS request_id
