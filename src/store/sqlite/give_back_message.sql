UPDATE outbox SET lease_until = NULL, attempts = attempts - 1
WHERE id = $1 AND lease_epoch = $2 AND published_at IS NULL AND review_at IS NULL
