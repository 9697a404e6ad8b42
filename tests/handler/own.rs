//! A handler of the embedding program's own, with sqlx queries through the open transaction.

use hookgate::handler::{Handler, HandlerError, Outcome, Payload, async_trait, sqlx};
use hookgate::model::Event;
use hookgate::store::{Sql, Tx};

use super::support::{databases, event, number};

/// Remembers each customer once.
struct Greet;

#[async_trait]
impl Handler for Greet {
    async fn handle(&self, tx: &mut Tx, event: &Event) -> Result<Outcome, HandlerError> {
        const INSERT: &str = "INSERT INTO greeted (customer) VALUES ($1) ON CONFLICT DO NOTHING";
        let customer = Payload::of(event)?.text("/data/object/id")?;
        let written = if let Some(connection) = tx.postgres() {
            sqlx::query(INSERT).bind(&customer).execute(connection).await?.rows_affected()
        } else if let Some(connection) = tx.sqlite() {
            sqlx::query(INSERT).bind(&customer).execute(connection).await?.rows_affected()
        } else {
            return Err(HandlerError::permanent("greet.engine", "no engine that this handler knows"));
        };
        Ok(if written == 1 { Outcome::Done } else { Outcome::Idempotent { key: customer } })
    }
}

#[tokio::test]
async fn an_own_handler_reads_the_payload_and_writes_through_the_transaction() {
    for db in databases().await {
        let mut tx = db.begin().await;
        tx.execute_text("CREATE TABLE greeted (customer text PRIMARY KEY)", &[]).await.unwrap();
        let event = event("customer.created", "evt_1", r#"{"data":{"object":{"id":"cus_1"}}}"#);
        assert_eq!(Greet.handle(&mut tx, &event).await.unwrap(), Outcome::Done);
        assert_eq!(Greet.handle(&mut tx, &event).await.unwrap(), Outcome::Idempotent { key: "cus_1".into() });
        assert_eq!(number(&mut tx, Sql::same("SELECT count(*) FROM greeted"), &[]).await, 1);
    }
}

#[tokio::test]
async fn the_question_mark_turns_an_sql_error_into_a_retryable_failure_with_its_code() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let event = event("customer.created", "evt_1", r#"{"data":{"object":{"id":"cus_1"}}}"#);
        let error = Greet.handle(&mut tx, &event).await.unwrap_err();
        let code = if tx.postgres().is_some() { "handler.sql.42P01" } else { "handler.sql.1" };
        assert_eq!((error.code.as_str(), error.retryable), (code, true));
        assert!(error.to_string().contains("greeted"), "the table that is missing: {error}");
    }
}

#[test]
fn a_body_of_another_shape_is_a_permanent_failure_without_its_values() {
    let error = HandlerError::from(serde_json::from_str::<u8>("\"secret\"").unwrap_err());
    assert_eq!((error.code.as_str(), error.retryable), ("handler.payload", false));
    assert!(!format!("{error} {error:?}").contains("secret"));
    assert!(error.cause().unwrap().to_string().contains("secret"));
}
