//! A real PgBouncer in front of the tests' PostgreSQL: Debian's package, which root installs, on a free port of the
//! loopback interface.

use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::str::FromStr as _;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use sqlx::postgres::PgConnectOptions;
use tempfile::TempDir;

use super::postgres::{exists, id};
use super::{packages, process, wait};

/// Names the mode of a pooler that the store's whole suite runs through.
const TEST_POOLER: &str = "HOOKGATE_TEST_POOLER";

/// The URL of the same database through the pooler of this test process, if one is asked for.
pub fn of_this_run(url: &str) -> String {
    static POOLER: OnceLock<Option<PgBouncer>> = OnceLock::new();
    let pooler =
        POOLER.get_or_init(|| std::env::var(TEST_POOLER).ok().map(|mode| PgBouncer::start(url, &mode)));
    pooler.as_ref().map_or_else(|| url.to_owned(), |pooler| pooler.url(url))
}

/// A running pooler. Dropping it ends it.
pub struct PgBouncer {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl PgBouncer {
    /// In front of the server of this URL; `mode` is `transaction` or `session`. There are few sessions, so that they
    /// change hands all the time where they may.
    pub fn start(url: &str, mode: &str) -> Self {
        let sessions = if mode == "session" { 20 } else { 3 };
        // Every test has a database of its own: what is left of one must not use up the server.
        let settings = format!("pool_mode = {mode}\ndefault_pool_size = {sessions}\nserver_idle_timeout = 2");
        Self::with(url, &settings)
    }

    /// With these settings, on a port of its own.
    pub fn with(url: &str, settings: &str) -> Self {
        Self::at(url, free_port(), settings)
    }

    /// On this port.
    pub fn at(url: &str, port: u16, settings: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("hookgate-pgbouncer-").tempdir().expect("a folder");
        let file = folder.path().join("pgbouncer.ini");
        std::fs::write(&file, ini(url, port, settings)).expect("write the configuration");
        let mut command = Command::new(program());
        command.arg("-q").arg(&file).current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if id("-u", None) == 0 {
            // It refuses to run as root, and the server's socket is in a folder of this user's.
            let owner = if exists("postgres") { "postgres" } else { "nobody" };
            let (user, group) = (id("-u", Some(owner)), id("-g", Some(owner)));
            for path in [folder.path(), &file] {
                chown(path, Some(user), Some(group)).expect("give the folder away");
            }
            command.uid(user).gid(group);
        }
        let mut child = process::spawn(&mut command).expect("run pgbouncer");
        let deadline = Instant::now() + wait::PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(child.try_wait().expect("wait for the child").is_none(), "pgbouncer has ended");
            assert!(Instant::now() < deadline, "pgbouncer does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { child, port, _folder: folder }
    }

    /// The URL of the same database through the pooler.
    pub fn url(&self, direct: &str) -> String {
        let options = PgConnectOptions::from_str(direct).expect("a PostgreSQL URL");
        let database = options.get_database().expect("it names a database");
        format!("postgres://{}@127.0.0.1:{}/{database}?sslmode=disable", options.get_username(), self.port)
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        process::forget(self.child.id());
    }
}

/// A port that nobody listens on now.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port()
}

fn ini(url: &str, port: u16, settings: &str) -> String {
    let options = PgConnectOptions::from_str(url).expect("a PostgreSQL URL");
    let host = match options.get_socket() {
        Some(folder) => folder.display().to_string(),
        None => options.get_host().to_owned(),
    };
    let (server, user) = (options.get_port(), options.get_username());
    format!(
        "[databases]\n* = host={host} port={server} user={user}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
         listen_port = {port}\nunix_socket_dir =\nauth_type = any\nmax_client_conn = 400\n{settings}\n"
    )
}

fn program() -> &'static str {
    const PROGRAM: &str = "/usr/sbin/pgbouncer";
    if !Path::new(PROGRAM).is_file() {
        packages::apt_install("pgbouncer").expect("install pgbouncer: as root, or apt-get install pgbouncer");
    }
    PROGRAM
}
