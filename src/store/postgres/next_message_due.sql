-- Seconds until a message of the destinations $1 is due: zero if one is due now, NULL if none waits. Only while none
-- of its destination is due, the end of a lease counts, and then few rows are looked at. Where a circuit is open, nothing
-- is due before it lets something through.
SELECT min(greatest(CASE WHEN (
           SELECT true FROM outbox
           WHERE destination = lane.name AND published_at IS NULL AND review_at IS NULL
             AND available_at <= now() AND (lease_until IS NULL OR lease_until < now())
           ORDER BY available_at, id LIMIT 1)
       THEN 0
       ELSE extract(epoch FROM least(
           (SELECT available_at FROM outbox
            WHERE destination = lane.name AND published_at IS NULL AND review_at IS NULL AND available_at > now()
            ORDER BY available_at, id LIMIT 1),
           (SELECT min(lease_until) FROM outbox
            WHERE destination = lane.name AND published_at IS NULL AND review_at IS NULL
              AND available_at <= now() AND lease_until >= now())
       ) - now()) END,
       (SELECT extract(epoch FROM greatest(open_until, probe_until) - now()) FROM circuits
        WHERE destination = lane.name AND greatest(open_until, probe_until) > now())))::float8 AS seconds
FROM unnest($1::text[]) AS lane (name)
WHERE NOT EXISTS (SELECT FROM pauses p WHERE p.kind = 'destination' AND p.name = lane.name)
