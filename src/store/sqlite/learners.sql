SELECT endpoint, learned_at, NULL AS armed_until
FROM learned_secrets
UNION ALL
SELECT endpoint, NULL, armed_until
FROM armed_endpoints
WHERE armed_until > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
ORDER BY 1
