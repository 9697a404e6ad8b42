UPDATE outbox SET destination = $2, message_id = $3 WHERE id = $1 AND destination IS NULL
