//! Challenges of the provider.

use super::{Decision, Verified};
use crate::model::{Reason, Rejection, Request, Secret};
use crate::provider::{Provider, Scope};

/// The answer, if the request is a handshake that belongs here: before the proof or after it. `secret` is what
/// answers are signed with.
pub(super) fn answer(
    request: &Request,
    provider: &Provider,
    secret: Option<&Secret>,
    proof: Option<&Verified>,
) -> Option<Decision> {
    let proved = proof.is_some();
    let mut scope = Scope::new(request);
    scope.token = proof.and_then(|proof| proof.token().cloned());
    let handshake = provider
        .handshakes()
        .iter()
        .filter(|handshake| handshake.signed == proved)
        .find(|handshake| handshake.when.iter().all(|condition| condition.holds(&scope)))?;
    let refused = |why: &str| {
        let detail = format!("handshake `{}`: {why}", handshake.name);
        Some(Decision::Rejected(Rejection::new(Reason::HandshakeMismatch, detail)))
    };
    if !handshake.require.iter().all(|condition| condition.holds(&scope)) {
        return refused("it does not carry the expected token");
    }
    let challenge = match handshake.challenge.as_ref().map(|challenge| challenge.render(&scope)).transpose() {
        Ok(challenge) => challenge,
        Err(trouble) => return refused(&trouble.to_string()),
    };
    let token = scope.token.clone();
    let mut scope = Scope::new(request);
    scope.token = token;
    scope.challenge = challenge.as_deref();
    scope.secret = secret.map(Secret::expose);
    match handshake.reply.render(&scope) {
        Ok(reply) => Some(Decision::Handshake { reply, verified: proved, learn: None, confirm: None }),
        Err(trouble) => refused(&trouble.to_string()),
    }
}
