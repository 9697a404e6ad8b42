-- Deletes $2 published messages that are older than $1 seconds, the oldest first.
DELETE FROM outbox
WHERE id IN (
    SELECT id
    FROM outbox INDEXED BY outbox_published
    WHERE published_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('-%.3f seconds', $1))
      AND published_at IS NOT NULL AND review_at IS NULL AND destination IS NOT NULL
    ORDER BY published_at
    LIMIT $2
)
