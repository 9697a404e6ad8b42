INSERT INTO webhook_requests (id, endpoint, body, headers)
VALUES ($1::text::uuid, $2, $3, $4)
ON CONFLICT (id) DO NOTHING
