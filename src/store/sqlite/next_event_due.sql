-- Seconds until an event of the endpoints $1 (JSON, as for the claim) is due: zero if one is due now, NULL if none
-- waits. $2 (JSON): which types handlers take there, and how many more each can take. Only while none is due, the end
-- of the first lease counts, and then few rows are looked at.
WITH RECURSIVE held AS MATERIALIZED (
    SELECT t.value ->> 'endpoint' AS endpoint, type.value AS type
    FROM json_each($2) t JOIN json_each(t.value -> 'types') type
    WHERE t.value ->> 'room' = 0
       OR EXISTS (SELECT 1 FROM pauses p WHERE p.kind = 'handler' AND p.name = t.value ->> 'handler')
), lane AS MATERIALIZED (
    SELECT l.value ->> 'name' AS name, l.value ->> 'skips' AS skips
    FROM json_each($1) l
    WHERE NOT EXISTS (SELECT 1 FROM pauses p WHERE p.kind = 'endpoint' AND p.name = l.value ->> 'name')
), key (endpoint, skips, ordering_key) AS (
    SELECT name, skips, (SELECT min(ordering_key) FROM webhook_inbox INDEXED BY webhook_inbox_ordered
                         WHERE endpoint = lane.name AND ordered = 1 AND processed_at IS NULL)
    FROM lane
    UNION ALL
    SELECT endpoint, skips, (SELECT min(ordering_key) FROM webhook_inbox i INDEXED BY webhook_inbox_ordered
                             WHERE i.endpoint = key.endpoint AND i.ordered = 1 AND i.processed_at IS NULL
                               AND i.ordering_key > key.ordering_key)
    FROM key WHERE ordering_key IS NOT NULL
), head AS MATERIALIZED (
    SELECT (SELECT i.rowid FROM webhook_inbox i INDEXED BY webhook_inbox_ordered
            WHERE i.endpoint = key.endpoint AND i.ordering_key = key.ordering_key AND i.ordered = 1
              AND i.processed_at IS NULL AND (i.review_at IS NULL OR NOT key.skips)
            ORDER BY i.seq LIMIT 1) AS number
    FROM key WHERE ordering_key IS NOT NULL
), moment (at) AS (
    SELECT CASE WHEN EXISTS (
               SELECT 1 FROM webhook_inbox i INDEXED BY webhook_inbox_unprocessed
               WHERE i.endpoint = lane.name AND i.ordered = 0 AND i.processed_at IS NULL AND i.review_at IS NULL
                 AND i.available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
                 AND (i.lease_until IS NULL OR i.lease_until < strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
                 AND NOT EXISTS (SELECT 1 FROM held WHERE held.endpoint = i.endpoint AND i.event_type GLOB held.type))
           THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
           ELSE (SELECT min(at) FROM (
               SELECT min(available_at) AS at FROM webhook_inbox i INDEXED BY webhook_inbox_unprocessed
               WHERE i.endpoint = lane.name AND i.ordered = 0 AND i.processed_at IS NULL AND i.review_at IS NULL
                 AND i.available_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
                 AND NOT EXISTS (SELECT 1 FROM held WHERE held.endpoint = i.endpoint AND i.event_type GLOB held.type)
               UNION ALL
               SELECT min(lease_until) FROM webhook_inbox i INDEXED BY webhook_inbox_unprocessed
               WHERE i.endpoint = lane.name AND i.ordered = 0 AND i.processed_at IS NULL AND i.review_at IS NULL
                 AND i.available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
                 AND i.lease_until >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))
           END
    FROM lane
    UNION ALL
    SELECT max(i.available_at, coalesce(i.lease_until, ''), strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    FROM head JOIN webhook_inbox i ON i.rowid = head.number
    WHERE i.review_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM held WHERE held.endpoint = i.endpoint AND i.event_type GLOB held.type)
)
SELECT (julianday(min(at)) - julianday('now')) * 86400.0 AS seconds FROM moment
