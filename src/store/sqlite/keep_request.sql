INSERT INTO webhook_requests (id, endpoint, body, headers)
VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO NOTHING
