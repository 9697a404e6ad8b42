//! Where a story happens: the gateways' configuration, and the tables that their handlers write to.

use super::senders::Endpoint;
use super::targets::{PATIENCE, Targets};
use crate::support::database::{Database, Engine};
use crate::support::gateway::{GatewayConfig, PATH};
use crate::support::stripe;

/// Signs the deliveries to `crm`.
const SIGNING_SECRET: &str = "whsec_c2lnbnMtdGhlLWRlbGl2ZXJpZXMtb2YtY2hhb3M=";

/// What no gateway may say.
pub const SECRETS: [&str; 2] = [stripe::SECRET, SIGNING_SECRET];

/// The endpoint that answers after the work is done.
pub const SYNC: Endpoint = Endpoint { name: "billing", path: PATH, is_async: false };
/// The endpoint that answers before it.
pub const ASYNC: Endpoint = Endpoint { name: "queue", path: "/queue", is_async: true };

/// An empty database with the tables of the handlers. `effects` has no unique constraint, which would hide what is done
/// twice.
pub async fn database(engine: Engine) -> Database {
    let database = Database::new(engine).await;
    let bytes = if engine == Engine::Postgres { "bytea" } else { "blob" };
    database
        .execute(&format!(
            "CREATE TABLE effects (endpoint text NOT NULL, event_id text NOT NULL, body {bytes} NOT NULL)"
        ))
        .await;
    database.execute("CREATE TABLE dice (eyes integer NOT NULL CHECK (eyes > 0))").await;
    database
}

/// A gateway with both endpoints. All handlers leave an effect and fail at 5 % of their runs.
pub fn config(engine: Engine, database: &Database, targets: &Targets) -> GatewayConfig {
    let (dice, slow) = match engine {
        Engine::Postgres => ("floor(random() * 20)", "SELECT pg_sleep(0.3);"),
        Engine::Sqlite => ("abs(random()) % 20", "SELECT 1;"),
    };
    let note = format!(
        "INSERT INTO effects (endpoint, event_id, body) VALUES (:endpoint, :event_id, :body);
         INSERT INTO dice (eyes) SELECT CAST({dice} AS integer);"
    );
    let mut config = GatewayConfig::new(&database.url, "sync")
        .file("note.sql", &note)
        .file("slow.sql", slow)
        .file("doomed.sql", "INSERT INTO dice (eyes) VALUES (0);")
        .with(&format!(
            "[endpoints.queue]\nprovider = \"stripe\"\npaths = [\"{}\"]\nsecrets = [\"literal:{}\"]\nmode = \"async\"\n",
            ASYNC.path,
            stripe::SECRET
        ))
        .with(ROUTES)
        .with(TIMES);
    for (name, url) in targets.urls() {
        config = config.with(&format!(
            "[destinations.{name}]\ntype = \"http\"\nurl = \"{url}\"\nsign = \"literal:{SIGNING_SECRET}\"\n\
             timeout = \"{}ms\"\nmax_attempts = 1000\n",
            PATIENCE.as_millis()
        ));
    }
    config
}

const ROUTES: &str = r#"
[[routes]]
endpoint = "*"
types = ["*"]
sql = "note.sql"
[[routes]]
endpoint = "*"
types = ["chaos.slow"]
sql = "slow.sql"
[[routes]]
endpoint = "*"
types = ["chaos.doomed"]
sql = "doomed.sql"
[[routes]]
endpoint = "*"
types = ["chaos.plain", "chaos.hole"]
forward = ["crm"]
[[routes]]
endpoint = "*"
types = ["chaos.late"]
forward = ["late"]
[[routes]]
endpoint = "*"
types = ["chaos.hole"]
forward = ["hole"]
"#;

/// Leases that end soon, but not so soon that a busy machine lets them run out.
const TIMES: &str = r#"
[inbox]
lease = "3s"
statement_timeout = "2s"
work_timeout = "2500ms"
sync_timeout = "10s"
poll_interval = "50ms"
backoff_cap = "1s"
[outbox]
lease = "3s"
work_timeout = "2500ms"
poll_interval = "50ms"
backoff_cap = "1s"
"#;
