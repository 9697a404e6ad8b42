-- Deletes $2 lines that are older than $1 seconds, the oldest first.
DELETE FROM audit_log
WHERE id IN (
    SELECT id
    FROM audit_log INDEXED BY audit_log_at
    WHERE at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('-%.3f seconds', $1))
    ORDER BY at
    LIMIT $2
)
