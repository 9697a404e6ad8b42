-- The first secret stays: a second one that comes while the endpoint is armed finds the row there.
INSERT INTO learned_secrets (endpoint, secret)
SELECT endpoint, $2
FROM armed_endpoints
WHERE endpoint = $1 AND armed_until > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
ON CONFLICT (endpoint) DO NOTHING
