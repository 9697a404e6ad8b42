-- The same for one destination $1 that wants order: what stands first of each key, and messages without key; $2 passes
-- over dead ones. A thousand of each are looked at: whoever asks looks again before long.
WITH RECURSIVE heads AS (
    (SELECT ordering_key, available_at, lease_until, review_at FROM outbox
     WHERE destination = $1 AND ordering_key > '' AND published_at IS NULL AND id > 0
       AND (review_at IS NULL OR NOT $2)
     ORDER BY ordering_key, id LIMIT 1)
    UNION ALL
    SELECT next.*
    FROM heads
    CROSS JOIN LATERAL (
        SELECT ordering_key, available_at, lease_until, review_at FROM outbox
        WHERE destination = $1 AND ordering_key > heads.ordering_key AND published_at IS NULL AND id > 0
          AND (review_at IS NULL OR NOT $2)
        ORDER BY ordering_key, id LIMIT 1
    ) next
), first AS (
    SELECT available_at, lease_until FROM (SELECT * FROM heads LIMIT 1000) walked WHERE review_at IS NULL
    UNION ALL
    SELECT available_at, lease_until FROM (
        SELECT available_at, lease_until FROM outbox
        WHERE destination = $1 AND ordering_key IS NULL AND published_at IS NULL AND review_at IS NULL AND id > 0
        ORDER BY id LIMIT 1000
    ) keyless
)
SELECT greatest((SELECT min(extract(epoch FROM greatest(available_at, lease_until, now()) - now())) FROM first
                 WHERE NOT EXISTS (SELECT FROM pauses p WHERE p.kind = 'destination' AND p.name = $1)),
                (SELECT extract(epoch FROM greatest(open_until, probe_until) - now()) FROM circuits
                 WHERE destination = $1 AND greatest(open_until, probe_until) > now()))::float8 AS seconds
