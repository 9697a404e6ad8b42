#!/usr/bin/env bash
# Retention of many rows on PostgreSQL while events come in and are worked on: prints how long it takes, and every
# statement that took more than 100 ms; there should be none.
#
#   tests/nightly/prune.sh [ROWS]        10,000,000 unless said (about 700 bytes of disk each, and as much WAL as
#                                        max_wal_size, 1 GB, lets stand)
#
# HOOKGATE names the program (target/release/hookgate), PGBIN the folder of PostgreSQL's programs, TMPDIR where the
# cluster stands. It needs no root; as root it takes the user `postgres`. Nothing outlives it.
set -euo pipefail
cd "$(dirname "$0")/../.."

rows=${1:-10000000}
program=$(realpath "${HOOKGATE:-target/release/hookgate}")
bin=${PGBIN:-$(dirname "$(ls /usr/lib/postgresql/*/bin/initdb | tail -1)")}
folder=$(mktemp -d "${TMPDIR:-/tmp}/hookgate-prune-XXXXXX")
limit=100 # milliseconds
as=()
if [ "$(id -u)" = 0 ]; then
    as=(setpriv --reuid postgres --regid postgres --clear-groups)
    chown postgres "$folder"
fi

server= gateway= sender=
end() {
    for pid in $sender $gateway; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done
    if [ -n "$server" ]; then kill -INT "$server" 2>/dev/null && wait "$server" 2>/dev/null || true; fi
    rm -rf "$folder"
}
trap end EXIT

(cd "$folder" && "${as[@]}" "$bin/initdb" -D data -U postgres --auth=trust --encoding=UTF8 --locale=C >initdb.log)
(cd "$folder" && exec "${as[@]}" "$bin/postgres" -D data -k "$folder" -c listen_addresses= -c shared_buffers=512MB \
    -c max_wal_size=1GB -c log_min_duration_statement=$limit) >"$folder/server.log" 2>&1 &
server=$!
psql() { "$bin/psql" -X -q -h "$folder" -U postgres -v ON_ERROR_STOP=1 "$@" postgres; }
until psql -c 'SELECT 1' >/dev/null 2>&1; do sleep 0.2; done

cat >"$folder/hookgate.toml" <<TOML
[server]
listen = "127.0.0.1:0"
[admin]
listen = "127.0.0.1:0"
[database]
url = "postgres://postgres@localhost/postgres?host=$folder"
[log]
format = "json"
[retention]
payload = "1h"
keys = "120d"
[endpoints.billing]
provider = "stripe"
paths = ["/stripe"]
secrets = ["literal:whsec_nightly_0123456789abcdef01234567"]
mode = "async"
[[routes]]
endpoint = "billing"
types = ["*"]
sql = "note.sql"
TOML
echo 'INSERT INTO effects (event_id) VALUES (:event_id);' >"$folder/note.sql"
"$program" migrate --config "$folder/hookgate.toml"
psql -c 'CREATE TABLE effects (event_id text)'

echo "writing $rows events, half of them older than their key's age"
started=$SECONDS
psql -c "
INSERT INTO webhook_inbox (provider, endpoint, event_id, event_type, body, body_sha256, headers, request_id, received_at,
                           available_at, processed_at, outcome)
SELECT 'stripe', 'billing', 'old_' || n, 'invoice.paid', convert_to(rpad('{\"id\":' || n || '}', 100), 'UTF8'),
       decode(repeat('00', 32), 'hex'), '[]', '00000000-0000-0000-0000-000000000000', t, t, t, 'processed'
FROM (SELECT n, now() - interval '240 days' + n * (interval '239 days' / $rows) AS t
      FROM generate_series(1, $rows) n) s"
psql -c "VACUUM (ANALYZE) webhook_inbox"
echo "written in $((SECONDS - started)) s; $(psql -At -c "SELECT pg_size_pretty(pg_database_size('postgres'))")"
: >"$folder/server.log"

"$program" serve --config "$folder/hookgate.toml" 2>"$folder/gateway.log" &
gateway=$!
until grep -q '"listening"' "$folder/gateway.log"; do sleep 0.2; done
port=$(sed -n 's/.*"ingress":"127.0.0.1:\([0-9]*\)".*/\1/p' "$folder/gateway.log" | head -1)
(
    trap 'kill "$one"; exit' TERM
    while :; do
        "$program" send billing --count 500 --concurrency 8 --url "http://127.0.0.1:$port" \
            --config "$folder/hookgate.toml" >>"$folder/send.log" 2>&1 &
        one=$!
        wait "$one" || true
    done
) &
sender=$!

started=$SECONDS
"$program" prune --config "$folder/hookgate.toml"
echo "pruned in $((SECONDS - started)) s"
kill "$sender" && wait "$sender" 2>/dev/null || true
sender=
echo "events received and worked on meanwhile: $(psql -At -c 'SELECT count(*) FROM effects')"
slow=$(grep -c 'duration: ' "$folder/server.log" || true)
echo "statements over $limit ms: $slow"
grep -A3 'duration: ' "$folder/server.log" | cut -c1-240 | head -40 || true
[ "$slow" = 0 ]
