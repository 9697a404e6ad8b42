UPDATE outbox SET lease_until = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%.3f seconds', $3))
WHERE id = $1 AND lease_epoch = $2 AND published_at IS NULL AND review_at IS NULL
