-- $6 seconds until the next attempt, or $7 why a person must look.
UPDATE webhook_inbox
SET lease_until = NULL, last_error = $5,
    available_at = CASE WHEN $6 IS NULL THEN available_at
                        ELSE strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%.3f seconds', $6)) END,
    review_at = CASE WHEN $7 IS NOT NULL THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END, review_reason = $7
WHERE provider = $1 AND endpoint = $2 AND event_id = $3
  AND lease_epoch = $4 AND processed_at IS NULL AND review_at IS NULL
