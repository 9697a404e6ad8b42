UPDATE webhook_inbox SET lease_until = NULL, attempts = attempts - 1
WHERE provider = $1 AND endpoint = $2 AND event_id = $3
  AND lease_epoch = $4 AND processed_at IS NULL AND review_at IS NULL
