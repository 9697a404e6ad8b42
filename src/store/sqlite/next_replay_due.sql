-- Seconds until a replay of the endpoints $1 (JSON) is due, NULL if none waits.
SELECT (julianday(min(max(available_at, coalesce(lease_until, available_at)))) - julianday('now')) * 86400.0 AS seconds
FROM replays
WHERE finished_at IS NULL AND endpoint IN (SELECT value FROM json_each($1))
