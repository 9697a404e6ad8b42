-- Claims $1 replays of the endpoints $3 (JSON) that are due, for $2 seconds. An expired lease that is taken over ended
-- with its process.
WITH due AS MATERIALIZED (
    SELECT id, crash_attempts + (lease_until IS NOT NULL) AS crashes
    FROM replays
    WHERE finished_at IS NULL AND endpoint IN (SELECT value FROM json_each($3))
      AND available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
      AND (lease_until IS NULL OR lease_until < strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    ORDER BY available_at, id
    LIMIT $1
)
UPDATE replays AS r
SET lease_until = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%.3f seconds', $2)),
    lease_epoch = r.lease_epoch + 1, crash_attempts = due.crashes
FROM due
WHERE r.id = due.id
RETURNING id, endpoint, filter, route, new_ids, ordered_at, cursor_at, cursor_seq, tries, crash_attempts, lease_epoch
