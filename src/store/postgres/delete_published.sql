-- Deletes $2 published messages that are older than $1 seconds, the oldest first. Whoever holds a row keeps it for now.
WITH old AS MATERIALIZED (
    SELECT id
    FROM outbox
    WHERE published_at < now() - make_interval(secs => $1)
      AND published_at IS NOT NULL AND review_at IS NULL AND destination IS NOT NULL
    ORDER BY published_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
DELETE FROM outbox o
USING old
WHERE o.id = old.id
