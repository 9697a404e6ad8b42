//! What handlers must not do, and that it is never acknowledged.
//!
//! PostgreSQL answers COMMIT of a failed transaction with a rollback and no error, so that a driver's `commit()` alone
//! would say that all is well.

use hookgate::model::NewEvent;
use hookgate::store::{Sql, StoreError, Unit};

use super::fixture::{DONE, Fixture, LONG, event, sql, stored};
use crate::support::database::{Engine, both_engines};

both_engines!(
    a_handler_that_commits_is_not_acknowledged,
    a_handler_that_rolls_back_is_not_acknowledged,
    a_handler_that_commits_and_begins_anew_is_not_acknowledged,
    a_handler_that_ignores_an_error_is_not_acknowledged,
    a_handler_that_leaves_a_savepoint_of_its_own_is_acknowledged,
    a_spoiled_connection_serves_nobody_else,
);

const BAD: Sql =
    Sql { postgres: "INSERT INTO no_such_table VALUES (1)", sqlite: "INSERT INTO no_such_table VALUES (1)" };

async fn a_handler_that_commits_is_not_acknowledged(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    refused(&fixture, &["COMMIT"]).await;
    // The row that it committed is unprocessed: the redelivery works on it.
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox WHERE processed_at IS NULL").await, 1);
    assert_eq!(fixture.claim(10).await.len(), 1);
}

async fn a_handler_that_rolls_back_is_not_acknowledged(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    refused(&fixture, &["ROLLBACK"]).await;
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 0);
}

async fn a_handler_that_commits_and_begins_anew_is_not_acknowledged(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    refused(&fixture, &["COMMIT", "BEGIN"]).await;
    assert_eq!(
        fixture.raw.count("SELECT count(*) FROM webhook_inbox WHERE processed_at IS NOT NULL").await,
        0
    );
}

async fn a_handler_that_ignores_an_error_is_not_acknowledged(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let event = event("evt_1");
    let mut unit = entered(&fixture, &event).await;
    assert!(unit.execute(BAD, &[]).await.is_err());
    assert!(matches!(unit.leave().await, Err(StoreError::Fenced)));
    unit.rollback().await;
    assert_eq!(fixture.raw.count("SELECT count(*) FROM webhook_inbox").await, 0);
}

async fn a_handler_that_leaves_a_savepoint_of_its_own_is_acknowledged(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let event = event("evt_1");
    let mut unit = entered(&fixture, &event).await;
    unit.execute(sql("SAVEPOINT mine"), &[]).await.unwrap();
    unit.leave().await.unwrap();
    unit.finish(&event.key, &DONE).await.unwrap();
    unit.commit().await.unwrap();
    assert_eq!(
        fixture.raw.count("SELECT count(*) FROM webhook_inbox WHERE processed_at IS NOT NULL").await,
        1
    );
}

async fn a_spoiled_connection_serves_nobody_else(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    for statements in [["COMMIT", "BEGIN"].as_slice(), &["ROLLBACK"], &["COMMIT"], &["ROLLBACK", "BEGIN"]] {
        refused(&fixture, statements).await;
    }
    for round in 0..10 {
        fixture.process(&event(&format!("evt_good_{round}"))).await;
    }
    let done =
        "SELECT count(*) FROM webhook_inbox WHERE event_id LIKE 'evt_good_%' AND outcome = 'processed'";
    assert_eq!(fixture.raw.count(done).await, 10);
}

/// Runs these past the unit's own face, as a handler with the bare connection could, and finds them out.
async fn refused(fixture: &Fixture, statements: &[&'static str]) {
    let event = event("evt_1");
    let mut unit = entered(fixture, &event).await;
    for statement in statements {
        if let Some(connection) = unit.postgres() {
            sqlx::raw_sql(*statement).execute(connection).await.unwrap();
        } else if let Some(connection) = unit.sqlite() {
            sqlx::raw_sql(*statement).execute(connection).await.unwrap();
        }
    }
    assert!(matches!(unit.leave().await, Err(StoreError::Fenced)));
    unit.rollback().await;
}

async fn entered(fixture: &Fixture, event: &NewEvent) -> Unit {
    let mut unit = fixture.store.inbox.begin(LONG).await.unwrap();
    unit.insert(event).await.unwrap();
    unit.enter(&stored(event), "route", LONG).await.unwrap();
    unit
}
