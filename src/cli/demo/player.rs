//! Plays the providers: makes each scene's requests, sends them, and notes what came back.

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use futures_util::future::try_join_all;

use super::story::{Make, Scene};
use crate::app::sender::{self, Answer, Sender};
use crate::clock::Timestamp;
use crate::config::{Config, Endpoint};
use crate::model::{Headers, Request};
use crate::provider::SampleIds;

/// A scene and what came of it.
pub(super) struct Played {
    pub(super) scene: &'static Scene,
    /// The status and outcome of each request.
    pub(super) answers: Vec<(u16, String)>,
}

impl Played {
    /// Whether it ended as the story has it: a single request with its outcome, of many copies exactly one.
    pub(super) fn is_right(&self) -> bool {
        let hits = self.answers.iter().filter(|(_, outcome)| outcome == self.scene.expected).count();
        let copies = self.answers.iter().filter(|(_, outcome)| outcome == "duplicate").count();
        match self.answers.len() {
            0 | 1 => hits == 1,
            all => hits == 1 && copies == all - 1,
        }
    }
}

/// Plays one scene after the other against a gateway.
pub(super) struct Player<'a> {
    pub(super) config: &'a Config,
    pub(super) sender: Sender,
    pub(super) origin: String,
    /// The time of the whole story: a redelivery carries the same bytes.
    pub(super) now: Timestamp,
}

impl Player<'_> {
    /// Sends what the scene says.
    ///
    /// # Errors
    /// The gateway did not answer, or a sample is missing.
    pub(super) async fn play(&self, scene: &'static Scene) -> anyhow::Result<Played> {
        let requests = self.requests(scene)?;
        let answers = try_join_all(requests.iter().map(|request| self.sender.send(request)));
        let answers = answers.await.map_err(|error| anyhow!(error))?;
        Ok(Played {
            scene,
            answers: answers.into_iter().map(|Answer { status, outcome, .. }| (status, outcome)).collect(),
        })
    }

    fn requests(&self, scene: &Scene) -> anyhow::Result<Vec<Request>> {
        let endpoint = self.endpoint(scene.endpoint)?;
        let now = self.now;
        let object = "DemoOther";
        let request = match &scene.make {
            Make::Sample { event_type, event, object } => {
                self.sample(endpoint, event_type, event, object, endpoint, now)?
            }
            Make::Tampered { event_type, event, object } => {
                let request = self.sample(endpoint, event_type, event, object, endpoint, now)?;
                Request { body: sender::tampered(&request.body), ..request }
            }
            Make::Late { event_type, event, seconds } => {
                let signed_at = now - Duration::from_secs(*seconds);
                self.sample(endpoint, event_type, event, object, endpoint, signed_at)?
            }
            Make::SecretOf { endpoint: other, event_type, event } => {
                self.sample(endpoint, event_type, event, object, self.endpoint(other)?, now)?
            }
            Make::Body(text) => {
                let mut headers = Headers::new();
                headers.push("content-type", *b"application/json");
                self.signed(endpoint, headers, (*text).into(), endpoint, now)?
            }
            Make::Copies { event_type, event, copies } => {
                return Ok(vec![self.sample(endpoint, event_type, event, object, endpoint, now)?; *copies]);
            }
        };
        Ok(vec![request])
    }

    fn sample(
        &self,
        endpoint: &Endpoint,
        event_type: &str,
        event: &str,
        object: &str,
        signer: &Endpoint,
        at: Timestamp,
    ) -> anyhow::Result<Request> {
        let samples = endpoint.provider.samples();
        let sample = samples.iter().find(|sample| sample.event_type == event_type).with_context(|| {
            format!("the definition of {} has no sample of {event_type}", endpoint.provider.id())
        })?;
        let (headers, body) = sample.render(&SampleIds { event: event.into(), object: object.into() }, at);
        self.signed(endpoint, headers, body, signer, at)
    }

    fn signed(
        &self,
        endpoint: &Endpoint,
        headers: Headers,
        body: bytes::Bytes,
        signer: &Endpoint,
        at: Timestamp,
    ) -> anyhow::Result<Request> {
        let path = endpoint.paths.first().context("an endpoint without a path")?;
        let secret = &signer.secrets.first().context("an endpoint without a secret")?.secret;
        let request = sender::post(&self.origin, path, headers, body);
        sender::signed(request, &endpoint.provider, secret, at).map_err(|error| anyhow!(error))
    }

    fn endpoint(&self, name: &str) -> anyhow::Result<&Endpoint> {
        self.config.endpoints.get(name).map(AsRef::as_ref).with_context(|| format!("no endpoint `{name}`"))
    }
}
