-- Deletes $2 lines that are older than $1 seconds, the oldest first.
WITH old AS MATERIALIZED (
    SELECT id
    FROM audit_log
    WHERE at < now() - make_interval(secs => $1)
    ORDER BY at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
DELETE FROM audit_log l
USING old
WHERE l.id = old.id
