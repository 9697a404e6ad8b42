UPDATE outbox SET lease_until = now() + make_interval(secs => $3)
WHERE id = $1 AND lease_epoch = $2 AND published_at IS NULL AND review_at IS NULL
