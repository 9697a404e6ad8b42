INSERT INTO pauses (kind, name, who, reason)
VALUES ($1, $2, $3, $4)
ON CONFLICT (kind, name) DO NOTHING
