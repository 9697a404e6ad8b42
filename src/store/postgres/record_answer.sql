-- How the exchange ended. It takes the place of an earlier one's ending.
INSERT INTO proxy_answers (provider, endpoint, event_id, destination, message_id, attempt, outcome, repeatable,
                           status, headers, body, body_bytes, error, duration_ms)
VALUES ($1, $2, $3, $4, $5, $6::bigint::integer, $7, $8, $9::bigint::integer, $10, $11, $12, $13, $14)
ON CONFLICT (provider, endpoint, event_id) DO UPDATE
SET destination = excluded.destination, message_id = excluded.message_id, attempt = excluded.attempt,
    outcome = excluded.outcome, repeatable = excluded.repeatable, status = excluded.status,
    headers = excluded.headers, body = excluded.body, body_bytes = excluded.body_bytes, error = excluded.error,
    duration_ms = excluded.duration_ms, ended_at = excluded.ended_at
