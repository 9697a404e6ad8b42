-- Seconds until an event is due: zero or less if one is due now, NULL if none waits. Only while nothing else is due,
-- the end of the first lease counts, and then few rows are looked at.
WITH free (available_at) AS MATERIALIZED (
    SELECT (SELECT available_at FROM webhook_inbox
            WHERE processed_at IS NULL AND review_at IS NULL
              AND (lease_until IS NULL OR lease_until < strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
            ORDER BY available_at LIMIT 1)
), next (due) AS (
    SELECT CASE
        WHEN available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') THEN available_at
        ELSE (SELECT min(moment) FROM (
            SELECT free.available_at AS moment
            UNION ALL
            SELECT min(lease_until) FROM webhook_inbox
            WHERE processed_at IS NULL AND review_at IS NULL
              AND available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
              AND lease_until >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))
    END
    FROM free
)
SELECT (julianday(due) - julianday('now')) * 86400.0 AS seconds FROM next
