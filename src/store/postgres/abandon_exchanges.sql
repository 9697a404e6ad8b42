-- Exchanges whose end nobody recorded in time, at most $1: what the destination made of the event is unknown, so that
-- nobody sends it again. They have an index of their own.
WITH lost AS MATERIALIZED (
    SELECT provider, endpoint, event_id
    FROM webhook_inbox
    WHERE processed_at IS NULL AND review_at IS NULL AND available_at >= '9999-12-31T00:00:00Z'
      AND lease_until < now()
    ORDER BY available_at, seq
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
UPDATE webhook_inbox i
SET processed_at = now(), outcome = 'flagged', last_error = 'proxy.lost', lease_until = NULL,
    lease_epoch = i.lease_epoch + 1, crash_attempts = i.crash_attempts + 1, available_at = now(),
    review_at = now(), review_reason = 'the end of its exchange with the destination was not recorded'
FROM lost
WHERE i.provider = lost.provider AND i.endpoint = lost.endpoint AND i.event_id = lost.event_id
RETURNING i.provider, i.endpoint, i.event_id
