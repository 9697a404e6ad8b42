SELECT endpoint, fingerprint, since, matched_at, matches FROM secret_matches ORDER BY endpoint, fingerprint
