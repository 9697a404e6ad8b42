-- Waiting and needing review by destination, as for the inbox. Rows without destination are no backlog of ours.
WITH RECURSIVE waiting (destination) AS (
    SELECT min(destination) FROM outbox
    WHERE published_at IS NULL AND review_at IS NULL AND destination IS NOT NULL
    UNION ALL
    SELECT (SELECT min(destination) FROM outbox
            WHERE published_at IS NULL AND review_at IS NULL AND destination > w.destination)
    FROM waiting w
    WHERE w.destination IS NOT NULL
), counted AS (
    SELECT destination,
           (SELECT count(*) FROM (SELECT 1 FROM outbox o
                                  WHERE published_at IS NULL AND review_at IS NULL
                                    AND o.destination = w.destination LIMIT $1)) AS backlog,
           (SELECT min(created_at) FROM (SELECT created_at FROM outbox o
                                         WHERE published_at IS NULL AND review_at IS NULL
                                           AND o.destination = w.destination
                                         ORDER BY available_at LIMIT $1)) AS oldest,
           0 AS needs_review
    FROM waiting w
    WHERE destination IS NOT NULL
    UNION ALL
    SELECT destination, 0, NULL, count(*) FROM outbox
    WHERE review_at IS NOT NULL AND destination IS NOT NULL
    GROUP BY destination
)
SELECT '' AS provider, destination AS name, sum(backlog) AS backlog,
       coalesce(max(0.0, (julianday('now') - julianday(max(oldest))) * 86400.0), 0.0) AS oldest,
       sum(needs_review) AS needs_review, sum(needs_review) AS dead
FROM counted
GROUP BY destination
ORDER BY destination
