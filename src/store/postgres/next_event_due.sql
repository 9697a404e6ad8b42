-- Seconds until an event of the endpoints $1 is due: zero if one is due now, NULL if none waits. Only while none is due, the end of the
-- first lease counts, and then few rows are looked at.
SELECT CASE WHEN (
           SELECT true FROM webhook_inbox
           WHERE processed_at IS NULL AND review_at IS NULL AND endpoint = ANY($1)
             AND available_at <= now() AND (lease_until IS NULL OR lease_until < now())
           ORDER BY available_at, seq LIMIT 1)
       THEN 0
       ELSE extract(epoch FROM least(
           (SELECT available_at FROM webhook_inbox
            WHERE processed_at IS NULL AND review_at IS NULL AND endpoint = ANY($1) AND available_at > now()
            ORDER BY available_at, seq LIMIT 1),
           (SELECT min(lease_until) FROM webhook_inbox
            WHERE processed_at IS NULL AND review_at IS NULL AND endpoint = ANY($1) AND available_at <= now() AND lease_until >= now())
       ) - now()) END::float8 AS seconds
