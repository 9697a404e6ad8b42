-- One event in its unit of work. A copy that is just being written by another transaction is waited for.
INSERT INTO webhook_inbox (provider, endpoint, event_id, event_type, body, body_sha256, content_type, headers,
                           request_id, item_index, account, ordering_key, trace_context, occurred_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::uuid, $10, $11, $12, $13, $14)
ON CONFLICT (provider, endpoint, event_id) DO NOTHING
RETURNING received_at
