-- The same for one destination $1 that wants order: what stands first of each key, and messages without key; $2 passes
-- over dead ones. A thousand of each are looked at: whoever asks looks again before long.
WITH RECURSIVE heads (id) AS (
    SELECT (SELECT id FROM outbox INDEXED BY outbox_order
            WHERE destination = $1 AND ordering_key > '' AND published_at IS NULL
              AND destination IS NOT NULL AND (ordering_key IS NOT NULL OR review_at IS NULL) AND id > 0
              AND (review_at IS NULL OR NOT $2)
            ORDER BY ordering_key, id LIMIT 1)
    UNION ALL
    SELECT (SELECT id FROM outbox INDEXED BY outbox_order
            WHERE destination = $1 AND ordering_key > (SELECT ordering_key FROM outbox WHERE id = heads.id) AND published_at IS NULL
              AND destination IS NOT NULL AND (ordering_key IS NOT NULL OR review_at IS NULL) AND id > 0
              AND (review_at IS NULL OR NOT $2)
            ORDER BY ordering_key, id LIMIT 1)
    FROM heads WHERE heads.id IS NOT NULL
    LIMIT 1000
), first AS (
    SELECT o.available_at, o.lease_until FROM heads JOIN outbox o ON o.id = heads.id WHERE o.review_at IS NULL
    UNION ALL
    SELECT available_at, lease_until FROM (
        SELECT available_at, lease_until FROM outbox INDEXED BY outbox_order
        WHERE destination = $1 AND ordering_key IS NULL AND published_at IS NULL
          AND destination IS NOT NULL AND (ordering_key IS NOT NULL OR review_at IS NULL) AND id > 0
          AND review_at IS NULL
        ORDER BY id LIMIT 1000)
)
SELECT max(coalesce(due, hold), coalesce(hold, due)) AS seconds
FROM (
    SELECT (SELECT min(max((julianday(max(available_at, coalesce(lease_until, available_at))) - julianday('now')) * 86400.0, 0.0))
            FROM first
            WHERE NOT EXISTS (SELECT 1 FROM pauses p WHERE p.kind = 'destination' AND p.name = $1)) AS due,
           (SELECT max((julianday(max(open_until, coalesce(probe_until, open_until))) - julianday('now')) * 86400.0, 0.0)
            FROM circuits WHERE destination = $1) AS hold
)
