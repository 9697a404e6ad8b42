-- Takes an event for an exchange with its destination, for $4 seconds: one that is new (or was left by another mode), or
-- one whose last exchange certainly gave the destination nothing and that waits for a person since. No worker finds it
-- due. Who was quicker has changed the row, and then it is none of these.
UPDATE webhook_inbox i
SET lease_until = clock_timestamp() + make_interval(secs => $4), lease_epoch = i.lease_epoch + 1,
    attempts = i.attempts + 1, available_at = '9999-12-31T00:00:00Z',
    processed_at = NULL, outcome = NULL, review_at = NULL, review_reason = NULL
WHERE i.provider = $1 AND i.endpoint = $2 AND i.event_id = $3
  AND (i.processed_at IS NULL AND i.review_at IS NULL AND i.available_at < '9999-12-31T00:00:00Z'
       AND (i.lease_until IS NULL OR i.lease_until <= clock_timestamp())
       OR i.outcome = 'flagged' AND i.review_at IS NOT NULL
       AND EXISTS (SELECT 1 FROM proxy_answers a
                   WHERE a.provider = $1 AND a.endpoint = $2 AND a.event_id = $3
                     AND a.attempt = i.attempts AND a.repeatable))
RETURNING i.lease_epoch, i.attempts, i.received_at
