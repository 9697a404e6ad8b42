-- Deletes $2 replays that ended more than $1 seconds ago and have no records left.
DELETE FROM replays
WHERE id IN (
    SELECT r.id
    FROM replays r INDEXED BY replays_finished
    WHERE r.finished_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('-%.3f seconds', $1)) AND r.finished_at IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM replay_failures f WHERE f.replay_id = r.id)
    ORDER BY r.finished_at
    LIMIT $2
)
