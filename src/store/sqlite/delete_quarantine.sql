-- Deletes $2 requests that came more than $1 seconds ago, the oldest first.
DELETE FROM quarantine
WHERE id IN (
    SELECT id
    FROM quarantine INDEXED BY quarantine_received
    WHERE received_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('-%.3f seconds', $1))
    ORDER BY received_at
    LIMIT $2
)
