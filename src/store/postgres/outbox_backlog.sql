-- Waiting and needing review by destination, as for the inbox. Rows without destination are no backlog of ours.
WITH RECURSIVE waiting AS (
    (SELECT destination FROM outbox
     WHERE published_at IS NULL AND review_at IS NULL AND destination IS NOT NULL
     ORDER BY destination LIMIT 1)
    UNION ALL
    SELECT n.destination
    FROM waiting w
    CROSS JOIN LATERAL (
        SELECT destination FROM outbox
        WHERE published_at IS NULL AND review_at IS NULL AND destination > w.destination
        ORDER BY destination LIMIT 1
    ) n
), review AS (
    SELECT destination, count(*) AS needs_review FROM outbox
    WHERE review_at IS NOT NULL AND destination IS NOT NULL
    GROUP BY destination
)
SELECT '' AS provider, destination AS name, coalesce(b.backlog, 0) AS backlog,
       coalesce(extract(epoch FROM now() - b.oldest), 0)::float8 AS oldest, coalesce(r.needs_review, 0) AS needs_review,
       coalesce(r.needs_review, 0) AS dead
FROM (
    SELECT w.destination, count(*) AS backlog, min(o.created_at) AS oldest
    FROM waiting w
    CROSS JOIN LATERAL (
        SELECT created_at FROM outbox
        WHERE published_at IS NULL AND review_at IS NULL AND destination = w.destination
        ORDER BY available_at LIMIT $1
    ) o
    GROUP BY w.destination
) b
FULL JOIN review r USING (destination)
ORDER BY destination
