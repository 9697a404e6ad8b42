SELECT endpoint, learned_at, NULL::timestamptz AS armed_until
FROM learned_secrets
UNION ALL
SELECT endpoint, NULL::timestamptz, armed_until
FROM armed_endpoints
WHERE armed_until > now()
ORDER BY 1
