-- Records a failed attempt in any case; if the claim still stands, also $10 seconds until the next attempt, or $11
-- why a person must look.
UPDATE outbox
SET lease_until = NULL, last_error = $8,
    available_at = CASE WHEN $10 IS NULL THEN available_at
                        ELSE strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%.3f seconds', $10)) END,
    review_at = CASE WHEN $11 IS NOT NULL THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END, review_reason = $11
WHERE id = $1 AND lease_epoch = $2 AND published_at IS NULL AND review_at IS NULL;

INSERT INTO delivery_attempts (outbox_id, destination, message_id, attempt, outcome, status, error, duration_ms,
                               lease_lost)
VALUES ($1, $3, $4, $5, $6, $7, $8, $9, changes() = 0)
RETURNING lease_lost;
