-- Secrets that a provider hands over in band. The first one of an endpoint stays until an operator forgets it.
CREATE TABLE learned_secrets (
    endpoint   TEXT NOT NULL PRIMARY KEY CHECK (endpoint <> ''),
    secret     BLOB NOT NULL CHECK (length(secret) > 0),
    learned_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

-- Endpoints that wait for such a secret, by an operator's order and for a while.
CREATE TABLE armed_endpoints (
    endpoint    TEXT NOT NULL PRIMARY KEY CHECK (endpoint <> ''),
    armed_until TEXT NOT NULL
) STRICT;
