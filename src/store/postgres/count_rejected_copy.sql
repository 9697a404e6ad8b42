-- A rejected request that is kept already, from the same network: one copy more.
UPDATE quarantine
SET copies = copies + 1, last_received_at = now()
WHERE endpoint = $1 AND digest = $2 AND reason = $3 AND peer_net = $4 AND NOT verified AND released_at IS NULL
