INSERT INTO replays (endpoint, filter, route, new_ids, rate, ordered_by, total)
VALUES ($1, $2, $3, $4, $5, $6, $7)
RETURNING id
