-- Seconds until an event of the endpoints $1 is due: zero if one is due now, NULL if none waits. Only while none is due, the end of the
-- first lease counts, and then few rows are looked at.
SELECT CASE WHEN EXISTS (
           SELECT 1 FROM webhook_inbox INDEXED BY webhook_inbox_unprocessed
           WHERE processed_at IS NULL AND review_at IS NULL AND endpoint IN (SELECT value FROM json_each($1))
             AND available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
             AND (lease_until IS NULL OR lease_until < strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))
       THEN 0.0
       ELSE (SELECT (julianday(min(moment)) - julianday('now')) * 86400.0 FROM (
           SELECT min(available_at) AS moment FROM webhook_inbox INDEXED BY webhook_inbox_unprocessed
           WHERE processed_at IS NULL AND review_at IS NULL AND endpoint IN (SELECT value FROM json_each($1))
             AND available_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
           UNION ALL
           SELECT min(lease_until) FROM webhook_inbox INDEXED BY webhook_inbox_unprocessed
           WHERE processed_at IS NULL AND review_at IS NULL AND endpoint IN (SELECT value FROM json_each($1))
             AND available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
             AND lease_until >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))
       END AS seconds
