-- Deletes $2 messages without destination that are older than $1 seconds, the oldest first, published or not: the
-- gateway does not know what their own relay has done with them.
DELETE FROM outbox
WHERE id IN (
    SELECT id
    FROM outbox INDEXED BY outbox_relayed
    WHERE created_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('-%.3f seconds', $1)) AND destination IS NULL
    ORDER BY created_at
    LIMIT $2
)
RETURNING published_at IS NULL AS unsent
