-- Seconds until a message of the destinations $1 is due: zero or less if one is due now, NULL if none waits. Only
-- while nothing else of its destination is due, the end of a lease counts, and then few rows are looked at.
SELECT extract(epoch FROM min(CASE
           WHEN free.available_at <= now() THEN free.available_at
           ELSE least(free.available_at, (
               SELECT min(lease_until) FROM outbox
               WHERE destination = free.destination AND published_at IS NULL AND review_at IS NULL
                 AND available_at <= now() AND lease_until >= now()))
       END) - now())::float8 AS seconds
FROM (
    SELECT lane.destination, (
        SELECT available_at FROM outbox
        WHERE destination = lane.destination AND published_at IS NULL AND review_at IS NULL
          AND (lease_until IS NULL OR lease_until < now())
        ORDER BY available_at LIMIT 1
    ) AS available_at
    FROM unnest($1::text[]) AS lane (destination)
) free
