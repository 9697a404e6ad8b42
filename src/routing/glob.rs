//! Globs over event types.

/// A pattern over event types, in which `*` stands for any text, also none and also text with dots.
///
/// `invoice.*` matches `invoice.paid` and `invoice.line.x`, but not `invoice`. Nothing else is special and case
/// counts: providers use `/`, `:`, brackets and spaces in their types, which is why this is not a glob over paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeGlob {
    /// The literal pieces between the stars; without a star there is one piece.
    pieces: Vec<Box<str>>,
}

impl TypeGlob {
    /// Reads a pattern; every text is one.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self { pieces: pattern.split('*').map(Box::from).collect() }
    }

    /// Whether the pattern covers the whole of `event_type`.
    #[must_use]
    pub fn matches(&self, event_type: &str) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            return self.pieces.iter().all(|piece| **piece == *event_type);
        };
        let Some(rest) = event_type.strip_prefix(&**first).and_then(|rest| rest.strip_suffix(&**last)) else {
            return false;
        };
        // Taking the leftmost place for each piece leaves the most room for those after it.
        middle
            .iter()
            .try_fold(rest, |rest, piece| rest.find(&**piece).map(|at| &rest[at + piece.len()..]))
            .is_some()
    }
}
