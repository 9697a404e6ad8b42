-- Seconds until an event is due: zero or less if one is due now, NULL if none waits. Only while nothing else is due,
-- the end of the first lease counts, and then few rows are looked at.
SELECT extract(epoch FROM CASE
           WHEN free.available_at <= now() THEN free.available_at
           ELSE least(free.available_at, (
               SELECT min(lease_until) FROM webhook_inbox
               WHERE processed_at IS NULL AND review_at IS NULL
                 AND available_at <= now() AND lease_until >= now()))
       END - now())::float8 AS seconds
FROM (SELECT (
    SELECT available_at FROM webhook_inbox
    WHERE processed_at IS NULL AND review_at IS NULL AND (lease_until IS NULL OR lease_until < now())
    ORDER BY available_at LIMIT 1
) AS available_at) free
