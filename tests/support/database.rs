//! A database for each test, on either engine, and questions to it past the gateway.

use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{AssertSqlSafe, Row as _};
use std::time::Duration;
use tempfile::TempDir;

use super::{postgres, wait};

/// The two engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A file.
    Sqlite,
    /// The throw-away cluster, or `TEST_DATABASE_URL`.
    Postgres,
}

/// Declares each test of the list for both engines: `both_engines!(a_test, another);` for
/// `async fn a_test(engine: Engine)`.
macro_rules! both_engines {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test] async fn $name() { super::$name($crate::support::database::Engine::Sqlite).await; })+
        }
        mod postgres {
            $(#[tokio::test] async fn $name() { super::$name($crate::support::database::Engine::Postgres).await; })+
        }
    };
}
pub(crate) use both_engines;

/// An empty database.
pub struct Database {
    /// For the gateway's configuration.
    pub url: String,
    pool: Pool,
    _folder: Option<TempDir>,
}

enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Database {
    /// A new one.
    pub async fn new(engine: Engine) -> Self {
        match engine {
            Engine::Sqlite => Self::sqlite(),
            Engine::Postgres => Self::postgres().await,
        }
    }

    /// A copy of it as it is now (SQLite).
    pub async fn copy(&self) -> Self {
        let copy = Self::sqlite();
        let file = copy.url.strip_prefix("sqlite://").expect("a file");
        self.execute(&format!("VACUUM INTO '{file}'")).await;
        copy
    }

    fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("hookgate.db");
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .create_if_missing(true)
            .busy_timeout(Duration::from_secs(20));
        let pool = Pool::Sqlite(SqlitePoolOptions::new().max_connections(2).connect_lazy_with(options));
        Self { url: format!("sqlite://{}", file.display()), pool, _folder: Some(folder) }
    }

    async fn postgres() -> Self {
        let url = postgres::database().await;
        let pool =
            PgPoolOptions::new().max_connections(3).connect(&url).await.expect("connect to PostgreSQL");
        Self { url, pool: Pool::Postgres(pool), _folder: None }
    }

    /// Makes a table in which handlers of a test note their effects. It has no unique constraint, which would hide
    /// what is done twice.
    pub async fn with_effects(self) -> Self {
        self.execute("CREATE TABLE effects (event_id text NOT NULL)").await;
        self
    }

    /// Runs one statement.
    pub async fn execute(&self, sql: &str) {
        let sql = AssertSqlSafe(sql.to_owned());
        let ended = match &self.pool {
            Pool::Sqlite(pool) => sqlx::query(sql).execute(pool).await.map(|_| ()),
            Pool::Postgres(pool) => sqlx::query(sql).execute(pool).await.map(|_| ()),
        };
        ended.expect("run the statement");
    }

    /// Whether the database refuses a statement.
    pub async fn refuses(&self, sql: &str) -> bool {
        let sql = AssertSqlSafe(sql.to_owned());
        match &self.pool {
            Pool::Sqlite(pool) => sqlx::query(sql).execute(pool).await.is_err(),
            Pool::Postgres(pool) => sqlx::query(sql).execute(pool).await.is_err(),
        }
    }

    /// How PostgreSQL would run a statement whose parameters are numbers.
    pub async fn plan(&self, sql: &str) -> String {
        let Pool::Postgres(pool) = &self.pool else { panic!("only PostgreSQL explains itself so") };
        let sql = (1..10).fold(sql.to_owned(), |sql, n| sql.replace(&format!("${n}"), "10"));
        let plan: Vec<String> = sqlx::query_scalar(AssertSqlSafe(format!("EXPLAIN {sql}")))
            .fetch_all(pool)
            .await
            .expect("explain");
        plan.join("\n")
    }

    /// One number.
    pub async fn count(&self, sql: &str) -> i64 {
        let sql = AssertSqlSafe(sql.to_owned());
        let number = match &self.pool {
            Pool::Sqlite(pool) => sqlx::query_scalar(sql).fetch_one(pool).await,
            Pool::Postgres(pool) => sqlx::query_scalar(sql).fetch_one(pool).await,
        };
        number.expect("count")
    }

    /// The first two columns, which must be text, of all rows.
    pub async fn pairs(&self, sql: &str) -> Vec<(String, String)> {
        let sql = AssertSqlSafe(sql.to_owned());
        match &self.pool {
            Pool::Sqlite(pool) => {
                let rows = sqlx::query(sql).fetch_all(pool).await.expect("read");
                rows.iter().map(|row| (row.get(0), row.get(1))).collect()
            }
            Pool::Postgres(pool) => {
                let rows = sqlx::query(sql).fetch_all(pool).await.expect("read");
                rows.iter().map(|row| (row.get(0), row.get(1))).collect()
            }
        }
    }

    /// All columns, which must be text, of all rows; NULL is an empty text.
    pub async fn texts(&self, sql: &str) -> Vec<Vec<String>> {
        let sql = AssertSqlSafe(sql.to_owned());
        macro_rules! read {
            ($pool:expr) => {{
                let rows = sqlx::query(sql).fetch_all($pool).await.expect("read");
                let text = |value: Option<String>| value.unwrap_or_default();
                rows.iter().map(|row| (0..row.len()).map(|n| text(row.get(n))).collect()).collect()
            }};
        }
        match &self.pool {
            Pool::Sqlite(pool) => read!(pool),
            Pool::Postgres(pool) => read!(pool),
        }
    }

    /// An expression for a column of bytes as lower-case hexadecimal text.
    pub fn hex(&self, column: &str) -> String {
        match &self.pool {
            Pool::Sqlite(_) => format!("lower(hex({column}))"),
            Pool::Postgres(_) => format!("encode({column}, 'hex')"),
        }
    }

    /// The first column, which must be bytes, of all rows.
    pub async fn bytes(&self, sql: &str) -> Vec<Vec<u8>> {
        let sql = AssertSqlSafe(sql.to_owned());
        let rows = match &self.pool {
            Pool::Sqlite(pool) => sqlx::query_scalar(sql).fetch_all(pool).await,
            Pool::Postgres(pool) => sqlx::query_scalar(sql).fetch_all(pool).await,
        };
        rows.expect("read")
    }

    /// Waits until a query gives this number.
    pub async fn wait_for(&self, sql: &str, number: i64) {
        wait::until(&format!("{number} from {sql}"), async || {
            (self.count(sql).await == number).then_some(())
        })
        .await;
    }

    /// How many statements of other connections wait for a lock (PostgreSQL).
    pub async fn blocked(&self) -> i64 {
        self.sessions("wait_event_type = 'Lock'").await
    }

    /// How many other connections are in a transaction (PostgreSQL).
    pub async fn busy(&self) -> i64 {
        self.sessions("xact_start IS NOT NULL").await
    }

    async fn sessions(&self, which: &str) -> i64 {
        let sql = "SELECT count(*) FROM pg_stat_activity \
                   WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
        self.count(&format!("{sql} AND {which}")).await
    }

    /// Cuts one connection of a gateway, whatever it is doing (PostgreSQL).
    pub async fn cut_a_gateway_off(&self) {
        self.texts(
            "SELECT CAST(pg_terminate_backend(pid) AS text) FROM pg_stat_activity \
             WHERE datname = current_database() AND application_name = 'hookgate' \
             ORDER BY state = 'active' DESC, random() LIMIT 1",
        )
        .await;
    }

    /// Locks a table of PostgreSQL against writers until the answer is dropped or released: handlers that write to it
    /// are slow for exactly as long as a test wants them to be.
    pub async fn hold(&self, table: &str) -> Held {
        let Pool::Postgres(pool) = &self.pool else { panic!("only PostgreSQL can lock one table") };
        let mut transaction = pool.begin().await.expect("begin");
        let sql = AssertSqlSafe(format!("LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE"));
        sqlx::query(sql).execute(&mut *transaction).await.expect("lock the table");
        Held(transaction)
    }
}

/// A locked table.
pub struct Held(sqlx::Transaction<'static, sqlx::Postgres>);

impl Held {
    /// Lets the writers go on.
    pub async fn release(self) {
        self.0.rollback().await.expect("roll back");
    }
}
