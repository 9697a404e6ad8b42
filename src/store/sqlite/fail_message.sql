-- $4 seconds until the next attempt, or $5 why a person must look.
UPDATE outbox
SET lease_until = NULL, last_error = $3,
    available_at = CASE WHEN $4 IS NULL THEN available_at
                        ELSE strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%.3f seconds', $4)) END,
    review_at = CASE WHEN $5 IS NOT NULL THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END, review_reason = $5
WHERE id = $1 AND lease_epoch = $2 AND published_at IS NULL AND review_at IS NULL
