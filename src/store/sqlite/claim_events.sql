-- Claims due events: $1 at most, for $2 seconds; $3 failures exhaust a row. $4 (JSON) is the endpoints: name, for how
-- many rows each has room, whether a dead event is passed over by those behind it. $5 (JSON) is which types handlers
-- take there, and how many more each can take. Attempts are counted here, before the work; an expired lease that is
-- taken over was a crash.
WITH RECURSIVE taker AS MATERIALIZED (
    -- Handlers that can take no event now, or only so many.
    SELECT t.value ->> 'endpoint' AS endpoint, t.value ->> 'handler' AS handler, t.value -> 'types' AS types,
           CASE WHEN p.name IS NULL THEN t.value ->> 'room' ELSE 0 END AS room
    FROM json_each($5) t
    LEFT JOIN pauses p ON p.kind = 'handler' AND p.name = t.value ->> 'handler'
    WHERE p.name IS NOT NULL OR t.value ->> 'room' IS NOT NULL
), held AS MATERIALIZED (
    SELECT taker.endpoint, type.value AS type FROM taker JOIN json_each(taker.types) type WHERE taker.room = 0
), lane AS MATERIALIZED (
    SELECT l.value ->> 'name' AS name, l.value ->> 'room' AS room, l.value ->> 'skips' AS skips
    FROM json_each($4) l
    WHERE NOT EXISTS (SELECT 1 FROM pauses p WHERE p.kind = 'endpoint' AND p.name = l.value ->> 'name')
), key (endpoint, skips, ordering_key) AS (
    -- One look for each key.
    SELECT name, skips, (SELECT min(ordering_key) FROM webhook_inbox INDEXED BY webhook_inbox_ordered
                         WHERE endpoint = lane.name AND ordered = 1 AND processed_at IS NULL)
    FROM lane
    UNION ALL
    SELECT endpoint, skips, (SELECT min(ordering_key) FROM webhook_inbox i INDEXED BY webhook_inbox_ordered
                             WHERE i.endpoint = key.endpoint AND i.ordered = 1 AND i.processed_at IS NULL
                               AND i.ordering_key > key.ordering_key)
    FROM key WHERE ordering_key IS NOT NULL
), head AS MATERIALIZED (
    -- The first of each key. Whether it can be claimed is asked afterwards, so that what stands behind it is never
    -- taken for the first.
    SELECT (SELECT i.rowid FROM webhook_inbox i INDEXED BY webhook_inbox_ordered
            WHERE i.endpoint = key.endpoint AND i.ordering_key = key.ordering_key AND i.ordered = 1
              AND i.processed_at IS NULL AND (i.review_at IS NULL OR NOT key.skips)
            ORDER BY i.seq LIMIT 1) AS number
    FROM key WHERE ordering_key IS NOT NULL
), candidate AS MATERIALIZED (
    SELECT i.rowid AS number
    FROM lane JOIN webhook_inbox i ON i.rowid IN (
        SELECT e.rowid FROM webhook_inbox e INDEXED BY webhook_inbox_unprocessed
        WHERE e.endpoint = lane.name AND e.ordered = 0 AND e.processed_at IS NULL AND e.review_at IS NULL
          AND e.available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
          AND (e.lease_until IS NULL OR e.lease_until < strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
          AND NOT EXISTS (SELECT 1 FROM held WHERE held.endpoint = e.endpoint AND e.event_type GLOB held.type)
        ORDER BY e.available_at, e.seq
        LIMIT $1)
    UNION ALL
    SELECT i.rowid
    FROM head JOIN webhook_inbox i ON i.rowid = head.number
    WHERE i.review_at IS NULL AND i.available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
      AND (i.lease_until IS NULL OR i.lease_until < strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
      AND NOT EXISTS (SELECT 1 FROM held WHERE held.endpoint = i.endpoint AND i.event_type GLOB held.type)
), ranked AS MATERIALIZED (
    SELECT i.rowid AS number, i.endpoint, i.event_type, i.available_at, i.seq, i.attempts,
           i.crash_attempts + (i.lease_until IS NOT NULL) AS crashes, lane.room,
           row_number() OVER (PARTITION BY i.endpoint ORDER BY i.available_at, i.seq) AS place
    -- CROSS JOIN keeps this order: the table is not to be walked for the lanes.
    FROM candidate CROSS JOIN webhook_inbox i ON i.rowid = candidate.number CROSS JOIN lane ON lane.name = i.endpoint
), crowded AS MATERIALIZED (
    SELECT number
    FROM (SELECT r.number, t.room,
                 row_number() OVER (PARTITION BY t.handler ORDER BY r.place, r.available_at, r.seq) AS nth
          FROM taker t JOIN ranked r ON r.endpoint = t.endpoint
          WHERE t.room > 0 AND r.place <= r.room
            AND EXISTS (SELECT 1 FROM json_each(t.types) type WHERE r.event_type GLOB type.value))
    WHERE nth > room
), due AS MATERIALIZED (
    -- The first of each endpoint, then the second, …: no endpoint stands in another's way.
    SELECT * FROM ranked
    WHERE place <= room AND number NOT IN (SELECT number FROM crowded)
    ORDER BY place, available_at, seq
    LIMIT $1
), judged AS (
    SELECT *, attempts - crashes >= $3 OR crashes >= 5 AS exhausted FROM due
), led AS (
    SELECT *,
           row_number() OVER w AS turn,
           first_value(crashes > 0) OVER w AS suspect_leads
    FROM judged
    WINDOW w AS (PARTITION BY exhausted ORDER BY place, available_at, seq)
), chosen AS MATERIALIZED (
    -- An event that has crashed before goes alone, so that it does not take its neighbours with it.
    SELECT * FROM led WHERE exhausted OR CASE WHEN suspect_leads THEN turn = 1 ELSE crashes = 0 END
)
UPDATE webhook_inbox AS i
SET attempts = i.attempts + (NOT c.exhausted),
    crash_attempts = c.crashes,
    lease_epoch = i.lease_epoch + 1,
    lease_until = CASE WHEN NOT c.exhausted
                       THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%.3f seconds', $2)) END,
    review_at = CASE WHEN c.exhausted THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END,
    review_reason = CASE WHEN NOT c.exhausted THEN NULL
                         WHEN c.crashes >= 5 THEN 'its work crashed or lost its lease 5 times'
                         ELSE 'no attempts left' END
FROM chosen AS c
WHERE i.rowid = c.number
RETURNING provider, endpoint, event_id, event_type, available_at, seq, lease_epoch, attempts, crash_attempts,
          review_reason
