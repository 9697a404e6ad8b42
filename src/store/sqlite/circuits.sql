-- Destinations that are not well.
SELECT destination, failures, openings, last_error, failed_at, open_until,
       CASE WHEN open_until IS NULL THEN 'closed'
            WHEN open_until <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now') THEN 'half_open' ELSE 'open' END AS state
FROM circuits
ORDER BY destination
