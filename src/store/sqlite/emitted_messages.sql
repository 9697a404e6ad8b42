SELECT id, route, aggregate_type, aggregate_id, event_type
FROM outbox
WHERE id > $1 AND provider = $2 AND endpoint = $3 AND event_id = $4 AND destination IS NULL
ORDER BY id
