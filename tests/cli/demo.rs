//! `hookgate demo`.

use std::fs;
use std::net::TcpListener;

use super::{command, finish, hookgate, table_rows};

#[test]
fn once_shows_that_all_went_right_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let [port, admin_port] = free_ports().map(|port| port.to_string());
    let args = ["demo", "--once", "--port", &port, "--admin-port", &admin_port];
    let run = finish(command(folder.path(), &args).env("TMPDIR", folder.path()));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    let rows = table_rows(&run.stdout);
    assert!(rows.len() >= 10, "{}", run.stdout);
    for row in rows {
        assert_eq!(row[0], "✓", "{row:?}");
    }
    let summary = run.stdout.lines().find(|line| line.contains("the database holds")).expect("a summary");
    assert!(summary.starts_with('✓'), "{summary}");
    assert!(!run.stdout.contains('✗'), "{}", run.stdout);
    // A good one, its duplicate, a tampered one, and a burst of which one is stored.
    for part in ["processed", "duplicate", "rejected", "handshake", "1 accepted, 39 duplicate"] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

#[test]
fn a_port_that_is_taken_is_code_1_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let taken = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = taken.local_addr().expect("its address").port().to_string();
    let run = hookgate(folder.path(), &[], &["demo", "--once", "--port", &port]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.starts_with(&format!("error: port {port} is taken")), "{}", run.stderr);
}

/// Two ports that nobody listens on. They lie below those that systems give to outgoing connections, so that a test
/// beside this one does not get them by chance before the demo does.
fn free_ports() -> [u16; 2] {
    let free = || loop {
        if let Ok(socket) = TcpListener::bind(("127.0.0.1", rand::random_range(20_000..30_000))) {
            return socket;
        }
    };
    // Both are held until both are found.
    let sockets = [free(), free()];
    sockets.each_ref().map(|socket| socket.local_addr().expect("its address").port())
}
