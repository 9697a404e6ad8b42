-- The last statement of a replayed event's unit of work: it must change exactly one row. The lease goes on for $5
-- seconds. Answers the seconds until the next event may begin.
UPDATE replays
SET cursor_at = $3, cursor_seq = $4, done = done + 1, tries = 0, crash_attempts = 0,
    lease_until = clock_timestamp() + make_interval(secs => $5),
    available_at = CASE WHEN rate IS NULL THEN available_at
                        ELSE greatest(available_at + make_interval(secs => 1 / rate), clock_timestamp()) END
WHERE id = $1 AND lease_epoch = $2 AND finished_at IS NULL
RETURNING greatest(extract(epoch FROM available_at - clock_timestamp()), 0)::float8 AS wait
