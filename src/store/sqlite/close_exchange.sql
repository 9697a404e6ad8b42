-- The exchange has ended: done, or $5 why a person must look. Answers the seconds since the event came; no row if the
-- lease has passed.
UPDATE webhook_inbox
SET processed_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),
    outcome = CASE WHEN $5 IS NULL THEN 'processed' ELSE 'flagged' END,
    last_error = $6, lease_until = NULL, available_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),
    review_at = CASE WHEN $5 IS NOT NULL THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END, review_reason = $5
WHERE provider = $1 AND endpoint = $2 AND event_id = $3
  AND lease_epoch = $4 AND processed_at IS NULL AND review_at IS NULL
RETURNING (julianday(processed_at) - julianday(received_at)) * 86400.0 AS lag
