-- Marks a message as published, if the claim still stands, and records the attempt in any case. Says whether the
-- destination had failed before.
WITH settled AS (
    UPDATE outbox
    SET published_at = now(), lease_until = NULL, last_error = NULL
    WHERE id = $1 AND lease_epoch = $2 AND published_at IS NULL AND review_at IS NULL
    RETURNING id
)
INSERT INTO delivery_attempts (outbox_id, destination, message_id, attempt, outcome, status, error, duration_ms,
                               lease_lost)
VALUES ($1, $3, $4, $5, $6, $7, $8, $9, NOT EXISTS (SELECT FROM settled))
RETURNING lease_lost, EXISTS (SELECT 1 FROM circuits c WHERE c.destination = $3) AS was_unwell
