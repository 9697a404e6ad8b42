//! The statements of a module: cut apart, checked, named parameters replaced by numbered ones.

use super::Dialect;
use super::scan::{Kind, Piece, scan};
use crate::handler::SetupError;

/// One statement, ready for the database.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// The line of the file on which it begins; the first is 1.
    pub(super) line: usize,
    /// Its text, with `$1`, `$2`, … for parameters.
    pub(super) text: String,
    /// What `$1`, `$2`, … are: positions in the module's list of parameters.
    pub(super) params: Vec<usize>,
}

/// A parameter that a module's statements may name.
pub(super) trait Named {
    /// Its name, without the colon.
    fn name(&self) -> &str;
    /// The text that stands for it in a statement, where it has the number `number`.
    fn expression(&self, number: usize, dialect: Dialect) -> String;
}

/// Statements that would end the event's transaction or cut it apart.
const TRANSACTION: [&str; 9] =
    ["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE", "PREPARE"];

/// Statements that would change the connection for the events that use it afterwards, or cannot run in a transaction.
const CONNECTION: [&str; 13] = [
    "SET",
    "RESET",
    "DISCARD",
    "DEALLOCATE",
    "EXECUTE",
    "LISTEN",
    "UNLISTEN",
    "LOAD",
    "COPY",
    "VACUUM",
    "ATTACH",
    "DETACH",
    "PRAGMA",
];

/// The function that is `SET`, unless its third argument says that the setting ends with the transaction
/// (<https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-ADMIN-SET>).
const SET_CONFIG: &str = "set_config";

const BEYOND: &str =
    "it would reach beyond the event's transaction, into the connection that other events share";

/// Reads the statements of a file. `file` is for messages.
///
/// # Errors
/// [`SetupError`], with the line.
pub(super) fn statements<P: Named>(
    text: &str,
    file: &str,
    dialect: Dialect,
    params: &[P],
) -> Result<Vec<Statement>, SetupError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let problem = |line: usize, problem: String| SetupError { place: format!("{file}:{line}"), problem };
    let pieces = scan(text, dialect).map_err(|unclosed| {
        problem(unclosed.line, format!("{} is opened here and never closed", unclosed.what))
    })?;
    let statements: Vec<Statement> = pieces
        .split(|piece| piece.kind == Kind::End)
        .filter_map(trimmed)
        .map(|pieces| statement(pieces, dialect, params).map_err(|(line, text)| problem(line, text)))
        .collect::<Result<_, _>>()?;
    if statements.is_empty() {
        return Err(problem(1, "there is no statement in this file".into()));
    }
    Ok(statements)
}

/// A statement's pieces without blanks around them; `None` if nothing is left.
fn trimmed<'p, 'a>(pieces: &'p [Piece<'a>]) -> Option<&'p [Piece<'a>]> {
    let full = |piece: &Piece<'_>| piece.kind != Kind::Blank;
    let first = pieces.iter().position(full)?;
    let last = pieces.iter().rposition(full)?;
    pieces.get(first..=last)
}

fn statement<P: Named>(
    pieces: &[Piece<'_>],
    dialect: Dialect,
    known: &[P],
) -> Result<Statement, (usize, String)> {
    refuse(pieces)?;
    let mut text = String::new();
    let mut params = Vec::new();
    for piece in pieces {
        if piece.kind != Kind::Parameter {
            text.push_str(piece.text);
            continue;
        }
        let name = &piece.text[1..];
        let Some(param) = known.iter().position(|param| param.name() == name) else {
            return Err((piece.line, unknown(name, known)));
        };
        let number = params.iter().position(|&other| other == param).unwrap_or_else(|| {
            params.push(param);
            params.len() - 1
        });
        text.push_str(&known[param].expression(number + 1, dialect));
    }
    let line = pieces.first().map_or(1, |piece| piece.line);
    Ok(Statement { line, text, params })
}

/// Refuses what a handler may not do.
fn refuse(pieces: &[Piece<'_>]) -> Result<(), (usize, String)> {
    if let Some(piece) = pieces.iter().find(|piece| piece.kind == Kind::Unnamed) {
        return Err((piece.line, format!("`{}`: parameters are written as `:name`", piece.text)));
    }
    let Some(first) = pieces.iter().find(|piece| piece.kind != Kind::Blank && piece.text != "(") else {
        return Ok(());
    };
    let command = first.text.to_ascii_uppercase();
    let why = if TRANSACTION.contains(&command.as_str()) {
        "the statements run inside the event's transaction, which the gateway alone begins and ends"
    } else if CONNECTION.contains(&command.as_str()) {
        BEYOND
    } else {
        return lasting_setting(pieces).map_or(Ok(()), |line| {
            Err((
                line,
                format!(
                    "{SET_CONFIG} is not allowed in a handler unless its third argument is `true`: {BEYOND}"
                ),
            ))
        });
    };
    Err((first.line, format!("{command} is not allowed in a handler: {why}")))
}

/// The line of a call of [`SET_CONFIG`] whose last argument is not the word `true`.
fn lasting_setting(pieces: &[Piece<'_>]) -> Option<usize> {
    let full: Vec<&Piece<'_>> = pieces.iter().filter(|piece| piece.kind != Kind::Blank).collect();
    let called = |at: usize, piece: &Piece<'_>| {
        let name = matches!(piece.kind, Kind::Word | Kind::Quoted) && !piece.text.starts_with('\'');
        name && piece.text.trim_matches('"').eq_ignore_ascii_case(SET_CONFIG)
            && full.get(at + 1).is_some_and(|next| next.text == "(")
    };
    let calls = full.iter().enumerate().filter(|(at, piece)| called(*at, piece));
    calls.into_iter().find(|(at, _)| !ends_with_true(&full[at + 2..])).map(|(_, piece)| piece.line)
}

/// Whether the arguments of a call, which begin here, end with `, true)`.
fn ends_with_true(arguments: &[&Piece<'_>]) -> bool {
    let mut depth = 1;
    let end = arguments.iter().position(|piece| {
        match piece.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let inside = &arguments[..end.unwrap_or(arguments.len())];
    matches!(inside, [.., comma, last] if comma.text == "," && last.text.eq_ignore_ascii_case("true"))
}

fn unknown<P: Named>(name: &str, known: &[P]) -> String {
    let names: Vec<String> = known.iter().map(|param| format!(":{}", param.name())).collect();
    format!(
        "there is no parameter `:{name}`. There are {}; further ones come from the route's `params`. \
         (The bounds of an array slice are told from a parameter by a space after the colon.)",
        names.join(", ")
    )
}
