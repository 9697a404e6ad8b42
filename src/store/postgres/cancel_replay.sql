UPDATE replays SET finished_at = now(), outcome = 'cancelled', lease_until = NULL
WHERE id = $1 AND finished_at IS NULL
