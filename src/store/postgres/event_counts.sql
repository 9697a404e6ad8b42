SELECT endpoint, sum(events)::bigint AS events, sum(duplicates)::bigint AS duplicates
FROM webhook_counts
WHERE hour >= date_trunc('hour', now(), 'UTC') - make_interval(hours => $1)
GROUP BY endpoint
ORDER BY endpoint
