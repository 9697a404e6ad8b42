-- Waiting and needing review by endpoint. The partial index is walked from endpoint to endpoint; no endpoint is
-- counted beyond $1.
WITH RECURSIVE waiting (provider, endpoint) AS (
    SELECT * FROM (SELECT provider, endpoint FROM webhook_inbox
                   WHERE processed_at IS NULL AND review_at IS NULL AND provider <> ''
                   ORDER BY provider, endpoint LIMIT 1)
    UNION ALL
    SELECT n.provider, n.endpoint
    FROM waiting w
    JOIN webhook_inbox n ON n.rowid = (
        SELECT rowid FROM webhook_inbox
        WHERE processed_at IS NULL AND review_at IS NULL AND provider <> '' AND (provider, endpoint) > (w.provider, w.endpoint)
        ORDER BY provider, endpoint LIMIT 1
    )
), counted AS (
    SELECT provider, endpoint,
           (SELECT count(*) FROM (SELECT 1 FROM webhook_inbox i
                                  WHERE processed_at IS NULL AND review_at IS NULL AND provider <> ''
                                    AND i.provider = w.provider AND i.endpoint = w.endpoint LIMIT $1)) AS backlog,
           (SELECT min(received_at) FROM webhook_inbox i
            WHERE processed_at IS NULL AND review_at IS NULL AND provider <> ''
              AND i.provider = w.provider AND i.endpoint = w.endpoint) AS oldest,
           0 AS needs_review, 0 AS dead
    FROM waiting w
    UNION ALL
    SELECT provider, endpoint, 0, NULL, count(*), count(*) FILTER (WHERE processed_at IS NULL) FROM webhook_inbox
    WHERE review_at IS NOT NULL
    GROUP BY provider, endpoint
)
SELECT provider, endpoint AS name, sum(backlog) AS backlog,
       coalesce(max(0.0, (julianday('now') - julianday(max(oldest))) * 86400.0), 0.0) AS oldest,
       sum(needs_review) AS needs_review, sum(dead) AS dead
FROM counted
GROUP BY provider, endpoint
ORDER BY provider, endpoint
