-- Counted up to $2.
SELECT count(*) FROM (SELECT 1 FROM quarantine WHERE endpoint = $1 LIMIT $2) kept
