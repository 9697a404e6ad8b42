-- The same message for a further destination.
INSERT INTO outbox (aggregate_type, aggregate_id, event_type, payload, destination, message_id,
                    provider, endpoint, event_id, route, received_at, trace_context, ordering_key)
SELECT aggregate_type, aggregate_id, event_type, payload, $2, $3,
       provider, endpoint, event_id, route, received_at, trace_context, ordering_key
FROM outbox
WHERE id = $1
