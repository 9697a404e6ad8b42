//! Writing to the terminal without dying of a closed pipe (`hookgate providers | head -1`).

use std::fmt::Arguments;
use std::io::{self, Write};

/// A line on standard output: results. A reader that went away is no error: there is nobody left to tell.
pub fn out(line: Arguments<'_>) -> io::Result<()> {
    match writeln!(io::stdout().lock(), "{line}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// The same for a command that goes on until nobody reads any more: `false` if nobody does.
pub(in crate::cli) fn out_while_read(line: Arguments<'_>) -> io::Result<bool> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{line}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true),
    }
}

/// A line on standard error: warnings and errors. If even that fails there is no place to say so.
pub fn warn(line: Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
