-- Deletes $2 records of replays that ended more than $1 seconds ago.
WITH old AS MATERIALIZED (
    SELECT f.replay_id, f.provider, f.endpoint, f.event_id
    FROM replays r
    JOIN replay_failures f ON f.replay_id = r.id
    WHERE r.finished_at < now() - make_interval(secs => $1) AND r.finished_at IS NOT NULL
    ORDER BY r.finished_at
    LIMIT $2
    FOR UPDATE OF f SKIP LOCKED
)
DELETE FROM replay_failures f
USING old
WHERE f.replay_id = old.replay_id AND f.provider = old.provider AND f.endpoint = old.endpoint
  AND f.event_id = old.event_id
