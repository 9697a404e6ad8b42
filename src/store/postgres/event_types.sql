SELECT endpoint, event_type, count(*) AS events
FROM webhook_inbox
WHERE received_at > now() - interval '1 hour'
GROUP BY endpoint, event_type
ORDER BY events DESC, endpoint, event_type
LIMIT 100
