-- Bounds the handler's statements, and names the event for the defaults of the outbox's columns. Answers the newest
-- message of others, so that those of this unit of work can be told from them.
SELECT coalesce((SELECT max(id) FROM outbox), 0) AS newest,
       set_config('statement_timeout', $1, true),
       set_config('hookgate.provider', $2, true),
       set_config('hookgate.endpoint', $3, true),
       set_config('hookgate.event_id', $4, true),
       set_config('hookgate.received_at', $5, true),
       set_config('hookgate.trace_context', $6, true),
       set_config('hookgate.route', $7, true),
       set_config('hookgate.ordering_key', $8, true)
