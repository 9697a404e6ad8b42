//! The pairs of a form or query, sorted and joined.

/// How they are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Params {
    /// Between name and value.
    between: String,
    /// Between pairs.
    joiner: String,
    /// Names that are left out.
    except: Vec<String>,
    flags: Vec<Flag>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
    /// Of equal pairs only one.
    Unique,
    /// Without empty values.
    Nonempty,
    /// Without names.
    Values,
    /// What stands between pairs or in them is `_` in a value.
    Mask,
}

const FLAGS: [(&str, Flag); 4] =
    [("unique", Flag::Unique), ("nonempty", Flag::Nonempty), ("values", Flag::Values), ("mask", Flag::Mask)];

impl Params {
    /// Reads `KV:JOINER:EXCEPT`, and perhaps `:FLAGS`.
    ///
    /// # Errors
    /// How it is written.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').collect();
        let (between, joiner, except, flags) = match parts[..] {
            [between, joiner, except] => (between, joiner, except, ""),
            [between, joiner, except, flags] => (between, joiner, except, flags),
            _ => {
                return Err(
                    "it is written join_params:KV:JOINER:EXCEPT or join_params:KV:JOINER:EXCEPT:FLAGS, \
                            for example join_params:=:&:sign"
                        .into(),
                );
            }
        };
        let list = |text: &str| -> Vec<String> {
            text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
        };
        let flag = |text: String| {
            let known = FLAGS.iter().find(|(name, _)| *name == text).map(|(_, flag)| *flag);
            let names: Vec<&str> = FLAGS.iter().map(|(name, _)| *name).collect();
            known.ok_or_else(|| format!("`{text}` is no flag of join_params; flags are {}", names.join(", ")))
        };
        Ok(Self {
            between: between.to_owned(),
            joiner: joiner.to_owned(),
            except: list(except),
            flags: list(flags).into_iter().map(flag).collect::<Result<_, _>>()?,
        })
    }

    /// The pairs of `form`, decoded once, in the order of their names; those of one name in their own.
    pub(super) fn join(&self, form: &[u8]) -> Result<String, String> {
        let mut pairs: Vec<(String, String)> =
            serde_urlencoded::from_bytes(form).map_err(|_| "is not a form")?;
        pairs.retain(|(name, value)| {
            let dropped = self.has(Flag::Nonempty) && value.is_empty();
            !dropped && !self.except.contains(name)
        });
        if self.has(Flag::Unique) {
            pairs.sort();
            pairs.dedup();
        } else {
            pairs.sort_by(|(left, _), (right, _)| left.cmp(right));
        }
        let pairs = pairs.into_iter().map(|(name, value)| {
            let value = if self.has(Flag::Mask) { self.masked(&value) } else { value };
            if self.has(Flag::Values) { value } else { format!("{name}{}{value}", self.between) }
        });
        Ok(pairs.collect::<Vec<_>>().join(&self.joiner))
    }

    fn has(&self, flag: Flag) -> bool {
        self.flags.contains(&flag)
    }

    fn masked(&self, value: &str) -> String {
        let separates = |char: char| self.between.contains(char) || self.joiner.contains(char);
        value.chars().map(|char| if separates(char) { '_' } else { char }).collect()
    }
}
