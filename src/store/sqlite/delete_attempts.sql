-- Deletes those of the $2 oldest attempts that are older than $1 seconds: they are numbered in the order of time.
DELETE FROM delivery_attempts
WHERE id IN (SELECT id FROM delivery_attempts ORDER BY id LIMIT $2)
  AND attempted_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('-%.3f seconds', $1))
