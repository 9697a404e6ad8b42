-- What an endpoint's rejected requests take: all of them, those of reason $2, those from network $3.
SELECT count(*), CAST(coalesce(sum(bytes), 0) AS bigint),
       count(*) FILTER (WHERE reason = $2), CAST(coalesce(sum(bytes) FILTER (WHERE reason = $2), 0) AS bigint),
       count(*) FILTER (WHERE peer_net = $3), CAST(coalesce(sum(bytes) FILTER (WHERE peer_net = $3), 0) AS bigint)
FROM quarantine
WHERE endpoint = $1 AND (NOT verified OR reason = 'wrong_environment')
