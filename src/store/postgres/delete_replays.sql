-- Deletes $2 replays that ended more than $1 seconds ago and have no records left.
WITH old AS MATERIALIZED (
    SELECT r.id
    FROM replays r
    WHERE r.finished_at < now() - make_interval(secs => $1) AND r.finished_at IS NOT NULL
      AND NOT EXISTS (SELECT FROM replay_failures f WHERE f.replay_id = r.id)
    ORDER BY r.finished_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
DELETE FROM replays r
USING old
WHERE r.id = old.id
