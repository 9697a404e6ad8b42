-- Claims $1 replays of the endpoints $3 (JSON) that are due, for $2 seconds. An expired lease that is taken over ended
-- with its process.
WITH due AS MATERIALIZED (
    SELECT id, crash_attempts + (lease_until IS NOT NULL)::int AS crashes
    FROM replays
    WHERE finished_at IS NULL AND endpoint IN (SELECT jsonb_array_elements_text($3::text::jsonb))
      AND available_at <= now() AND (lease_until IS NULL OR lease_until < now())
    ORDER BY available_at, id
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
UPDATE replays r
SET lease_until = now() + make_interval(secs => $2), lease_epoch = r.lease_epoch + 1, crash_attempts = due.crashes
FROM due
WHERE r.id = due.id
RETURNING r.id, r.endpoint, r.filter, r.route, r.new_ids, r.ordered_at, r.cursor_at, r.cursor_seq, r.tries,
          r.crash_attempts, r.lease_epoch
