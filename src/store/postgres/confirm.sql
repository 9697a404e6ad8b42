-- One call at a time for one confirmation: a copy of the request finds the row that waits.
INSERT INTO outbox (aggregate_type, aggregate_id, event_type, payload, destination, message_id,
                    provider, endpoint, event_id, received_at)
SELECT 'webhook_confirmation', $3, 'confirmation', $5::jsonb, $4, $3, $1, $2, $3, now()
WHERE NOT EXISTS (
    SELECT 1 FROM outbox
    WHERE destination = $4 AND published_at IS NULL AND review_at IS NULL AND message_id = $3
)
