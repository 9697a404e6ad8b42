//! The real program in processes of its own: configured in a temporary folder, on free ports, its log caught.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde_json::Value;
use tempfile::TempDir;

use super::http::{self, Answer};
use super::metrics::Metrics;
use super::process::{self, Signal};
use super::{stripe, wait};

/// The path of the Stripe endpoint.
pub const PATH: &str = "/stripe/webhook";

/// A configuration in a folder of its own. Any number of gateways can be started from it, one after the other or
/// side by side: the ports are chosen by the system.
pub struct GatewayConfig {
    folder: TempDir,
    head: String,
    sections: String,
}

impl GatewayConfig {
    /// A gateway on this database with one Stripe endpoint, `billing`, whose secret is [`stripe::SECRET`].
    /// `mode` is `sync` or `async`.
    pub fn new(database_url: &str, mode: &str) -> Self {
        let head = format!(
            r#"
[server]
listen = "127.0.0.1:0"
drain_delay = "0s"
[admin]
listen = "127.0.0.1:0"
[database]
url = "{database_url}"
[log]
format = "json"
level = "info,hookgate=debug"
[endpoints.billing]
provider = "stripe"
paths = ["{PATH}", "/webhooks/stripe"]
secrets = ["literal:{secret}"]
mode = "{mode}"
"#,
            secret = stripe::SECRET
        );
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { folder, head, sections: String::new() }
    }

    /// Adds TOML at the end: routes, destinations, `[inbox]` and so on.
    #[must_use]
    pub fn with(mut self, toml: &str) -> Self {
        self.sections.push('\n');
        self.sections.push_str(toml);
        self
    }

    /// Makes the Stripe endpoint a proxy of this destination; the mode must be `proxy`.
    #[must_use]
    pub fn proxy(mut self, destination: &str) -> Self {
        let _ = writeln!(self.head, "proxy = \"{destination}\"");
        self
    }

    /// Adds a line to `[server]`.
    #[must_use]
    pub fn server(mut self, line: &str) -> Self {
        self.head = self.head.replacen("[server]\n", &format!("[server]\n{line}\n"), 1);
        self
    }

    /// Another secret for the Stripe endpoint.
    #[must_use]
    pub fn secret(mut self, secret: &str) -> Self {
        self.head = self.head.replacen(stripe::SECRET, secret, 1);
        self
    }

    /// A provider of the test's own.
    #[must_use]
    pub fn definition(mut self, id: &str, toml: &str) -> Self {
        let folder = self.folder.path().join("providers");
        std::fs::create_dir_all(&folder).expect("make the folder");
        std::fs::write(folder.join(format!("{id}.toml")), toml).expect("write the definition");
        if !self.head.starts_with("providers_dirs") {
            self.head.insert_str(0, "providers_dirs = [\"providers\"]\n");
        }
        self
    }

    /// An endpoint at `/ID` with the provider of this id, and an SQL module for all of its events.
    #[must_use]
    pub fn endpoint(self, id: &str, secret: &str, mode: &str, sql: &str, params: &str) -> Self {
        std::fs::write(self.folder.path().join(format!("{id}.sql")), sql).expect("write the module");
        self.with(&format!(
            "[endpoints.{id}]\nprovider = \"{id}\"\npaths = [\"/{id}\"]\nsecrets = [\"literal:{secret}\"]\nmode = \"{mode}\"\n\
             [[routes]]\nendpoint = \"{id}\"\ntypes = [\"*\"]\nsql = \"{id}.sql\"\nparams = {params}\n"
        ))
    }

    /// A built-in handler for some event types of the Stripe endpoint.
    #[must_use]
    pub fn handler(self, name: &str, types: &str) -> Self {
        self.with(&format!(
            "[[routes]]\nendpoint = \"billing\"\ntypes = [\"{types}\"]\nhandler = \"{name}\"\n"
        ))
    }

    /// An SQL module for all event types of the Stripe endpoint.
    #[must_use]
    pub fn sql_handler(self, name: &str, sql: &str) -> Self {
        let file = format!("{name}.sql");
        std::fs::write(self.folder.path().join(&file), sql).expect("write the module");
        self.with(&format!("[[routes]]\nendpoint = \"billing\"\ntypes = [\"*\"]\nsql = \"{file}\"\n"))
    }

