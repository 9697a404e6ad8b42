-- One of which no event has its payload any more.
DELETE FROM webhook_requests
WHERE id = $1
  AND NOT EXISTS (
      SELECT 1 FROM webhook_inbox i
      WHERE i.request_id = $1 AND i.item_index > 0 AND length(i.body) > 0
  )
