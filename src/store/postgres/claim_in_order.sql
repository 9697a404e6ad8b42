-- Claims due messages of the destination $2, which wants those of one key one at a time and in the order of their
-- numbers: $1 rows, for $3 seconds; $4 failures exhaust a row; $5 and the probe as in claim_messages. Only the first
-- unpublished message of a key is ever looked at, from the first key behind $6; $7 passes over dead ones. Those without
-- key come last.
WITH RECURSIVE heads AS (
    (SELECT id, ordering_key, available_at, lease_until, review_at FROM outbox
     WHERE destination = $2 AND ordering_key > $6 AND published_at IS NULL AND id > 0
       AND (review_at IS NULL OR NOT $7)
     ORDER BY ordering_key, id LIMIT 1)
    UNION ALL
    SELECT next.*
    FROM heads
    CROSS JOIN LATERAL (
        SELECT id, ordering_key, available_at, lease_until, review_at FROM outbox
        WHERE destination = $2 AND ordering_key > heads.ordering_key AND published_at IS NULL AND id > 0
          AND (review_at IS NULL OR NOT $7)
        ORDER BY ordering_key, id LIMIT 1
    ) next
), probing AS MATERIALIZED (
    SELECT destination FROM circuits
    WHERE destination = $2 AND $5 AND open_until <= now() AND (probe_until IS NULL OR probe_until < now())
    FOR UPDATE SKIP LOCKED
), ready AS (
    SELECT id FROM (
        SELECT id FROM heads
        WHERE review_at IS NULL AND available_at <= now() AND (lease_until IS NULL OR lease_until < now())
        UNION ALL
        SELECT id FROM (
            SELECT id FROM outbox
            WHERE destination = $2 AND ordering_key IS NULL AND published_at IS NULL AND review_at IS NULL AND id > 0
              AND available_at <= now() AND (lease_until IS NULL OR lease_until < now())
            ORDER BY id LIMIT $1
        ) keyless
    ) due
    LIMIT (SELECT CASE WHEN EXISTS (SELECT FROM pauses p WHERE p.kind = 'destination' AND p.name = $2) THEN 0
                       WHEN EXISTS (SELECT FROM probing) THEN least($1, 1)
                       WHEN $5 AND EXISTS (SELECT FROM circuits WHERE destination = $2 AND open_until IS NOT NULL) THEN 0
                       ELSE $1 END)
), due AS MATERIALIZED (
    SELECT id, available_at, attempts, crash_attempts + (lease_until IS NOT NULL)::int AS crashes
    FROM outbox
    WHERE id = ANY (ARRAY (SELECT id FROM ready)) AND published_at IS NULL AND review_at IS NULL
      AND available_at <= now() AND (lease_until IS NULL OR lease_until < now())
    FOR UPDATE SKIP LOCKED
), judged AS (
    SELECT *, attempts - crashes >= $4 OR crashes >= 5 AS exhausted FROM due
), ranked AS (
    SELECT *,
           row_number() OVER w AS place,
           first_value(crashes > 0) OVER w AS suspect_leads
    FROM judged
    WINDOW w AS (PARTITION BY exhausted ORDER BY available_at, id)
), claimed AS (
    UPDATE outbox o
    SET attempts = o.attempts + (NOT c.exhausted)::int,
        crash_attempts = c.crashes,
        lease_epoch = o.lease_epoch + 1,
        lease_until = CASE WHEN NOT c.exhausted THEN now() + make_interval(secs => $3) END,
        review_at = CASE WHEN c.exhausted THEN now() END,
        review_reason = CASE WHEN NOT c.exhausted THEN NULL
                             WHEN c.crashes >= 5 THEN 'its delivery crashed or lost its lease 5 times'
                             ELSE 'no attempts left' END
    FROM ranked c
    WHERE o.id = c.id AND (c.exhausted OR CASE WHEN c.suspect_leads THEN c.place = 1 ELSE c.crashes = 0 END)
    RETURNING o.*
), probed AS (
    UPDATE circuits
    SET probe_until = claimed.lease_until
    FROM claimed JOIN probing USING (destination)
    WHERE circuits.destination = claimed.destination AND claimed.review_at IS NULL
)
SELECT id, provider, endpoint, event_id, aggregate_type, aggregate_id, event_type, payload::text AS payload, body,
       content_type, headers, received_at, destination, message_id, coalesce(redriven_at, created_at) AS born_at, trace_context,
       ordering_key,
       lease_epoch, attempts, crash_attempts, review_reason, EXISTS (SELECT FROM probing) AS probe
FROM claimed
ORDER BY ordering_key NULLS LAST, id
