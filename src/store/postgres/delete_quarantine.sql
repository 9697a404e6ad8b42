-- Deletes $2 requests that came more than $1 seconds ago, the oldest first.
WITH old AS MATERIALIZED (
    SELECT id
    FROM quarantine
    WHERE received_at < now() - make_interval(secs => $1)
    ORDER BY received_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
DELETE FROM quarantine q
USING old
WHERE q.id = old.id
