-- Deletes $2 records of replays that ended more than $1 seconds ago.
DELETE FROM replay_failures
WHERE (replay_id, provider, endpoint, event_id) IN (
    SELECT f.replay_id, f.provider, f.endpoint, f.event_id
    FROM replays r INDEXED BY replays_finished
    CROSS JOIN replay_failures f ON f.replay_id = r.id
    WHERE r.finished_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('-%.3f seconds', $1)) AND r.finished_at IS NOT NULL
    ORDER BY r.finished_at
    LIMIT $2
)
