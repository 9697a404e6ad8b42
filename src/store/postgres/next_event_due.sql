-- Seconds until an event of the endpoints $1 is due: zero if one is due now, NULL if none waits. $2: whether a dead one
-- is passed over by those behind it; $3 (JSON): which types handlers take there, and how many more each can take. Only
-- while none is due, the end of the first lease counts, and then few rows are looked at.
WITH taker AS MATERIALIZED (
    SELECT t.endpoint, t.types
    FROM jsonb_to_recordset($3::jsonb) AS t (endpoint text, handler text, types text[], room bigint)
    WHERE t.room = 0 OR EXISTS (SELECT FROM pauses p WHERE p.kind = 'handler' AND p.name = t.handler)
), lane AS MATERIALIZED (
    SELECT l.*, (SELECT array_agg(DISTINCT type) FROM taker t CROSS JOIN unnest(t.types) type
                 WHERE t.endpoint = l.name) AS held
    FROM unnest($1::text[], $2::boolean[]) WITH ORDINALITY AS l (name, skips, at)
    -- Always true; see the claim.
    WHERE at BETWEEN 1 AND 1000000000
      AND NOT EXISTS (SELECT FROM pauses p WHERE p.kind = 'endpoint' AND p.name = l.name)
)
SELECT extract(epoch FROM min(moment) - now())::float8 AS seconds
FROM lane CROSS JOIN LATERAL (
    SELECT CASE WHEN (
               SELECT true FROM webhook_inbox
               WHERE endpoint = lane.name AND NOT ordered AND processed_at IS NULL AND review_at IS NULL
                 AND available_at <= now() AND (lease_until IS NULL OR lease_until < now())
                 AND (lane.held IS NULL OR NOT event_type LIKE ANY (lane.held))
               ORDER BY available_at, seq LIMIT 1)
           THEN now()
           ELSE least(
               (SELECT available_at FROM webhook_inbox
                WHERE endpoint = lane.name AND NOT ordered AND processed_at IS NULL AND review_at IS NULL
                  AND available_at > now()
                  AND (lane.held IS NULL OR NOT event_type LIKE ANY (lane.held))
                ORDER BY available_at, seq LIMIT 1),
               (SELECT min(lease_until) FROM webhook_inbox
                WHERE endpoint = lane.name AND NOT ordered AND processed_at IS NULL AND review_at IS NULL
                  AND available_at <= now() AND lease_until >= now()))
           END AS moment
    UNION ALL
    (WITH RECURSIVE head AS (
         (SELECT ordering_key, event_type, available_at, lease_until, review_at
          FROM webhook_inbox
          WHERE endpoint = lane.name AND ordered AND processed_at IS NULL AND (review_at IS NULL OR NOT lane.skips)
          ORDER BY ordering_key COLLATE "C", seq
          LIMIT 1)
         UNION ALL
         SELECT next.*
         FROM head CROSS JOIN LATERAL (
             SELECT ordering_key, event_type, available_at, lease_until, review_at
             FROM webhook_inbox
             WHERE endpoint = lane.name AND ordered AND processed_at IS NULL
               AND ordering_key COLLATE "C" > head.ordering_key AND (review_at IS NULL OR NOT lane.skips)
             ORDER BY ordering_key COLLATE "C", seq
             LIMIT 1
         ) next
     )
     SELECT CASE WHEN EXISTS (
                     SELECT FROM head
                     WHERE review_at IS NULL AND available_at <= now() AND (lease_until IS NULL OR lease_until < now())
                       AND (lane.held IS NULL OR NOT event_type LIKE ANY (lane.held)))
                 THEN now()
                 ELSE (SELECT min(greatest(available_at, lease_until)) FROM head
                       WHERE review_at IS NULL AND (lane.held IS NULL OR NOT event_type LIKE ANY (lane.held)))
            END)
) due
