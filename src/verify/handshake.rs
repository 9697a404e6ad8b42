//! Challenges of the provider.

use super::{Confirmation, Decision, Verified};
use crate::model::{Reason, Rejection, Request, Secret};
use crate::provider::{Astray, Confirm, Provider, Scope};

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
        // Who has a secret learns no other one.
        .filter(|handshake| handshake.learn.is_none() || secret.is_none())
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
    let learn = match handshake.learn.as_ref().map(|learn| learn.render(&scope)).transpose() {
        Ok(learn) => learn.map(|learn| Secret::new(learn.into_owned())),
        Err(trouble) => return refused(&trouble.to_string()),
    };
    let confirm = match handshake.confirm.as_ref().map(|confirm| confirmation(confirm, &scope)).transpose() {
        Ok(confirm) => confirm,
        Err(why) => return refused(&why.to_string()),
    };
    let token = scope.token.clone();
    let mut scope = Scope::new(request);
    scope.token = token;
    scope.challenge = challenge.as_deref();
    scope.secret = secret.map(Secret::expose);
    match handshake.reply.render(&scope) {
        Ok(reply) => Some(Decision::Handshake { reply, verified: proved, learn, confirm }),
        Err(trouble) => refused(&trouble.to_string()),
    }
}

fn confirmation(confirm: &Confirm, scope: &Scope<'_>) -> Result<Confirmation, Astray> {
    Ok(Confirmation { url: confirm.target.url(scope)?, method: confirm.method.clone() })
}
