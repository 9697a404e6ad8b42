-- The re-check; the transaction is the only writer.
SELECT event_type, occurred_at, received_at, account, ordering_key, version, content_type, headers, body, trace_context
FROM webhook_inbox
WHERE provider = $1 AND endpoint = $2 AND event_id = $3
  AND lease_epoch = $4 AND processed_at IS NULL AND review_at IS NULL
