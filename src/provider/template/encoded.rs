//! Templates in which every value is written in another way, as in a URL.

use super::{Piece, Scope, Template, Trouble};

impl Template {
    /// The rendered template as text, each value in it changed by `encode`. An empty value is as good as none.
    pub(crate) fn encoded(
        &self,
        scope: &Scope<'_>,
        encode: impl Fn(&[u8]) -> String + Copy,
    ) -> Result<String, Trouble> {
        let mut out = String::new();
        encoded(&self.pieces, scope, encode, &mut out)?;
        Ok(out)
    }
}

fn encoded(
    pieces: &[Piece],
    scope: &Scope<'_>,
    encode: impl Fn(&[u8]) -> String + Copy,
    out: &mut String,
) -> Result<(), Trouble> {
    for piece in pieces {
        match piece {
            Piece::Literal(bytes) => out.push_str(&String::from_utf8_lossy(bytes)),
            Piece::Value(value) => match scope.value(value)? {
                empty if empty.is_empty() => return Err(Trouble::Absent(value.source.to_string())),
                bytes => out.push_str(&encode(&bytes)),
            },
            Piece::Group(inner) => {
                let before = out.len();
                match encoded(inner, scope, encode, out) {
                    Err(Trouble::Absent(_)) => out.truncate(before),
                    other => other?,
                }
            }
        }
    }
    Ok(())
}
