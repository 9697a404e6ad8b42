//! A URL that stands in a template as fixed text, such as the setting of a provider that signs the URL it was given.

use super::{Piece, Template};

impl Template {
    /// The first fixed text that begins like a URL.
    pub(crate) fn fixed_url(&self) -> Option<&str> {
        self.pieces.iter().find_map(url)
    }

    /// The same template with another URL there.
    pub(crate) fn with_fixed_url(&self, other: &str) -> Self {
        let mut pieces = self.pieces.clone();
        if let Some(piece) = pieces.iter_mut().find(|piece| url(piece).is_some()) {
            *piece = Piece::Literal(other.as_bytes().into());
        }
        Self { pieces }
    }
}

fn url(piece: &Piece) -> Option<&str> {
    let Piece::Literal(bytes) = piece else { return None };
    let text = std::str::from_utf8(bytes).ok()?;
    (text.starts_with("https://") || text.starts_with("http://")).then_some(text)
}
