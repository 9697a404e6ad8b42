//! Secrets that come in band, and the calls that providers wait for.

use std::time::Duration;

use hookgate::model::{CONFIRMATIONS, Secret};
use hookgate::store::{Confirm, Lesson};

use super::fixture::{Fixture, lane};
use crate::support::database::{Engine, both_engines};

both_engines!(
    a_secret_is_learned_only_while_the_endpoint_is_armed,
    the_first_secret_stays_until_it_is_forgotten,
    of_two_secrets_that_come_together_one_is_learned,
    armed_endpoints_and_learned_secrets_are_listed,
    a_confirmation_waits_once_and_is_claimed_like_any_message,
);

const MINUTE: Duration = Duration::from_mins(1);

fn secret(text: &str) -> Secret {
    Secret::new(text)
}

async fn a_secret_is_learned_only_while_the_endpoint_is_armed(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let learned = &fixture.store.learned;
    assert_eq!(learned.learn("asana", &secret("one")).await.unwrap(), Lesson::NotArmed);
    learned.arm("other", MINUTE).await.unwrap().expect("armed");
    assert_eq!(learned.learn("asana", &secret("one")).await.unwrap(), Lesson::NotArmed);
    learned.arm("asana", MINUTE).await.unwrap().expect("armed");
    let past = fixture.dialect("now() - interval '1 second'", "'2000-01-01T00:00:00.000Z'");
    fixture.raw.execute(&format!("UPDATE armed_endpoints SET armed_until = {past}")).await;
    assert_eq!(learned.learn("asana", &secret("one")).await.unwrap(), Lesson::NotArmed);
    assert_eq!(learned.learned("asana").await.unwrap(), None);
    // Armed again, and for longer than it was.
    learned.arm("asana", MINUTE).await.unwrap().expect("armed");
    assert_eq!(learned.learn("asana", &secret("one")).await.unwrap(), Lesson::Learned);
    assert_eq!(learned.learned("asana").await.unwrap(), Some(secret("one")));
}

async fn the_first_secret_stays_until_it_is_forgotten(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let learned = &fixture.store.learned;
    learned.arm("asana", MINUTE).await.unwrap().expect("armed");
    assert_eq!(learned.learn("asana", &secret("one")).await.unwrap(), Lesson::Learned);
    assert_eq!(learned.learn("asana", &secret("one")).await.unwrap(), Lesson::Known);
    assert_eq!(learned.learn("asana", &secret("two")).await.unwrap(), Lesson::Taken);
    assert_eq!(learned.arm("asana", MINUTE).await.unwrap(), None);
    assert_eq!(learned.learned("asana").await.unwrap(), Some(secret("one")));
    assert!(learned.forget("asana").await.unwrap());
    assert!(!learned.forget("asana").await.unwrap());
    assert_eq!(learned.learn("asana", &secret("two")).await.unwrap(), Lesson::NotArmed);
    learned.arm("asana", MINUTE).await.unwrap().expect("armed");
    assert_eq!(learned.learn("asana", &secret("two")).await.unwrap(), Lesson::Learned);
}

async fn of_two_secrets_that_come_together_one_is_learned(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    fixture.store.learned.arm("asana", MINUTE).await.unwrap().expect("armed");
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            let learned = fixture.store.learned.clone();
            tokio::spawn(async move { learned.learn("asana", &secret(&format!("secret {number}"))).await })
        })
        .collect();
    let mut lessons = Vec::new();
    for task in tasks {
        lessons.push(task.await.unwrap().unwrap());
    }
    let count = |wanted| lessons.iter().filter(|lesson| **lesson == wanted).count();
    assert_eq!((count(Lesson::Learned), count(Lesson::Known)), (1, 0), "{lessons:?}");
}

async fn armed_endpoints_and_learned_secrets_are_listed(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let learned = &fixture.store.learned;
    learned.arm("a", MINUTE).await.unwrap().expect("armed");
    let until = learned.arm("b", MINUTE).await.unwrap().expect("armed");
    learned.learn("a", &secret("one")).await.unwrap();
    let rows = learned.learners().await.unwrap();
    let of = |at: usize| (rows[at].endpoint.as_str(), rows[at].learned_at.is_some(), rows[at].armed_until);
    assert_eq!(rows.len(), 2);
    assert_eq!((of(0), of(1)), (("a", true, None), ("b", false, Some(until))));
}

async fn a_confirmation_waits_once_and_is_claimed_like_any_message(engine: Engine) {
    let fixture = Fixture::new(engine).await;
    let confirm = Confirm {
        provider: "aws_sns".into(),
        endpoint: "topics".into(),
        message_id: "msg_1".into(),
        payload: r#"{"url":"https://sns.example.com/","method":"GET"}"#.into(),
    };
    for _ in 0..2 {
        fixture.store.inbox.confirm(&confirm).await.unwrap();
    }
    let lane = lane(CONFIRMATIONS, 10);
    let claimed = fixture.store.outbox.claim(10, &[lane]).await.unwrap();
    assert_eq!(claimed.len(), 1);
    let message = &claimed[0].item;
    assert_eq!((&*message.key.endpoint, &*message.message_id), ("topics", "msg_1"));
    assert_eq!(message.aggregate_type, "webhook_confirmation");
}
