SELECT endpoint, sum(events) AS events, sum(duplicates) AS duplicates
FROM webhook_counts
WHERE hour >= strftime('%Y-%m-%dT%H:00:00.000Z', 'now', printf('-%d hours', $1))
GROUP BY endpoint
ORDER BY endpoint
