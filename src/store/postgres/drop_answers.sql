-- What destinations answered to these events goes with their payload.
DELETE FROM proxy_answers a
USING unnest($1::text[], $2::text[], $3::text[]) AS k (provider, endpoint, event_id)
WHERE a.provider = k.provider AND a.endpoint = k.endpoint AND a.event_id = k.event_id
