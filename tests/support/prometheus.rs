//! A real Prometheus with its Alertmanager, on free ports, in a folder of their own.
//!
//! The programs are the machine's own (in `PATH`), else Debian's packages, which root installs. The services that come
//! with them are not wanted.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc;
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::{http, packages, process};

/// How long a server may take until it listens.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program of Prometheus's family, ready to get its arguments.
pub fn program(name: &str) -> Command {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        if ["prometheus", "promtool", "prometheus-alertmanager", "amtool"].iter().all(|name| in_path(name)) {
            return;
        }
        let installed = packages::apt_install("prometheus prometheus-alertmanager");
        let stop = ["disable", "--now", "prometheus", "prometheus-alertmanager"];
        let _ = packages::run(Command::new("systemctl").args(stop)); // where there is systemd
        if let Err(why) = installed {
            panic!(
                "The dashboards are tested with a real Prometheus, and there is none.\n{why}\n\
                 Install it (Debian: apt-get install prometheus prometheus-alertmanager)."
            );
        }
    });
    Command::new(name)
}

/// The machine's Python, which needs no packages.
pub fn python() -> Command {
    if !in_path("python3") {
        packages::apt_install("python3").unwrap_or_else(|why| panic!("Install Python 3.\n{why}"));
    }
    Command::new("python3")
}

/// Runs a program to its end with this text as its input; answers what it wrote, as an error if it failed.
pub fn run(command: &mut Command, input: &str) -> Result<String, String> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    fs::write(file.path(), input).expect("write the input");
    let input = fs::File::open(file.path()).expect("open the input");
    let output = command.stdin(input).output().map_err(|why| format!("{command:?}: {why}"))?;
    let told =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    if output.status.success() { Ok(told) } else { Err(told) }
}

/// A server that is killed when it is dropped.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    /// Starts it and reads from its log where it listens.
    fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = process::spawn(command).expect("start the server");
        let log = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let (found, address) = mpsc::channel();
        std::thread::spawn(move || {
            let mut told = String::new();
            for line in log.lines().map_while(Result::ok) {
                if line.contains("msg=\"Listening on\"") {
                    let _ = found.send(line.rsplit_once("address=").and_then(|(_, text)| text.parse().ok()));
                }
                told.push_str(&line);
                told.push('\n');
            }
            drop(found); // it ended, or never listened
            if !told.contains("Listening on") {
                eprintln!("{told}");
            }
        });
        let address = address.recv_timeout(PATIENCE).ok().flatten().expect("the server listens");
        Self { child, address }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        process::forget(self.child.id());
    }
}

/// A running Prometheus.
pub struct Prometheus(Server);

impl Prometheus {
    /// Starts one on `prometheus.yml` in this folder; its data go to `data` there, where blocks may lie already.
    pub fn start(folder: &Path) -> Self {
        Self(Server::start(program("prometheus").current_dir(folder).args([
            "--config.file=prometheus.yml",
            "--storage.tsdb.path=data",
            "--web.listen-address=127.0.0.1:0",
        ])))
    }

    /// The present series of an expression; an error is Prometheus's own refusal.
    pub async fn query(&self, expression: &str) -> Result<Vec<Sample>, String> {
        let query = utf8_percent_encode(expression, NON_ALPHANUMERIC);
        let answer = http::get(self.0.address, &format!("/api/v1/query?query={query}")).await?;
        let answer: Value = serde_json::from_str(&answer.text()).map_err(|why| why.to_string())?;
        if answer["status"] != "success" {
            return Err(answer["error"].to_string());
        }
        let samples = answer["data"]["result"].as_array().cloned().unwrap_or_default();
        Ok(samples.into_iter().map(Sample).collect())
    }

    /// The alerts of this moment, pending ones too.
    pub async fn alerts(&self) -> Vec<Value> {
        let answer = http::get(self.0.address, "/api/v1/alerts").await.expect("Prometheus answers");
        let answer: Value = serde_json::from_str(&answer.text()).expect("JSON");
        answer["data"]["alerts"].as_array().cloned().unwrap_or_default()
    }
}

/// One series with its present value.
#[derive(Debug)]
pub struct Sample(Value);

impl Sample {
    /// A label's value, or nothing.
    pub fn label(&self, name: &str) -> &str {
        self.0["metric"][name].as_str().unwrap_or("")
    }

    /// The value.
    pub fn value(&self) -> f64 {
        self.0["value"][1].as_str().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
    }
}

/// A running Alertmanager.
pub struct Alertmanager(Server);

impl Alertmanager {
    /// Starts one on `alertmanager.yml` in this folder.
    pub fn start(folder: &Path) -> Self {
        Self(Server::start(program("prometheus-alertmanager").current_dir(folder).args([
            "--config.file=alertmanager.yml",
            "--storage.path=alertmanager",
            "--web.listen-address=127.0.0.1:0",
            "--cluster.listen-address=",
        ])))
    }

    /// Where it takes alerts.
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }
}

fn in_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}
