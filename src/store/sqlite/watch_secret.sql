-- From now on a secret's matches are known.
INSERT INTO secret_matches (endpoint, fingerprint)
VALUES ($1, $2)
ON CONFLICT (endpoint, fingerprint) DO NOTHING
