-- What a destination answered to an event goes with its payload.
DELETE FROM proxy_answers WHERE provider = $1 AND endpoint = $2 AND event_id = $3
