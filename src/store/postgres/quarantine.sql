INSERT INTO quarantine (provider, endpoint, reason, hint, event_id, headers, body, body_sha256, verified, request_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::uuid)
ON CONFLICT (endpoint, body_sha256, reason) DO NOTHING
