INSERT INTO outbox (aggregate_type, aggregate_id, event_type, payload,
                    provider, endpoint, event_id, route, received_at, trace_context, ordering_key)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, nullif($11, ''))
