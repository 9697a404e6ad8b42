-- One event; a batch is many in one transaction. There is one writer, so that the next number is free. A key that is
-- there is left out of the answer.
INSERT INTO webhook_inbox (provider, endpoint, event_id, seq, event_type, body, body_sha256, content_type, headers,
                           request_id, item_index, account, ordering_key, trace_context, occurred_at, ordered, version)
VALUES ($1, $2, $3, (SELECT coalesce(max(seq), 0) + 1 FROM webhook_inbox), $4, $5, $6, $7, $8,
        $9, $10, $11, $12, $13, $14, $15, $16)
ON CONFLICT (provider, endpoint, event_id) DO NOTHING
RETURNING received_at
