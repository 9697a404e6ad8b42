-- Keeps a request that came $19 seconds ago; of a genuine one that is kept already, the copy is counted.
INSERT INTO quarantine (provider, endpoint, reason, hint, detail, event_id, headers, body, body_sha256, verified, request_id,
                        method, url, peer, peer_net, by_proxy, credentials, bytes, received_at, last_received_at, digest)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::uuid,
        $12, $13, $14, $15, $16, $17, $18, now() - make_interval(secs => $19), now() - make_interval(secs => $19), $20)
ON CONFLICT (endpoint, body_sha256, reason, coalesce(event_id, '')) WHERE verified AND released_at IS NULL DO UPDATE
SET copies = quarantine.copies + 1, last_received_at = excluded.last_received_at
