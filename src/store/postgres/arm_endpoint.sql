INSERT INTO armed_endpoints (endpoint, armed_until)
SELECT $1::text, now() + make_interval(secs => $2)
WHERE NOT EXISTS (SELECT 1 FROM learned_secrets WHERE endpoint = $1)
ON CONFLICT (endpoint) DO UPDATE SET armed_until = excluded.armed_until
RETURNING armed_until
