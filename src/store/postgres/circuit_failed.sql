-- One more failure of the destination $1, with the code $5. At $2 in a row, or when it was the probe ($6), its circuit
-- opens for $3 seconds, doubled with each opening, at most $4. Failures of what was sent before it opened change nothing.
INSERT INTO circuits AS c (destination, failures, openings, open_until, last_error)
VALUES ($1, 1, ($2::bigint <= 1)::int, CASE WHEN $2 <= 1 THEN now() + make_interval(secs => $3) END, $5)
ON CONFLICT (destination) DO UPDATE
SET failures = c.failures + 1, failed_at = now(), last_error = $5, probe_until = NULL,
    openings = c.openings + (c.open_until IS NOT NULL OR c.failures + 1 >= $2)::int,
    open_until = CASE WHEN c.open_until IS NOT NULL OR c.failures + 1 >= $2
                      THEN now() + make_interval(secs => least($4::float8, $3::float8 * 2 ^ least(c.openings, 30))) END
WHERE c.open_until IS NULL OR ($6 AND c.probe_until IS NOT NULL)
RETURNING extract(epoch FROM open_until - now())::float8 AS seconds
