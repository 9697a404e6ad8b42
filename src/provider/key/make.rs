//! What a secret's text, or a fetched one, is to a variant: a key of the kind that its algorithm takes, or nothing.

use super::{Key, Kind, PublicKey, is_public};
use crate::model::Secret;
use crate::provider::algorithm::Algorithm;
use crate::provider::jws::JwsAlgorithm;
use crate::provider::plan::{TokenRules, Variant};
use crate::provider::template::{Scope, Template, Trouble};

impl Variant {
    /// The keys that `template` makes; several only where it reads a set of them.
    ///
    /// # Errors
    /// Why there is none, as what follows "the secret cannot be used:".
    pub(crate) fn keys_by(&self, template: &Template, scope: &Scope<'_>) -> Result<Vec<Key>, String> {
        if let Some(read) = template.public_keys(scope) {
            return self.of_my_kinds(read.map_err(|trouble| problem(&trouble))?);
        }
        let bytes = template.render(scope).map_err(|trouble| problem(&trouble))?;
        if bytes.is_empty() {
            return Err("nothing is left of it without its prefix".into());
        }
        let key = match self.algorithm {
            Algorithm::Public(scheme) => {
                let key = PublicKey::new(scheme.kind(), bytes.into_owned());
                Key::Public(key.ok_or_else(|| format!("it is not {}", scheme.kind().name()))?)
            }
            Algorithm::Jws if !self.token.as_ref().is_some_and(TokenRules::takes_shared) => {
                return Err("only public keys are used here: `key` needs the filter `public-key`".into());
            }
            // Everybody knows a public key: as a shared secret it would let anybody sign.
            Algorithm::Jws if is_public(&bytes) => {
                return Err("it is a public key, and tokens are signed with a shared secret here".into());
            }
            _ => Key::Shared(Secret::new(bytes.into_owned())),
        };
        Ok(vec![key])
    }

    fn of_my_kinds(&self, keys: Vec<PublicKey>) -> Result<Vec<Key>, String> {
        let kinds = self.kinds();
        let first = keys.first().map_or("nothing", |key| key.kind().name());
        let fitting: Vec<Key> =
            keys.into_iter().filter(|key| kinds.contains(&key.kind())).map(Key::Public).collect();
        if !fitting.is_empty() {
            return Ok(fitting);
        }
        let wanted: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        let wanted = if wanted.is_empty() { "a shared secret".into() } else { wanted.join(" or ") };
        Err(format!("it is {first}, and {wanted} is needed"))
    }

    /// The kinds of public keys that its algorithms take.
    fn kinds(&self) -> Vec<Kind> {
        let mut kinds = Vec::new();
        let allowed = self.token.iter().flat_map(|rules| &rules.allow).filter_map(|allowed| match allowed {
            JwsAlgorithm::Public(scheme) => Some(*scheme),
            JwsAlgorithm::Shared(_) => None,
        });
        let own = match self.algorithm {
            Algorithm::Public(scheme) => Some(scheme),
            _ => None,
        };
        for kind in allowed.chain(own).map(crate::provider::scheme::Scheme::kind) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }
}

fn problem(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Absent(_) => "it has not the form that this provider uses".into(),
        _ => trouble.to_string(),
    }
}
