SELECT body_sha256 FROM webhook_inbox WHERE provider = $1 AND endpoint = $2 AND event_id = $3
