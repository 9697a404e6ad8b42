-- Ends a turn, or passes events over: behind ($3, $4) with $5 more failures, or else $6 more tries of the same event.
-- $7 seconds until it goes on, $8 seconds that the lease goes on, $9 how it ended, $10 why.
UPDATE replays
SET cursor_at = coalesce($3, cursor_at), cursor_seq = coalesce($4, cursor_seq), failed = failed + $5,
    tries = CASE WHEN $4::bigint IS NULL THEN tries + $6::int ELSE 0 END,
    crash_attempts = CASE WHEN $4::bigint IS NULL THEN crash_attempts ELSE 0 END,
    available_at = CASE WHEN $7::float8 IS NULL THEN available_at ELSE now() + make_interval(secs => $7) END,
    lease_until = CASE WHEN $8::float8 IS NOT NULL AND $9::text IS NULL THEN now() + make_interval(secs => $8) END,
    finished_at = CASE WHEN $9::text IS NOT NULL THEN now() END, outcome = $9, error = $10
WHERE id = $1 AND lease_epoch = $2 AND finished_at IS NULL
