-- Deletes those of the $2 oldest attempts that are older than $1 seconds: they are numbered in the order of time.
WITH oldest AS MATERIALIZED (
    SELECT id, attempted_at
    FROM delivery_attempts
    ORDER BY id
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
DELETE FROM delivery_attempts a
USING oldest
WHERE a.id = oldest.id AND oldest.attempted_at < now() - make_interval(secs => $1)
