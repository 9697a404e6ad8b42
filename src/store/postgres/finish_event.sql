-- The last statement of a unit of work: it must change exactly one row. Answers the seconds since the event came.
UPDATE webhook_inbox
SET processed_at = clock_timestamp(), outcome = $4, last_error = NULL, lease_until = NULL,
    review_at = CASE WHEN $5::text IS NOT NULL THEN clock_timestamp() END, review_reason = $5
WHERE provider = $1 AND endpoint = $2 AND event_id = $3 AND processed_at IS NULL
RETURNING extract(epoch FROM processed_at - received_at)::float8 AS lag
