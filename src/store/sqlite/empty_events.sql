-- Empties $2 processed events that are older than $1 seconds, the oldest first. The conditions are those of the index
-- webhook_inbox_unemptied: what is empty is not looked at again.
UPDATE webhook_inbox
SET body = x'', headers = '[]'
WHERE rowid IN (
    SELECT rowid
    FROM webhook_inbox INDEXED BY webhook_inbox_unemptied
    WHERE received_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('-%.3f seconds', $1))
      AND processed_at IS NOT NULL AND review_at IS NULL AND (length(body) > 0 OR headers <> '[]')
    ORDER BY received_at
    LIMIT $2
)
-- Its key, and the batch that it came in.
RETURNING provider, endpoint, event_id,
          CASE WHEN item_index > 0 THEN request_id END AS request_id
