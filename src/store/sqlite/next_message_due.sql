-- Seconds until a message of the destinations $1 (a JSON array) is due: zero or less if one is due now, NULL if none
-- waits. Only while nothing else of its destination is due, the end of a lease counts, and then few rows are looked at.
WITH free (destination, available_at) AS MATERIALIZED (
    SELECT lane.value, (
        SELECT available_at FROM outbox
        WHERE destination = lane.value AND published_at IS NULL AND review_at IS NULL
          AND (lease_until IS NULL OR lease_until < strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
        ORDER BY available_at LIMIT 1)
    FROM json_each($1) lane
), next (due) AS (
    SELECT CASE
        WHEN available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') THEN available_at
        ELSE (SELECT min(moment) FROM (
            SELECT free.available_at AS moment
            UNION ALL
            SELECT min(lease_until) FROM outbox
            WHERE destination = free.destination AND published_at IS NULL AND review_at IS NULL
              AND available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
              AND lease_until >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))
    END
    FROM free
)
SELECT (julianday(min(due)) - julianday('now')) * 86400.0 AS seconds FROM next
