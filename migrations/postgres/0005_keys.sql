-- Secrets that a provider hands over in band. The first one of an endpoint stays until an operator forgets it.
CREATE TABLE learned_secrets (
    endpoint   text PRIMARY KEY CHECK (endpoint <> ''),
    secret     bytea NOT NULL CHECK (octet_length(secret) > 0),
    learned_at timestamptz NOT NULL DEFAULT now()
);

-- Endpoints that wait for such a secret, by an operator's order and for a while.
CREATE TABLE armed_endpoints (
    endpoint    text PRIMARY KEY CHECK (endpoint <> ''),
    armed_until timestamptz NOT NULL
);
