//! Ready means: the store answers, and nobody told us to stop.

use std::sync::atomic::Ordering::SeqCst;

use super::rig::Rig;
use crate::support::http::get;
use crate::support::wait::until;

async fn becomes(rig: &Rig, status: u16, body: &str) {
    until(&format!("/readyz to answer {status} {body}"), async || {
        let page = get(rig.address, "/readyz").await.unwrap();
        (page.status == status && page.text() == body).then_some(())
    })
    .await;
}

#[tokio::test]
async fn readiness_follows_the_store() {
    let rig = Rig::on_loopback().await;
    becomes(&rig, 200, r#"{"ready":true,"store":true,"draining":false}"#).await;
    rig.store.up.store(false, SeqCst);
    becomes(&rig, 503, r#"{"ready":false,"store":false,"draining":false}"#).await;
    assert_eq!(get(rig.address, "/healthz").await.unwrap().status, 200, "it is alive all the same");
    rig.store.up.store(true, SeqCst);
    becomes(&rig, 200, r#"{"ready":true,"store":true,"draining":false}"#).await;
}

#[tokio::test]
async fn a_gateway_that_was_told_to_stop_is_not_ready() {
    let rig = Rig::on_loopback().await;
    becomes(&rig, 200, r#"{"ready":true,"store":true,"draining":false}"#).await;
    rig.draining.cancel();
    becomes(&rig, 503, r#"{"ready":false,"store":true,"draining":true}"#).await;
}
