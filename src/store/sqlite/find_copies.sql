-- The row that stood in the way of one event. The body is read only where it differs.
SELECT received_at, body_sha256, CASE WHEN body_sha256 <> $4 THEN body END AS body,
       CASE WHEN processed_at IS NOT NULL THEN 'processed'
            WHEN review_at IS NOT NULL THEN 'needs_review'
            WHEN lease_until > strftime('%Y-%m-%dT%H:%M:%fZ', 'now') THEN 'leased'
            ELSE 'unprocessed' END AS state
FROM webhook_inbox
WHERE provider = $1 AND endpoint = $2 AND event_id = $3
