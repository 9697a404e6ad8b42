-- Says why a request could not be released.
UPDATE quarantine
SET checked_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), checked_reason = $2
WHERE id = $1 AND released_at IS NULL
