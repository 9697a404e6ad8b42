INSERT INTO replay_failures (replay_id, provider, endpoint, event_id, code)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
