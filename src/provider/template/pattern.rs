//! The shape of a value: fixed text with `{named}` captures, for example `sha256={signature}`.

/// A parsed pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// Fixed text, then the name of what follows it.
    captures: Vec<(String, String)>,
    /// Fixed text at the end.
    tail: String,
    ignore_case: bool,
}

impl Pattern {
    /// Reads a pattern. `ignore_case` is about its fixed text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &str, ignore_case: bool) -> Result<Self, String> {
        let mut captures: Vec<(String, String)> = Vec::new();
        let mut rest = text;
        while let Some((fixed, after)) = rest.split_once('{') {
            let (name, tail) = after.split_once('}').ok_or("a `{` is not closed")?;
            if fixed.is_empty() && !captures.is_empty() {
                return Err("two captures need fixed text between them".into());
            }
            if name.is_empty() || captures.iter().any(|(_, known)| known == name) {
                return Err(format!("`{{{name}}}`: every capture has a name of its own"));
            }
            captures.push((fixed.to_owned(), name.to_owned()));
            rest = tail;
        }
        let pattern = Self { captures, tail: rest.to_owned(), ignore_case };
        if !pattern.names().any(|name| name == "signature") {
            return Err("a pattern has one `{signature}` in it, for example `sha256={signature}`".into());
        }
        Ok(pattern)
    }

    /// The names of its captures.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.captures.iter().map(|(_, name)| name.as_str())
    }

    /// What its captures hold in `value`, or `None` if it has another shape.
    pub(crate) fn read<'a>(&'a self, value: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
        let mut rest = value;
        let mut out: Vec<(&str, &str)> = Vec::with_capacity(self.captures.len());
        for (at, (fixed, name)) in self.captures.iter().enumerate() {
            rest = self.skip(rest, fixed)?;
            let next = self.captures.get(at + 1).map(|(fixed, _)| fixed.as_str());
            let end = match next {
                Some(fixed) => rest.find(fixed)?,
                None => rest.len().checked_sub(self.tail.len())?,
            };
            out.push((name, rest.get(..end)?));
            rest = rest.get(end..)?;
        }
        self.skip(rest, &self.tail)?.is_empty().then_some(out)
    }

    /// The value whose captures are these.
    pub(crate) fn write(&self, capture: impl Fn(&str) -> String) -> String {
        let mut out = String::new();
        for (fixed, name) in &self.captures {
            out.push_str(fixed);
            out.push_str(&capture(name));
        }
        out.push_str(&self.tail);
        out
    }

    fn skip<'a>(&self, value: &'a str, fixed: &str) -> Option<&'a str> {
        let head = value.get(..fixed.len())?;
        let same = if self.ignore_case { head.eq_ignore_ascii_case(fixed) } else { head == fixed };
        same.then(|| &value[fixed.len()..])
    }
}
