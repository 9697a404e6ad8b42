-- The last statement of a unit of work: it must change exactly one row. Answers the seconds since the event came.
UPDATE webhook_inbox
SET processed_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), outcome = $4, last_error = NULL, lease_until = NULL,
    review_at = CASE WHEN $5 IS NOT NULL THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END, review_reason = $5
WHERE provider = $1 AND endpoint = $2 AND event_id = $3 AND processed_at IS NULL
RETURNING (julianday(processed_at) - julianday(received_at)) * 86400.0 AS lag
