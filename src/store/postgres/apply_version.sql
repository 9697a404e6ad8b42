-- Notes the version of an event that is about to be worked on; nothing if a newer one was applied. It waits for another
-- transaction that is just applying one of the same key.
INSERT INTO ordering_state (endpoint, ordering_key, version)
VALUES ($1, $2, $3)
ON CONFLICT (endpoint, ordering_key) DO UPDATE SET version = excluded.version, applied_at = now()
WHERE ordering_state.version <= excluded.version
