SELECT id
FROM webhook_requests
WHERE id = $1
