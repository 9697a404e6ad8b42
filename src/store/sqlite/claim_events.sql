-- Claims due events of the endpoints $4: $1 rows, for $2 seconds; $3 failures exhaust a row. Attempts are counted here, before the work;
-- an expired lease that is taken over was a crash.
WITH due AS MATERIALIZED (
    SELECT provider, endpoint, event_id, available_at, seq, attempts,
           crash_attempts + (lease_until IS NOT NULL) AS crashes
    FROM webhook_inbox INDEXED BY webhook_inbox_unprocessed
    WHERE processed_at IS NULL AND review_at IS NULL AND endpoint IN (SELECT value FROM json_each($4))
      AND available_at <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
      AND (lease_until IS NULL OR lease_until < strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
    ORDER BY available_at, seq
    LIMIT $1
), judged AS (
    SELECT *, attempts - crashes >= $3 OR crashes >= 5 AS exhausted FROM due
), ranked AS (
    SELECT *,
           row_number() OVER w AS place,
           first_value(crashes > 0) OVER w AS suspect_leads
    FROM judged
    WINDOW w AS (PARTITION BY exhausted ORDER BY available_at, seq)
), chosen AS MATERIALIZED (
    -- An event that has crashed before goes alone, so that it does not take its neighbours with it.
    SELECT * FROM ranked WHERE exhausted OR CASE WHEN suspect_leads THEN place = 1 ELSE crashes = 0 END
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
WHERE i.provider = c.provider AND i.endpoint = c.endpoint AND i.event_id = c.event_id
RETURNING provider, endpoint, event_id, available_at, seq, lease_epoch, attempts, crash_attempts, review_reason
