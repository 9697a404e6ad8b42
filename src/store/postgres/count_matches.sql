-- A secret has matched $3 times more.
INSERT INTO secret_matches (endpoint, fingerprint, matched_at, matches)
VALUES ($1, $2, now(), $3)
ON CONFLICT (endpoint, fingerprint) DO UPDATE
SET matched_at = excluded.matched_at, matches = secret_matches.matches + excluded.matches
