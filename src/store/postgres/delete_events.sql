-- Deletes $2 processed events that are older than $1 seconds, the oldest first. Whoever holds a row keeps it for now.
WITH old AS MATERIALIZED (
    SELECT provider, endpoint, event_id
    FROM webhook_inbox
    WHERE received_at < now() - make_interval(secs => $1)
      AND processed_at IS NOT NULL AND review_at IS NULL
    ORDER BY received_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
DELETE FROM webhook_inbox i
USING old
WHERE i.provider = old.provider AND i.endpoint = old.endpoint AND i.event_id = old.event_id
-- Its key, and the batch that it came in.
RETURNING i.provider, i.endpoint, i.event_id,
          CASE WHEN i.item_index > 0 AND octet_length(i.body) > 0 THEN i.request_id::text END AS request_id
