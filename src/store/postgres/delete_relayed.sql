-- Deletes $2 messages without destination that are older than $1 seconds, the oldest first, published or not: the
-- gateway does not know what their own relay has done with them.
WITH old AS MATERIALIZED (
    SELECT id
    FROM outbox
    WHERE created_at < now() - make_interval(secs => $1) AND destination IS NULL
    ORDER BY created_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
DELETE FROM outbox o
USING old
WHERE o.id = old.id
RETURNING o.published_at IS NULL AS unsent
