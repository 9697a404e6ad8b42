//! JSON as other programs write it.

use std::io::{self, Write};

use serde::Serialize as _;
use serde_json::ser::Formatter;
use serde_json::{Serializer, Value};

/// Where the white space goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Nowhere.
    Compact,
    /// One line with a blank after `,` and `:`, as Python writes it.
    Spaced,
    /// A line for each item, with so much before it for each level.
    Indented(&'static str),
}

/// A way to write JSON.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) layout: Layout,
    /// What is not ASCII as `\uXXXX`.
    pub(super) ascii: bool,
    /// `/` as `\/`, as PHP writes it.
    pub(super) slashes: bool,
    /// `<`, `>` and `&` as `\u003c` and the like, as Go writes them.
    pub(super) html: bool,
}

/// The value in a style.
pub(super) fn write(value: &Value, style: Style) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    value
        .serialize(&mut Serializer::with_formatter(&mut out, Writer { style, depth: 0, filled: false }))
        .ok()?;
    Some(out)
}

struct Writer {
    style: Style,
    depth: usize,
    /// Whether the list or object that ends now has anything in it.
    filled: bool,
}

impl Writer {
    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.filled = false;
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.filled {
            self.new_line(writer)?;
        }
        writer.write_all(bracket)
    }

    fn item<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(if self.style.layout == Layout::Spaced { b", " } else { b"," })?;
        }
        self.new_line(writer)
    }

    fn new_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        let Layout::Indented(indent) = self.style.layout else { return Ok(()) };
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(indent.as_bytes()))
    }
}

impl Formatter for Writer {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.style.layout == Layout::Compact { b":" } else { b": " })
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.filled = true;
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        let mut units = [0; 2];
        let mut plain = [0; 4];
        for char in text.chars() {
            let escaped = (self.style.ascii && !char.is_ascii()) || (self.style.html && "<>&".contains(char));
            if char == '/' && self.style.slashes {
                writer.write_all(b"\\/")?;
            } else if escaped {
                char.encode_utf16(&mut units).iter().try_for_each(|unit| write!(writer, "\\u{unit:04x}"))?;
            } else {
                writer.write_all(char.encode_utf8(&mut plain).as_bytes())?;
            }
        }
        Ok(())
    }
}
