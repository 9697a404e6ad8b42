SELECT endpoint, max(counted_at) AS counted_at FROM webhook_counts WHERE events > 0 GROUP BY endpoint ORDER BY endpoint
