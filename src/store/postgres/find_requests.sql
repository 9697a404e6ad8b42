SELECT id::text
FROM webhook_requests
WHERE id = ANY ($1::text[]::uuid[])
ORDER BY id
