-- Marks a request as released, if nobody has yet.
UPDATE quarantine
SET released_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), released_by = $2, checked_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), checked_reason = NULL
WHERE id = $1 AND released_at IS NULL
