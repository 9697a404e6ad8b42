-- Seconds until a message of the destinations $1 (a JSON array) is due: zero if one is due now, NULL if none waits.
-- Only while none of its destination is due, the end of a lease counts, and then few rows are looked at. Where a circuit
-- is open, nothing is due before it lets something through.
SELECT min(max(coalesce(due, hold), coalesce(hold, due))) AS seconds
FROM (
    SELECT CASE WHEN EXISTS (
               SELECT 1 FROM outbox INDEXED BY outbox_unpublished
               WHERE destination = lane.value AND published_at IS NULL AND review_at IS NULL
                 AND available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
                 AND (lease_until IS NULL OR lease_until < strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))
           THEN 0.0
           ELSE (SELECT (julianday(min(moment)) - julianday('now')) * 86400.0 FROM (
               SELECT min(available_at) AS moment FROM outbox INDEXED BY outbox_unpublished
               WHERE destination = lane.value AND published_at IS NULL AND review_at IS NULL
                 AND available_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
               UNION ALL
               SELECT min(lease_until) FROM outbox INDEXED BY outbox_unpublished
               WHERE destination = lane.value AND published_at IS NULL AND review_at IS NULL
                 AND available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
                 AND lease_until >= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))
           END AS due,
           (SELECT max((julianday(max(open_until, coalesce(probe_until, open_until))) - julianday('now')) * 86400.0, 0.0)
            FROM circuits WHERE destination = lane.value) AS hold
    FROM json_each($1) lane
    WHERE NOT EXISTS (SELECT 1 FROM pauses p WHERE p.kind = 'destination' AND p.name = lane.value)
)
