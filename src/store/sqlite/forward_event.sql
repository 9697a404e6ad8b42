INSERT INTO outbox (aggregate_type, aggregate_id, event_type, body, content_type, headers, destination, message_id,
                    provider, endpoint, event_id, route, received_at, trace_context, ordering_key)
VALUES ('webhook_event', $5, $1, $2, $10, $11, $8, $9, $3, $4, $5, $6, $7, $12, nullif($13, ''))
