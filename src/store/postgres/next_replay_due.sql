-- Seconds until a replay of the endpoints $1 (JSON) is due, NULL if none waits.
SELECT extract(epoch FROM min(greatest(available_at, lease_until)) - now())::float8 AS seconds
FROM replays
WHERE finished_at IS NULL AND endpoint IN (SELECT jsonb_array_elements_text($1::text::jsonb))
