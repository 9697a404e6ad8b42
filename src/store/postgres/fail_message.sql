-- $4 seconds until the next attempt, or $5 why a person must look.
UPDATE outbox
SET lease_until = NULL, last_error = $3,
    available_at = CASE WHEN $4::float8 IS NULL THEN available_at ELSE now() + make_interval(secs => $4) END,
    review_at = CASE WHEN $5::text IS NOT NULL THEN now() END, review_reason = $5
WHERE id = $1 AND lease_epoch = $2 AND published_at IS NULL AND review_at IS NULL
