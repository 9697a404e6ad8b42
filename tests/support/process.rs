//! Child processes that never outlive the test process, however it ends.

use std::io::Write as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A signal that tests send.
#[derive(Clone, Copy, Debug)]
pub enum Signal {
    /// Please stop.
    Term,
    /// Freeze: what a long pause of the machine looks like.
    Stop,
    /// Thaw.
    Cont,
}

/// Sends a signal to one process.
pub fn signal(pid: u32, signal: Signal) {
    let name = match signal {
        Signal::Term => "TERM",
        Signal::Stop => "STOP",
        Signal::Cont => "CONT",
    };
    // `kill` of the shell itself: present wherever there is a shell, and no unsafe code here.
    let _ = Command::new("sh")
        .args(["-c", &format!("kill -s {name} {pid}")])
        .stderr(Stdio::null())
        .status()
        .expect("run sh");
}

/// Starts a child that is killed when this process ends, even by SIGKILL.
pub fn spawn(command: &mut Command) -> std::io::Result<Child> {
    let child = command.spawn()?;
    Watchdog::get().note(&format!("+{}", child.id()));
    Ok(child)
}

/// To be called when a child has been waited for: its number may soon belong to somebody else.
pub fn forget(pid: u32) {
    Watchdog::get().note(&format!("-{pid}"));
}

/// One shell that reads the numbers of the living children, and kills them when its input ends, which it does when
/// this process is gone. (A parent-death signal would follow the *thread* that started the child, and test threads
/// are short-lived.)
struct Watchdog(Mutex<ChildStdin>);

impl Watchdog {
    fn get() -> &'static Self {
        static WATCHDOG: OnceLock<Watchdog> = OnceLock::new();
        WATCHDOG.get_or_init(|| {
            #[expect(clippy::zombie_processes, reason = "it outlives this process by its purpose")]
            let mut shell = Command::new("sh")
                .args(["-c", SCRIPT])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("run sh");
            Self(Mutex::new(shell.stdin.take().expect("stdin is piped")))
        })
    }

    fn note(&self, line: &str) {
        let mut stdin = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(stdin, "{line}").expect("the watchdog reads");
    }
}

const SCRIPT: &str = r#"
trap '' INT TERM HUP
pids=' '
while read -r line; do
    pid=${line#?}
    case $line in
        +*) pids="$pids$pid " ;;
        -*) pids="${pids%% $pid *} ${pids#* $pid }" ;;
    esac
done
for pid in $pids; do kill -s KILL "$pid" 2>/dev/null; done
"#;
