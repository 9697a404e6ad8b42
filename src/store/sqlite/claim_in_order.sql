-- Claims due messages of the destination $2, which wants those of one key one at a time and in the order of their
-- numbers: $1 rows, for $3 seconds; $4 failures exhaust a row; $5 and the probe as in claim_messages. Only the first
-- unpublished message of a key is ever looked at, from the first key behind $6; $7 passes over dead ones. Those without
-- key come last.
WITH RECURSIVE heads (id) AS (
    SELECT (SELECT id FROM outbox INDEXED BY outbox_order
            WHERE destination = $2 AND ordering_key > $6 AND published_at IS NULL
              AND destination IS NOT NULL AND (ordering_key IS NOT NULL OR review_at IS NULL) AND id > 0
              AND (review_at IS NULL OR NOT $7)
            ORDER BY ordering_key, id LIMIT 1)
    UNION ALL
    SELECT (SELECT id FROM outbox INDEXED BY outbox_order
            WHERE destination = $2 AND ordering_key > (SELECT ordering_key FROM outbox WHERE id = heads.id) AND published_at IS NULL
              AND destination IS NOT NULL AND (ordering_key IS NOT NULL OR review_at IS NULL) AND id > 0
              AND (review_at IS NULL OR NOT $7)
            ORDER BY ordering_key, id LIMIT 1)
    FROM heads WHERE heads.id IS NOT NULL
), due AS MATERIALIZED (
    SELECT id, available_at, attempts, crash_attempts + (lease_until IS NOT NULL) AS crashes
    FROM (
        SELECT o.* FROM heads JOIN outbox o ON o.id = heads.id
        WHERE o.review_at IS NULL AND o.available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
          AND (o.lease_until IS NULL OR o.lease_until < strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
        UNION ALL
        SELECT * FROM (
            SELECT * FROM outbox INDEXED BY outbox_order
            WHERE destination = $2 AND ordering_key IS NULL AND published_at IS NULL
              AND destination IS NOT NULL AND (ordering_key IS NOT NULL OR review_at IS NULL) AND id > 0
              AND review_at IS NULL AND available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
              AND (lease_until IS NULL OR lease_until < strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
            ORDER BY id LIMIT $1)
    )
    -- While its circuit is open nothing; then one, the probe. While it is paused nothing.
    LIMIT coalesce((SELECT 0 FROM pauses p WHERE p.kind = 'destination' AND p.name = $2), (SELECT CASE WHEN open_until > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
                                  OR probe_until >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') THEN 0
                                ELSE min($1, 1) END
                    FROM circuits WHERE destination = $2 AND open_until IS NOT NULL AND $5), $1)
), judged AS (
    SELECT *, attempts - crashes >= $4 OR crashes >= 5 AS exhausted FROM due
), ranked AS (
    SELECT *,
           row_number() OVER w AS place,
           first_value(crashes > 0) OVER w AS suspect_leads
    FROM judged
    WINDOW w AS (PARTITION BY exhausted ORDER BY available_at, id)
), chosen AS MATERIALIZED (
    SELECT * FROM ranked WHERE exhausted OR CASE WHEN suspect_leads THEN place = 1 ELSE crashes = 0 END
)
UPDATE outbox AS o
SET attempts = o.attempts + (NOT c.exhausted),
    crash_attempts = c.crashes,
    lease_epoch = o.lease_epoch + 1,
    lease_until = CASE WHEN NOT c.exhausted
                       THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%.3f seconds', $3)) END,
    review_at = CASE WHEN c.exhausted THEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END,
    review_reason = CASE WHEN NOT c.exhausted THEN NULL
                         WHEN c.crashes >= 5 THEN 'its delivery crashed or lost its lease 5 times'
                         ELSE 'no attempts left' END
FROM chosen AS c
WHERE o.id = c.id
RETURNING id, provider, endpoint, event_id, aggregate_type, aggregate_id, event_type, payload, body,
          content_type, headers, received_at, destination, message_id, coalesce(redriven_at, created_at) AS born_at, trace_context,
          ordering_key,
          lease_epoch, attempts, crash_attempts, review_reason, available_at,
          $5 AND EXISTS (SELECT 1 FROM circuits c WHERE c.destination = $2 AND c.open_until IS NOT NULL) AS probe;

UPDATE circuits
SET probe_until = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', printf('%.3f seconds', $3))
WHERE changes() > 0 AND $5 AND destination = $2 AND open_until IS NOT NULL
  AND EXISTS (SELECT 1 FROM outbox o INDEXED BY outbox_unpublished
              WHERE o.destination = $2 AND o.published_at IS NULL AND o.review_at IS NULL
                AND o.available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AND o.lease_until >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
