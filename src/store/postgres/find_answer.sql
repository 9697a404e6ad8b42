-- What a copy is told: whether a person must still look, and the answer that the destination took the event with, if it
-- is there.
SELECT i.review_at IS NOT NULL AS waits, a.status, a.headers, a.body, a.body_bytes
FROM webhook_inbox i
LEFT JOIN proxy_answers a
    ON a.provider = i.provider AND a.endpoint = i.endpoint AND a.event_id = i.event_id AND a.outcome = 'succeeded'
WHERE i.provider = $1 AND i.endpoint = $2 AND i.event_id = $3
