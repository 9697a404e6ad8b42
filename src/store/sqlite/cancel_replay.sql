UPDATE replays SET finished_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), outcome = 'cancelled', lease_until = NULL
WHERE id = $1 AND finished_at IS NULL
