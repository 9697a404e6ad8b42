-- The re-check under lock. Never SKIP LOCKED: another worker's momentary claim lock would hide the row until its
-- lease ends.
-- Events of one key have one turn after the other, also if one whose number is smaller was stored later, or was dead
-- and is tried again: who comes second waits for the end of the first one's transaction.
WITH turn AS MATERIALIZED (
    SELECT CASE WHEN ordered
           THEN pg_advisory_xact_lock(hashtextextended(endpoint || E'\n' || ordering_key, 7239811)) END AS had
    FROM webhook_inbox
    WHERE provider = $1 AND endpoint = $2 AND event_id = $3
)
SELECT event_type, occurred_at, received_at, account, ordering_key, version, content_type, headers, body,
       trace_context
FROM turn CROSS JOIN webhook_inbox i
WHERE provider = $1 AND endpoint = $2 AND event_id = $3
  AND lease_epoch = $4 AND processed_at IS NULL AND review_at IS NULL
FOR UPDATE OF i