    /// An HTTP destination; its deliveries are signed if there is a secret.
    #[must_use]
    pub fn destination(self, name: &str, url: &str, sign: Option<&str>) -> Self {
        let mut toml = format!("[destinations.{name}]\ntype = \"http\"\nurl = \"{url}\"\n");
        if let Some(secret) = sign {
            let _ = writeln!(toml, "sign = \"literal:{secret}\"");
        }
        self.with(&toml)
    }

    /// A file beside the configuration, such as an SQL module for routes that [`GatewayConfig::with`] adds.
    #[must_use]
    pub fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.folder.path().join(name), text).expect("write the file");
        self
    }

    /// Runs another command with the configuration of the last start, to its end; answers its standard output.
    pub fn run(&self, command: &[&str]) -> String {
        let (code, text, errors) = self.try_run(command);
        assert_eq!(code, 0, "{command:?}: {text}{errors}");
        text
    }

    /// The same for a command that may fail: its exit code, standard output and standard error.
    pub fn try_run(&self, command: &[&str]) -> (i32, String, String) {
        let mut program = Command::new(binary());
        program.args(command).args(["--config", "hookgate.toml"]).current_dir(self.folder.path());
        let output = program.env_remove("RUST_LOG").stdin(Stdio::null()).output().expect("run the command");
        let [text, errors] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("UTF-8"));
        (output.status.code().expect("an exit code"), text, errors)
    }

    /// Where `hookgate.toml` is once a gateway has been started.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn output(&self) -> File {
        let path = self.folder.path().join(OUTPUT);
        File::options().create(true).append(true).open(path).expect("open the output's file")
    }

    /// What the gateways have written to standard output until now.
    pub fn written(&self) -> String {
        std::fs::read_to_string(self.folder.path().join(OUTPUT)).expect("UTF-8")
    }

    /// Starts `hookgate serve` and waits until it listens.
    pub async fn start(&self) -> Gateway {
        match self.try_start(&[]).await {
            Ok(gateway) => gateway,
            Err(end) => panic!("the gateway did not start ({}):\n{}", end.status, end.output),
        }
    }

    /// The same with an instruction to crash: see `src/failpoint.rs`.
    pub async fn start_to_crash_at(&self, place: &str) -> Gateway {
        match self.try_start(&[("HOOKGATE_CRASH_AT", place)]).await {
            Ok(gateway) => gateway,
            Err(end) => panic!("the gateway did not start ({}):\n{}", end.status, end.output),
        }
    }

    /// Starts `hookgate serve` with further environment variables; an error is its end before it listened.
    pub async fn try_start(&self, environment: &[(&str, &str)]) -> Result<Gateway, End> {
        std::fs::write(self.folder.path().join("hookgate.toml"), format!("{}{}", self.head, self.sections))
            .expect("write the configuration");
        let mut command = Command::new(binary());
        command
            .args(["serve", "--config", "hookgate.toml"])
            .current_dir(self.folder.path())
            .env_remove("RUST_LOG")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(self.output())
            .stderr(Stdio::piped());
        let child = process::spawn(&mut command).expect("start the gateway");
        Gateway::listening(child).await
    }
}

/// What the gateways of one configuration write to their standard output.
const OUTPUT: &str = "output";

/// Names another program to test, for `tests/mutants.rs`.
pub const TEST_BINARY: &str = "HOOKGATE_TEST_BINARY";

fn binary() -> String {
    std::env::var(TEST_BINARY).unwrap_or_else(|_| env!("CARGO_BIN_EXE_hookgate").to_owned())
}

/// How a gateway ended.
#[derive(Debug)]
pub struct End {
    /// Its exit status.
    pub status: ExitStatus,
    /// All it wrote to standard error.
    pub output: String,
}

/// A running gateway. Dropping it kills it.
pub struct Gateway {
    child: Child,
    log: Log,
    reaped: bool,
    /// Where providers' requests go.
    pub ingress: SocketAddr,
    /// Health and metrics.
    pub admin: SocketAddr,
}

