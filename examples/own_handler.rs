//! A gateway with a handler of its own: every command of `hookgate`, and routes that say `handler = "greet"`.
//!
//! ```sh
//! cargo run --example own_handler -- serve --config hookgate.toml
//! ```

use std::process::ExitCode;
use std::sync::Arc;

use hookgate::cli::Program;
use hookgate::handler::{Handler, HandlerError, NameTaken, Outcome, Payload};
use hookgate::model::{Event, NewMessage};
use hookgate::store::{Param, Sql, Tx};

/// Remembers each customer once, and tells whoever the route's `emit` names.
struct Greet;

const REMEMBER: &str = "INSERT INTO greeted (customer) VALUES ($1) ON CONFLICT DO NOTHING";

#[async_trait::async_trait]
impl Handler for Greet {
    async fn handle(&self, tx: &mut Tx, event: &Event) -> Result<Outcome, HandlerError> {
        let customer = Payload::of(event)?.text("/data/object/id")?;
        let remember = Sql { postgres: REMEMBER, sqlite: REMEMBER };
        if tx.execute(remember, &[Param::Text(Some(customer.clone()))]).await? == 0 {
            return Ok(Outcome::Idempotent { key: customer });
        }
        let message = NewMessage {
            aggregate_type: "Customer".into(),
            aggregate_id: customer,
            event_type: "CustomerGreeted".into(),
            payload: serde_json::json!({ "idempotency_key": event.idempotency_key("greet") }).to_string(),
        };
        tx.emit(event, &message).await?;
        Ok(Outcome::Done)
    }
}

fn main() -> Result<ExitCode, NameTaken> {
    Ok(Program::default().handler("greet", Arc::new(Greet))?.main())
}
