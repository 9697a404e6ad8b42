//! All definitions by id.
//!
//! The embedded ones are only indexed at first: each is read and compiled when it is asked for, so that a start costs
//! what the providers in use cost. An operator's own are compiled at once, so that their faults stop the start.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::compile;
use super::{DefinitionError, Provider};

// `EMBEDDED: &[(&str, &[&str], &str)]`, id, aliases and text of every `providers/*.toml`; made by build.rs.
include!(concat!(env!("OUT_DIR"), "/providers.rs"));

/// The embedded definitions, and an operator's own over them.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    entries: BTreeMap<Cow<'static, str>, Arc<Entry>>,
    aliases: BTreeMap<Cow<'static, str>, Cow<'static, str>>,
}

#[derive(Debug)]
struct Entry {
    /// The text of an embedded definition, until it is asked for.
    text: &'static str,
    provider: OnceLock<Result<Arc<Provider>, Vec<DefinitionError>>>,
}

impl Entry {
    fn provider(&self, id: &str) -> Result<&Arc<Provider>, &Vec<DefinitionError>> {
        let compile = || compile::load(&format!("embedded:{id}.toml"), self.text).map(Arc::new);
        self.provider.get_or_init(compile).as_ref()
    }
}

impl Catalogue {
    /// The embedded definitions, then every `*.toml` of `dirs` in order: a later definition of the same id wins.
    ///
    /// # Errors
    /// All that is wrong in `dirs`, not only the first; for the embedded ones there is [`Catalogue::faults`].
    pub fn load(dirs: &[PathBuf]) -> Result<Self, Vec<DefinitionError>> {
        let mut catalogue = Self::default();
        let mut errors = Vec::new();
        for (id, aliases, text) in EMBEDDED {
            let entry = Entry { text, provider: OnceLock::new() };
            let aliases = aliases.iter().map(|alias| Cow::Borrowed(*alias)).collect();
            errors.extend(catalogue.add(Cow::Borrowed(id), aliases, entry, &format!("embedded:{id}.toml")));
        }
        for (file, text) in dirs.iter().flat_map(|dir| files(dir)) {
            match text.and_then(|text| compile::load(&file, &text)) {
                Ok(provider) => errors.extend(catalogue.add_own(provider)),
                Err(wrong) => errors.extend(wrong),
            }
        }
        if errors.is_empty() { Ok(catalogue) } else { Err(errors) }
    }

    /// A provider by its id or an alias.
    pub fn get(&self, id: &str) -> Option<Arc<Provider>> {
        let id = self.aliases.get(id).map_or(id, |id| id);
        self.entries.get(id)?.provider(id).ok().cloned()
    }

    /// All ids, in order; nothing is compiled for it.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(|id| &**id)
    }

    /// All providers, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Provider>> {
        self.entries.iter().filter_map(|(id, entry)| entry.provider(id).ok())
    }

    /// What is wrong with embedded definitions: nothing, as a test and `hookgate check` make sure. A definition with
    /// a fault is not found.
    pub fn faults(&self) -> Vec<DefinitionError> {
        self.entries.iter().filter_map(|(id, entry)| entry.provider(id).err()).flatten().cloned().collect()
    }

    fn add_own(&mut self, provider: Provider) -> Option<DefinitionError> {
        let id = Cow::Owned(provider.id().to_string());
        let aliases = provider.aliases().iter().cloned().map(Cow::Owned).collect();
        let file = provider.file().to_owned();
        let entry = Entry { text: "", provider: OnceLock::from(Ok(Arc::new(provider))) };
        self.add(id, aliases, entry, &file)
    }

    fn add(
        &mut self,
        id: Cow<'static, str>,
        aliases: Vec<Cow<'static, str>>,
        entry: Entry,
        file: &str,
    ) -> Option<DefinitionError> {
        self.aliases.retain(|_, known| *known != id);
        // An id stands above an alias: an operator may define what we have as an alias only.
        self.aliases.remove(&id);
        for alias in aliases {
            let taken =
                self.aliases.get(&alias).or_else(|| self.entries.get_key_value(&alias).map(|(id, _)| id));
            if let Some(other) = taken {
                let message = format!("`{alias}` is already a name of `{other}`");
                return Some(DefinitionError {
                    file: file.to_owned(),
                    line: None,
                    key: "aliases".into(),
                    message,
                });
            }
            self.aliases.insert(alias, id.clone());
        }
        self.entries.insert(id, Arc::new(entry));
        None
    }
}

type File = (String, Result<String, Vec<DefinitionError>>);

/// The definitions in a folder, by name.
fn files(dir: &Path) -> Vec<File> {
    let unreadable = |path: &Path, error: &std::io::Error| {
        let file = path.display().to_string();
        let message = format!("cannot be read: {error}");
        (file.clone(), Err(vec![DefinitionError { file, line: None, key: String::new(), message }]))
    };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => return vec![unreadable(dir, &error)],
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let read = |path: &PathBuf| match fs::read_to_string(path) {
        Ok(text) => (path.display().to_string(), Ok(text)),
        Err(error) => unreadable(path, &error),
    };
    paths.iter().map(read).collect()
}
