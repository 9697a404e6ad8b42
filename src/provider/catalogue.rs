//! All definitions by id.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::compile;
use super::{DefinitionError, Provider};

// `EMBEDDED: &[(&str, &str)]`, file name and text of every `providers/*.toml`; made by build.rs.
include!(concat!(env!("OUT_DIR"), "/providers.rs"));

/// The embedded definitions, and an operator's own over them.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    providers: BTreeMap<Arc<str>, Arc<Provider>>,
    aliases: BTreeMap<String, Arc<str>>,
}

impl Catalogue {
    /// The embedded definitions, then every `*.toml` of `dirs` in order: a later definition of the same id wins.
    ///
    /// # Errors
    /// All that is wrong, not only the first.
    pub fn load(dirs: &[PathBuf]) -> Result<Self, Vec<DefinitionError>> {
        let mut catalogue = Self::default();
        let mut errors = Vec::new();
        let embedded =
            EMBEDDED.iter().map(|(name, text)| (format!("embedded:{name}"), Ok((*text).to_owned())));
        let own = dirs.iter().flat_map(|dir| files(dir));
        for (file, text) in embedded.chain(own) {
            match text.and_then(|text| compile::load(&file, &text)) {
                Ok(provider) => errors.extend(catalogue.add(provider)),
                Err(wrong) => errors.extend(wrong),
            }
        }
        if errors.is_empty() { Ok(catalogue) } else { Err(errors) }
    }

    /// A provider by its id or an alias.
    pub fn get(&self, id: &str) -> Option<Arc<Provider>> {
        let id = self.aliases.get(id).map_or(id, |id| id);
        self.providers.get(id).cloned()
    }

    /// All providers, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Provider>> {
        self.providers.values()
    }

    fn add(&mut self, provider: Provider) -> Option<DefinitionError> {
        self.aliases.retain(|_, id| id != provider.id());
        // An id stands above an alias: an operator may define what we have as an alias only.
        self.aliases.remove(&**provider.id());
        for alias in provider.aliases() {
            let taken =
                self.aliases.get(alias).or_else(|| self.providers.get_key_value(&**alias).map(|(id, _)| id));
            if let Some(other) = taken {
                let message = format!("`{alias}` is already a name of `{other}`");
                let file = provider.file().to_owned();
                return Some(DefinitionError { file, line: None, key: "aliases".into(), message });
            }
            self.aliases.insert(alias.clone(), Arc::clone(provider.id()));
        }
        self.providers.insert(Arc::clone(provider.id()), Arc::new(provider));
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
