SELECT endpoint, event_type, count(*) AS events
FROM webhook_inbox
WHERE received_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour')
GROUP BY endpoint, event_type
ORDER BY events DESC, endpoint, event_type
LIMIT 100
