INSERT INTO webhook_counts (endpoint, hour, events, duplicates)
VALUES ($1, strftime('%Y-%m-%dT%H:00:00.000Z', 'now'), $2, $3)
ON CONFLICT (endpoint, hour) DO UPDATE
SET events = webhook_counts.events + excluded.events,
    duplicates = webhook_counts.duplicates + excluded.duplicates,
    counted_at = excluded.counted_at