impl Gateway {
    async fn listening(mut child: Child) -> Result<Self, End> {
        let log = Log::read(child.stderr.take().expect("stderr is piped"));
        let start = wait::until("the gateway to listen", async || {
            if let Some(line) = log.named("listening").into_iter().next() {
                return Some(Ok(line));
            }
            child.try_wait().expect("wait for the child").map(Err)
        })
        .await;
        match start {
            Ok(line) => {
                let address = |name| field(&line, name).as_str().and_then(|text| text.parse().ok());
                let ingress = address("ingress").expect("the line `listening` has the field `ingress`");
                let admin = address("admin").expect("the line `listening` has the field `admin`");
                Ok(Self { child, log, reaped: false, ingress, admin })
            }
            Err(status) => {
                process::forget(child.id());
                Err(End { status, output: log.finish() })
            }
        }
    }

    /// Sends bytes to the Stripe endpoint, signed now with the right secret.
    pub async fn deliver(&self, body: impl Into<Bytes>) -> Result<Answer, String> {
        let body = body.into();
        let signature = stripe::signature(&body);
        self.post(&signature, body).await
    }

    /// Sends bytes to the Stripe endpoint with this `Stripe-Signature`.
    pub async fn post(&self, signature: &str, body: impl Into<Bytes>) -> Result<Answer, String> {
        let headers: [(&str, &[u8]); 2] =
            [("stripe-signature", signature.as_bytes()), ("content-type", b"application/json")];
        http::post(self.ingress, PATH, &headers, body).await
    }

    /// The metrics of this moment.
    pub async fn metrics(&self) -> Metrics {
        Metrics::scrape(self.admin).await
    }

    /// The log lines with this name until now. The log comes through a pipe, a little later than answers do.
    pub fn lines(&self, name: &str) -> Vec<Value> {
        self.log.named(name)
    }

    /// Waits until there are at least `count` log lines with this name.
    pub async fn wait_for_lines(&self, name: &str, count: usize) -> Vec<Value> {
        wait::until(&format!("{count} lines `{name}`"), async || {
            let lines = self.lines(name);
            (lines.len() >= count).then_some(lines)
        })
        .await
    }

    /// The whole log until now.
    pub fn log(&self) -> String {
        self.log.text()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended by itself. [`Gateway::ended`] then says how.
    pub fn is_gone(&mut self) -> bool {
        self.child.try_wait().expect("wait for the child").is_some()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        process::signal(self.child.id(), signal);
    }

    /// SIGKILL, and waits until it is gone.
    pub async fn kill(mut self) -> End {
        self.child.kill().expect("kill the gateway");
        self.ended().await
    }

    /// SIGTERM, and waits until it is gone.
    pub async fn terminate(self) -> End {
        self.signal(Signal::Term);
        self.ended().await
    }

    /// Waits until it ends by itself.
    pub async fn ended(mut self) -> End {
        let status =
            wait::until("the gateway to end", async || self.child.try_wait().expect("wait for the child"))
                .await;
        self.reaped = true;
        process::forget(self.child.id());
        End { status, output: self.log.finish() }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        if !self.reaped {
            let _ = self.child.kill();
            let _ = self.child.wait();
            process::forget(self.child.id());
        }
        if std::thread::panicking() {
            eprintln!("--- log of the gateway\n{}---", self.log.text());
        }
    }
}

/// One field of a log line.
pub fn field<'a>(line: &'a Value, name: &str) -> &'a Value {
    line.get("fields").and_then(|fields| fields.get(name)).or_else(|| line.get(name)).unwrap_or(&Value::Null)
}

/// The lines that a gateway has written to standard error.
struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    reader: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Log {
    fn read(stderr: std::process::ChildStderr) -> Self {
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let written = Arc::clone(&lines);
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
                lock(&written).push(String::from_utf8_lossy(&line).into_owned());
            }
        });
        Self { lines, reader: Mutex::new(Some(reader)) }
    }

    fn named(&self, name: &str) -> Vec<Value> {
        let lines = lock(&self.lines);
        // Most lines are of another name: look at the text before reading it as JSON.
        let candidates = lines.iter().filter(|line| line.contains(name));
        let parsed = candidates.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        parsed.filter(|line| field(line, "message") == name).collect()
    }

    fn text(&self) -> String {
        lock(&self.lines).iter().fold(String::new(), |text, line| text + line + "\n")
    }

    /// The whole log of a process that has ended.
    fn finish(&self) -> String {
        if let Some(reader) = lock(&self.reader).take() {
            let _ = reader.join();
        }
        self.text()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
