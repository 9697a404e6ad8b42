-- Deletes $2 processed events that are older than $1 seconds, the oldest first.
DELETE FROM webhook_inbox
WHERE rowid IN (
    SELECT rowid
    FROM webhook_inbox INDEXED BY webhook_inbox_received
    WHERE received_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('-%.3f seconds', $1))
      AND processed_at IS NOT NULL AND review_at IS NULL
    ORDER BY received_at
    LIMIT $2
)
-- Its key, and the batch that it came in.
RETURNING provider, endpoint, event_id,
          CASE WHEN item_index > 0 AND length(body) > 0 THEN request_id END AS request_id
