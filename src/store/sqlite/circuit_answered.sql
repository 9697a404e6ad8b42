-- The destination $1 has answered.
DELETE FROM circuits WHERE destination = $1 RETURNING open_until IS NOT NULL AS was_open
