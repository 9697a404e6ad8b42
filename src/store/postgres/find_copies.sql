-- The rows that stood in the way of new events. The body is read only where it differs. (FOR UPDATE is added where the
-- row must be ours: it waits for whoever works on it.)
SELECT i.provider, i.endpoint, i.event_id, i.received_at, i.body_sha256,
       CASE WHEN i.body_sha256 <> k.body_sha256 THEN i.body END AS body,
       CASE WHEN i.processed_at IS NOT NULL THEN 'processed'
            WHEN i.review_at IS NOT NULL THEN 'needs_review'
            WHEN i.lease_until > statement_timestamp() THEN 'leased'
            ELSE 'unprocessed' END AS state
FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) AS k (provider, endpoint, event_id, body_sha256)
JOIN webhook_inbox i USING (provider, endpoint, event_id)
