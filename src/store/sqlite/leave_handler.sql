RELEASE SAVEPOINT hookgate_handler;

-- What the column defaults do on PostgreSQL: names the event in the messages that the handler has just inserted.
UPDATE outbox
SET provider = $2, endpoint = $3, event_id = $4, received_at = $5, trace_context = $6, route = $7,
    ordering_key = coalesce(ordering_key, nullif($8, ''))
WHERE id > $1 AND provider IS NULL;
