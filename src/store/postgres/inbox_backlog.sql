-- Waiting and needing review by endpoint. The partial indexes are walked from endpoint to endpoint; no endpoint is
-- counted beyond $1.
WITH RECURSIVE waiting AS (
    (SELECT provider, endpoint FROM webhook_inbox
     WHERE processed_at IS NULL AND review_at IS NULL AND provider <> ''
     ORDER BY provider, endpoint LIMIT 1)
    UNION ALL
    SELECT n.provider, n.endpoint
    FROM waiting w
    CROSS JOIN LATERAL (
        SELECT provider, endpoint FROM webhook_inbox
        WHERE processed_at IS NULL AND review_at IS NULL AND provider <> '' AND (provider, endpoint) > (w.provider, w.endpoint)
        ORDER BY provider, endpoint LIMIT 1
    ) n
), review AS (
    SELECT provider, endpoint, count(*) AS needs_review, count(*) FILTER (WHERE processed_at IS NULL) AS dead
    FROM webhook_inbox
    WHERE review_at IS NOT NULL
    GROUP BY provider, endpoint
)
SELECT provider, endpoint AS name, coalesce(b.backlog, 0) AS backlog,
       coalesce(extract(epoch FROM now() - b.oldest), 0)::float8 AS oldest, coalesce(r.needs_review, 0) AS needs_review,
       coalesce(r.dead, 0) AS dead
FROM (
    SELECT w.provider, w.endpoint, count(*) AS backlog, min(i.received_at) AS oldest
    FROM waiting w
    CROSS JOIN LATERAL (
        -- Between a pair and the same pair, instead of equal to it: so only the one index has this order.
        SELECT received_at FROM webhook_inbox
        WHERE processed_at IS NULL AND review_at IS NULL AND provider <> ''
          AND (provider, endpoint) >= (w.provider, w.endpoint) AND (provider, endpoint) <= (w.provider, w.endpoint)
        ORDER BY provider, endpoint, received_at LIMIT $1
    ) i
    GROUP BY w.provider, w.endpoint
) b
FULL JOIN review r USING (provider, endpoint)
ORDER BY provider, endpoint
