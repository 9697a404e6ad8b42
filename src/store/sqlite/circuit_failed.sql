-- One more failure of the destination $1, with the code $5. At $2 in a row, or when it was the probe ($6), its circuit
-- opens for $3 seconds, doubled with each opening, at most $4. Failures of what was sent before it opened change nothing.
INSERT INTO circuits (destination, failures, openings, open_until, last_error)
VALUES ($1, 1, $2 <= 1, CASE WHEN $2 <= 1 THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%.3f seconds', $3)) END, $5)
ON CONFLICT (destination) DO UPDATE
SET failures = failures + 1, failed_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), last_error = $5, probe_until = NULL,
    openings = openings + (open_until IS NOT NULL OR failures + 1 >= $2),
    open_until = CASE WHEN open_until IS NOT NULL OR failures + 1 >= $2
                      THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now',
                                    printf('%.3f seconds', min($4, $3 * (1 << min(openings, 30))))) END
WHERE open_until IS NULL OR ($6 AND probe_until IS NOT NULL)
RETURNING (julianday(open_until) - julianday('now')) * 86400.0 AS seconds
