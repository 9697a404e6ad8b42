-- Claims due events: $1 at most, for $2 seconds; $3 failures exhaust a row. $4 names the endpoints, $5 says for how
-- many rows each has room, $6 whether a dead event of theirs is passed over by those behind it, $7 behind which key the
-- walk over their ordering keys begins. $8 (JSON) is which types handlers take there, and how many more each can take.
-- Attempts are counted here, before the work; an expired lease that is taken over was a crash.
WITH taker AS MATERIALIZED (
    -- Handlers that can take no event now, or only so many.
    SELECT t.endpoint, t.handler, t.types, CASE WHEN p.name IS NULL THEN t.room ELSE 0 END AS room
    FROM jsonb_to_recordset($8::jsonb) AS t (endpoint text, handler text, types text[], room bigint)
    LEFT JOIN pauses p ON p.kind = 'handler' AND p.name = t.handler
    WHERE p.name IS NOT NULL OR t.room IS NOT NULL
), busy AS MATERIALIZED (
    SELECT name, room, skips, after, count(*) OVER () AS lanes
    FROM unnest($4::text[], $5::bigint[], $6::boolean[], $7::text[]) WITH ORDINALITY AS l (name, room, skips, after, at)
    -- The first is always true. The planner takes it for few rows; else it would think the walks worth compiling.
    WHERE at BETWEEN 1 AND 1000000000
      AND NOT EXISTS (SELECT FROM pauses p WHERE p.kind = 'endpoint' AND p.name = l.name)
      AND ((SELECT true FROM webhook_inbox
            WHERE endpoint = l.name AND NOT ordered AND processed_at IS NULL AND review_at IS NULL
              AND available_at <= now()
            ORDER BY available_at, seq LIMIT 1)
           OR (SELECT true FROM webhook_inbox
               WHERE endpoint = l.name AND ordered AND processed_at IS NULL
               ORDER BY ordering_key COLLATE "C", seq LIMIT 1))
), lane AS MATERIALIZED (
    -- Some more than are wanted: another claim may be just taking the first ones, and other lanes may have few.
    SELECT name, skips, after, least(room, (3 * $1 + lanes - 1) / lanes) AS width,
           (SELECT array_agg(DISTINCT type) FROM taker t CROSS JOIN unnest(t.types) type
            WHERE t.endpoint = busy.name AND t.room = 0) AS held
    FROM busy
), candidate AS MATERIALIZED (
    SELECT e.*, lane.width
    FROM lane CROSS JOIN LATERAL (
        (SELECT provider, endpoint, event_id, event_type, available_at, seq, NULL AS ordering_key
         FROM webhook_inbox
         WHERE endpoint = lane.name AND NOT ordered AND processed_at IS NULL AND review_at IS NULL
           AND available_at <= now() AND (lease_until IS NULL OR lease_until < now())
           AND (lane.held IS NULL OR NOT event_type LIKE ANY (lane.held))
         ORDER BY available_at, seq
         LIMIT lane.width)
        UNION ALL
        -- The first of each key: one look for each, and no more than are wanted. Whether it can be claimed is asked
        -- afterwards, so that what stands behind it is never taken for the first.
        (WITH RECURSIVE head AS (
             (SELECT provider, endpoint, event_id, event_type, available_at, seq, ordering_key, lease_until, review_at
              FROM webhook_inbox
              WHERE endpoint = lane.name AND ordered AND processed_at IS NULL
                AND ordering_key COLLATE "C" > lane.after AND (review_at IS NULL OR NOT lane.skips)
              ORDER BY ordering_key COLLATE "C", seq
              LIMIT 1)
             UNION ALL
             SELECT next.*
             FROM head CROSS JOIN LATERAL (
                 SELECT provider, endpoint, event_id, event_type, available_at, seq, ordering_key, lease_until, review_at
                 FROM webhook_inbox
                 WHERE endpoint = lane.name AND ordered AND processed_at IS NULL
                   AND ordering_key COLLATE "C" > head.ordering_key AND (review_at IS NULL OR NOT lane.skips)
                 ORDER BY ordering_key COLLATE "C", seq
                 LIMIT 1
             ) next
         )
         SELECT provider, endpoint, event_id, event_type, available_at, seq, ordering_key
         FROM head
         WHERE review_at IS NULL AND available_at <= now() AND (lease_until IS NULL OR lease_until < now())
           AND (lane.held IS NULL OR NOT event_type LIKE ANY (lane.held))
         LIMIT lane.width)
    ) e
), ranked AS MATERIALIZED (
    SELECT *, row_number() OVER (PARTITION BY endpoint ORDER BY available_at, seq) AS place FROM candidate
), crowded AS MATERIALIZED (
    SELECT seq
    FROM (SELECT r.seq, t.room,
                 row_number() OVER (PARTITION BY t.handler ORDER BY r.place, r.available_at, r.seq) AS nth
          FROM taker t JOIN ranked r ON r.endpoint = t.endpoint AND r.event_type LIKE ANY (t.types)
          WHERE t.room > 0 AND r.place <= r.width) m
    WHERE nth > room
), due AS MATERIALIZED (
    -- The first of each endpoint, then the second, …: no endpoint stands in another's way.
    SELECT r.*, i.attempts, i.crashes
    FROM (SELECT * FROM ranked
          WHERE place <= width AND seq NOT IN (SELECT seq FROM crowded)
          ORDER BY place, available_at, seq) r
    CROSS JOIN LATERAL (
        SELECT attempts, crash_attempts + (lease_until IS NOT NULL)::int AS crashes
        FROM webhook_inbox
        WHERE provider = r.provider AND endpoint = r.endpoint AND event_id = r.event_id
          -- In such words that only the key's index fits.
          AND coalesce(processed_at, review_at) IS NULL
          AND available_at <= now() AND (lease_until IS NULL OR lease_until < now())
        FOR UPDATE SKIP LOCKED
    ) i
    LIMIT $1
), judged AS (
    SELECT *, attempts - crashes >= $3 OR crashes >= 5 AS exhausted FROM due
), led AS (
    SELECT *,
           row_number() OVER w AS turn,
           first_value(crashes > 0) OVER w AS suspect_leads
    FROM judged
    WINDOW w AS (PARTITION BY exhausted ORDER BY place, available_at, seq)
), chosen AS (
    -- An event that has crashed before goes alone, so that it does not take its neighbours with it.
    SELECT * FROM led WHERE exhausted OR CASE WHEN suspect_leads THEN turn = 1 ELSE crashes = 0 END
), claimed AS (
    UPDATE webhook_inbox i
    SET attempts = i.attempts + (NOT c.exhausted)::int,
        crash_attempts = c.crashes,
        lease_epoch = i.lease_epoch + 1,
        lease_until = CASE WHEN NOT c.exhausted THEN now() + make_interval(secs => $2) END,
        review_at = CASE WHEN c.exhausted THEN now() END,
        review_reason = CASE WHEN NOT c.exhausted THEN NULL
                             WHEN c.crashes >= 5 THEN 'its work crashed or lost its lease 5 times'
                             ELSE 'no attempts left' END
    FROM chosen c
    WHERE i.provider = c.provider AND i.endpoint = c.endpoint AND i.event_id = c.event_id
    RETURNING i.provider, i.endpoint, i.event_id, i.event_type, c.ordering_key, i.available_at, i.seq, i.lease_epoch, i.attempts,
              i.crash_attempts, i.review_reason
)
SELECT provider, endpoint, event_id, event_type, ordering_key, lease_epoch, attempts, crash_attempts, review_reason
FROM (SELECT * FROM claimed
      UNION ALL
      -- No event: endpoints whose walk found no key, so that the next one begins anew.
      SELECT NULL, name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
      FROM lane
      WHERE after <> '' AND NOT EXISTS (SELECT FROM candidate c WHERE c.endpoint = lane.name AND c.ordering_key IS NOT NULL)
     ) told
ORDER BY available_at, seq
