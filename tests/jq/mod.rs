//! jq expressions: what they may, what they may not, and what they cost.

mod budget;
mod refusals;
mod results;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hookgate::jq::{Answer, EvaluationError, Expression, Question, RunError, Runner};

/// Long enough for a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

fn expression(text: &str) -> Arc<Expression> {
    Arc::new(Expression::new(text).unwrap_or_else(|error| panic!("{text}: {error:?}")))
}

fn filter(text: &str) -> Question {
    Question { filter: Some(expression(text)), transform: None }
}

fn transform(text: &str) -> Question {
    Question { filter: None, transform: Some(expression(text)) }
}

async fn ask(body: &str, questions: Vec<Question>, first: bool) -> Result<Answer, RunError> {
    let event = Bytes::from_static(br#"{"id":"evt_1","type":"invoice.paid"}"#);
    Runner::new(1, PATIENCE).ask(Bytes::copy_from_slice(body.as_bytes()), event, questions, first).await
}

/// The only output over a body, as text.
async fn output(text: &str, body: &str) -> Result<String, EvaluationError> {
    match ask(body, vec![transform(text)], false).await {
        Ok(answer) => {
            let body = answer[0].1.clone().expect("an output");
            Ok(String::from_utf8(body.to_vec()).expect("UTF-8"))
        }
        Err(RunError::Failed(_, _, error)) => Err(error),
        Err(RunError::Busy) => panic!("{text}: busy"),
    }
}
