//! What is SQLite's own: the file.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use hookgate::config::{self, DatabaseUrl};
use hookgate::store::{self, StoreError};

use super::fixture::{Fixture, event};
use crate::support::database::Engine;

#[tokio::test]
async fn nobody_else_can_read_the_file_or_what_stands_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.db");
    let config = config::Database { url: DatabaseUrl::Sqlite(path), max_connections: 2, migrate: true };
    let lock = store::lock_for_serving(&config).unwrap();
    store::migrate(&config).await.unwrap();
    let store = store::connect(&config).await.unwrap();
    store.inbox.accept(&[event("evt_1")]).await.unwrap();
    store.ledger.backlog().await.unwrap();
    let mut names = Vec::new();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["new.db", "new.db-shm", "new.db-wal", "new.db.lock"]);
    drop(lock);
}

#[tokio::test]
async fn one_gateway_serves_from_a_file() {
    let fixture = Fixture::new(Engine::Sqlite).await;
    let lock = store::lock_for_serving(&fixture.config).unwrap();
    let refused = store::lock_for_serving(&fixture.config).expect_err("it is taken");
    assert!(matches!(refused, StoreError::InUse { .. }));
    assert!(refused.to_string().contains("hookgate.db.lock"), "{refused}");
    // Commands work beside it.
    store::connect(&fixture.config).await.unwrap().ledger.backlog().await.unwrap();
    drop(lock);
    store::lock_for_serving(&fixture.config).unwrap();
}

#[test]
fn a_link_is_no_way_around_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let lock = |name: &str| {
        let url = DatabaseUrl::Sqlite(folder.path().join(name));
        store::lock_for_serving(&config::Database { url, max_connections: 2, migrate: true })
    };
    fs::create_dir(folder.path().join("data")).unwrap();
    std::os::unix::fs::symlink("data/new.db", folder.path().join("file")).unwrap();
    std::os::unix::fs::symlink("file", folder.path().join("link")).unwrap();
    std::os::unix::fs::symlink("data", folder.path().join("folder")).unwrap();
    for there in [false, true] {
        if there {
            fs::write(folder.path().join("data/new.db"), "").unwrap();
        }
        let held = lock("data/new.db").unwrap();
        for name in ["file", "link", "folder/new.db", "folder/../file"] {
            let refused = lock(name).expect_err(name);
            assert!(matches!(&refused, StoreError::InUse { .. }), "{name}: {refused}");
        }
        drop(held);
        drop(lock("link").unwrap());
    }
}

#[test]
fn a_file_that_others_could_read_is_closed_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["old.db", "old.db-wal", "old.db-shm"].map(|name| folder.path().join(name));
    for file in &files {
        fs::write(file, "").unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
    }
    let url = DatabaseUrl::Sqlite(files[0].clone());
    let _lock =
        store::lock_for_serving(&config::Database { url, max_connections: 2, migrate: true }).unwrap();
    for file in &files {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
}

#[tokio::test]
async fn any_number_of_gateways_serve_from_postgres() {
    let url = DatabaseUrl::Postgres("postgres://localhost/any".into());
    let config = config::Database { url, max_connections: 2, migrate: true };
    let _first = store::lock_for_serving(&config).unwrap();
    let _second = store::lock_for_serving(&config).unwrap();
}

#[tokio::test]
async fn a_file_that_is_not_there_is_not_made_by_asking() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.db");
    let url = DatabaseUrl::Sqlite(path.clone());
    let refused =
        store::connect(&config::Database { url, max_connections: 2, migrate: true }).await.err().unwrap();
    assert!(refused.to_string().contains("run `hookgate migrate`"), "{refused}");
    assert!(!path.exists());
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_named() {
    let path = PathBuf::from("/nowhere/at/all.db");
    let url = DatabaseUrl::Sqlite(path);
    let refused =
        store::migrate(&config::Database { url, max_connections: 2, migrate: true }).await.unwrap_err();
    assert!(refused.to_string().contains("/nowhere/at/all.db"), "{refused}");
}

#[tokio::test]
async fn writes_are_durable_and_readers_cannot_write() {
    let fixture = Fixture::new(Engine::Sqlite).await;
    let mut unit = fixture.store.inbox.begin(super::fixture::LONG).await.unwrap();
    let mut pragmas = Vec::new();
    for pragma in ["PRAGMA journal_mode", "PRAGMA synchronous", "PRAGMA foreign_keys"] {
        let row = unit.fetch_optional(super::fixture::sql(pragma), &[]).await.unwrap().unwrap();
        pragmas.push(format!("{:?}", row[0]));
    }
    assert_eq!(pragmas, [r#"Text(Some("wal"))"#, "Bigint(Some(2))", "Bigint(Some(1))"]);
    unit.rollback().await;
}
