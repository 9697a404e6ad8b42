-- New events, all or none. They are written in the order of their keys, so that two batches with the same
-- keys cannot deadlock, but numbered in the order of arrival. A key that is there, or is just being written by
-- another transaction (waited for, within the limit), is left out of the answer.
WITH bound AS MATERIALIZED (
    SELECT set_config('lock_timeout', $1, true)
), arrived AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('webhook_inbox', 'seq')) AS seq, e.*
    FROM bound, unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::bytea[], $8::text[],
                       $9::text[], $10::text[], $11::int[], $12::text[], $13::text[], $14::text[],
                       $15::timestamptz[], $16::boolean[], $17::bigint[])
        WITH ORDINALITY AS e (provider, endpoint, event_id, event_type, body, body_sha256, content_type, headers,
                              request_id, item_index, account, ordering_key, trace_context, occurred_at, ordered, version,
                              place)
)
INSERT INTO webhook_inbox (provider, endpoint, event_id, seq, event_type, body, body_sha256, content_type, headers,
                           request_id, item_index, account, ordering_key, trace_context, occurred_at, ordered, version)
SELECT provider, endpoint, event_id, seq, event_type, body, body_sha256, content_type, headers,
       request_id::uuid, item_index, account, ordering_key, trace_context, occurred_at, ordered, version
FROM arrived
ORDER BY provider COLLATE "C", endpoint COLLATE "C", event_id COLLATE "C"
ON CONFLICT (provider, endpoint, event_id) DO NOTHING
RETURNING provider, endpoint, event_id, received_at
