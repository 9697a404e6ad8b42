-- A replay of a processed event that a person must look at.
UPDATE webhook_inbox
SET outcome = 'flagged', review_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), review_reason = $4
WHERE provider = $1 AND endpoint = $2 AND event_id = $3 AND processed_at IS NOT NULL
