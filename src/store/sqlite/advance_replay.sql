-- The last statement of a replayed event's unit of work: it must change exactly one row. The lease goes on for $5
-- seconds. Answers the seconds until the next event may begin.
UPDATE replays
SET cursor_at = $3, cursor_seq = $4, done = done + 1, tries = 0, crash_attempts = 0,
    lease_until = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%.3f seconds', $5)),
    available_at = CASE WHEN rate IS NULL THEN available_at
                        ELSE max(strftime('%Y-%m-%dT%H:%M:%fZ', available_at, printf('%.3f seconds', 1 / rate)),
                                 strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) END
WHERE id = $1 AND lease_epoch = $2 AND finished_at IS NULL
RETURNING max((julianday(available_at) - julianday('now')) * 86400.0, 0.0) AS wait
