-- Claims due messages, $1 at most. $2 names the destinations that have room, $3 says for how many rows, $4 for how
-- many seconds, $5 how many failures exhaust a row, $6 whether its circuit counts: while that is open nothing is claimed,
-- then one message as a probe, by the one who locks the circuit's row. Rows of other destinations, of
-- none, or of paused ones, are not looked at.
WITH probing AS MATERIALIZED (
    SELECT destination FROM circuits
    JOIN unnest($2::text[], $6::bool[]) AS asked (name, breaker) ON name = destination AND breaker
    WHERE open_until <= now() AND (probe_until IS NULL OR probe_until < now())
    FOR UPDATE OF circuits SKIP LOCKED
), lane AS (
    SELECT lane.name, lane.lease, lane.max_attempts,
           CASE WHEN NOT lane.breaker OR c.open_until IS NULL THEN lane.room
                WHEN p.destination IS NOT NULL THEN least(lane.room, 1)
                ELSE 0 END AS room
    FROM unnest($2::text[], $3::bigint[], $4::float8[], $5::bigint[], $6::bool[])
         AS lane (name, room, lease, max_attempts, breaker)
    LEFT JOIN circuits c ON c.destination = lane.name
    LEFT JOIN probing p ON p.destination = lane.name
), due AS MATERIALIZED (
    SELECT o.*, lane.lease, lane.max_attempts
    FROM lane
    CROSS JOIN LATERAL (
        SELECT id, destination, available_at, attempts, crash_attempts + (lease_until IS NOT NULL)::int AS crashes
        FROM outbox
        WHERE destination = lane.name AND published_at IS NULL AND review_at IS NULL
          AND available_at <= now() AND (lease_until IS NULL OR lease_until < now())
        ORDER BY available_at, id
        LIMIT lane.room
        FOR UPDATE SKIP LOCKED
    ) o
    WHERE NOT EXISTS (SELECT FROM pauses p WHERE p.kind = 'destination' AND p.name = lane.name)
), judged AS (
    SELECT *, attempts - crashes >= max_attempts OR crashes >= 5 AS exhausted FROM due
), ranked AS (
    SELECT *,
           row_number() OVER w AS place,
           first_value(crashes > 0) OVER w AS suspect_leads
    FROM judged
    WINDOW w AS (PARTITION BY destination, exhausted ORDER BY available_at, id)
), chosen AS MATERIALIZED (
    -- The first of each destination, then the second, …: no destination stands in another's way.
    SELECT * FROM ranked
    WHERE exhausted OR CASE WHEN suspect_leads THEN place = 1 ELSE crashes = 0 END
    ORDER BY exhausted DESC, place, available_at, id
    LIMIT $1
), claimed AS (
    UPDATE outbox o
    SET attempts = o.attempts + (NOT c.exhausted)::int,
        crash_attempts = c.crashes,
        lease_epoch = o.lease_epoch + 1,
        lease_until = CASE WHEN NOT c.exhausted THEN now() + make_interval(secs => c.lease) END,
        review_at = CASE WHEN c.exhausted THEN now() END,
        review_reason = CASE WHEN NOT c.exhausted THEN NULL
                             WHEN c.crashes >= 5 THEN 'its delivery crashed or lost its lease 5 times'
                             ELSE 'no attempts left' END
    FROM chosen c
    WHERE o.id = c.id
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
       lease_epoch, attempts, crash_attempts, review_reason, destination IN (SELECT destination FROM probing) AS probe
FROM claimed
ORDER BY available_at, id
