-- Those of which no event has its payload any more. They are locked, so that of two gateways that empty the last two
-- events of one request the later one sees what the other did.
DELETE FROM webhook_requests r
WHERE r.id = ANY ($1::text[]::uuid[])
  AND NOT EXISTS (
      SELECT FROM webhook_inbox i
      WHERE i.request_id = r.id AND i.item_index > 0 AND octet_length(i.body) > 0
  )
