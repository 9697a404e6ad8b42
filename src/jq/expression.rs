//! One expression: compiled at load, evaluated within its budget.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use jaq_core::load::lex::Expect;
use jaq_core::load::{self, Arena, File, Loader};
use jaq_core::{Compiler, Ctx, Filter, Vars};
use jaq_json::Val;
use serde_json::value::RawValue;

use super::library::{Kind, MODULES, Table, absent, definitions, natives};
use super::meter::{STACK, Stop, metered};
use super::scan;
use super::value::Value;

/// Longer expressions are refused.
const TEXT: usize = 16 << 10;
/// Larger bodies are not read.
pub const INPUT: usize = 4 << 20;
/// A transform's result may be no longer.
pub const OUTPUT: usize = 4 << 20;

/// A jq expression over an event: `.` is its JSON, `$event` what else is known of it.
///
/// It is a function of these two: it reads no clock, no environment and no file.
pub struct Expression {
    text: String,
    filter: Filter<Kind>,
}

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Line and column in the expression, from 1.
    pub at: (usize, usize),
    /// What is wrong there.
    pub problem: String,
    /// What to do instead, where something can be said.
    pub help: Option<String>,
}

/// Why an evaluation had no result. The words say nothing of the event's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvaluationError {
    /// The body has no JSON.
    #[error("the event is not JSON")]
    NotJson,
    /// Its JSON is not looked at.
    #[error(
        "the event is nested deeper than 128 levels, larger than 4 MiB, or has a number of over 1000 digits"
    )]
    TooLarge,
    /// `error`, or an operation that its operands have not.
    #[error("the expression raised an error: `error`, or an operation that a value of this kind has not")]
    Raised,
    /// None or several outputs.
    #[error("the expression must have exactly one output")]
    Outputs,
    /// The output has no form in JSON.
    #[error("the output is no JSON: it is infinite, not a number, or has keys that are no text")]
    NoJsonOutput,
    /// A limit.
    #[error("the expression used up its {0}")]
    Budget(&'static str),
}

impl Expression {
    /// Compiles a text. It runs on a thread of its own, since the parser's depth is the text's.
    ///
    /// # Errors
    /// [`SyntaxError`], which says where.
    pub fn new(text: &str) -> Result<Self, SyntaxError> {
        let whole = |problem: &str| SyntaxError { at: (1, 1), problem: problem.to_owned(), help: None };
        if text.len() > TEXT {
            return Err(whole("the expression is longer than 16 KiB"));
        }
        let owned = text.to_owned();
        let thread = std::thread::Builder::new().name("jq-compile".into()).stack_size(STACK);
        let thread = thread.spawn(move || compile(&owned)).map_err(|error| whole(&error.to_string()))?;
        let filter = thread.join().map_err(|_| whole("the expression cannot be compiled"))??;
        Ok(Self { text: text.to_owned(), filter })
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the single output is neither `false` nor `null`.
    pub(super) fn holds(&self, input: &Input, late: &Arc<AtomicBool>) -> Result<bool, EvaluationError> {
        self.evaluate(input, late, |value| Ok(jaq_core::ValT::as_bool(&value)))
    }

    /// The single output as compact JSON.
    pub(super) fn output(&self, input: &Input, late: &Arc<AtomicBool>) -> Result<Vec<u8>, EvaluationError> {
        self.evaluate(input, late, |value| {
            let json = value.json(OUTPUT).ok_or(EvaluationError::Budget("output (4 MiB)"))?;
            match serde_json::from_slice::<&RawValue>(&json) {
                Ok(_) => Ok(json),
                Err(_) => Err(EvaluationError::NoJsonOutput),
            }
        })
    }

    fn evaluate<T>(
        &self,
        input: &Input,
        late: &Arc<AtomicBool>,
        read: impl FnOnce(Value) -> Result<T, EvaluationError>,
    ) -> Result<T, EvaluationError> {
        let done = metered(late, || {
            let event = Value::of(input.event.clone());
            let context = Ctx::<Kind>::new(Table(&self.filter.lut), Vars::new([event]));
            let mut outputs = self.filter.id.run((context, Value::of(input.body.clone())));
            let first = outputs.next().ok_or(EvaluationError::Outputs)?;
            let first = first.map_err(|_| EvaluationError::Raised)?;
            match outputs.next() {
                None => read(first),
                Some(Ok(_)) => Err(EvaluationError::Outputs),
                Some(Err(_)) => Err(EvaluationError::Raised),
            }
        });
        done.unwrap_or_else(|stop| {
            Err(EvaluationError::Budget(match stop {
                None => return Err(EvaluationError::Raised),
                Some(Stop::Steps) => "steps (2 million)",
                Some(Stop::Bytes) => "memory (128 MiB)",
                Some(Stop::Stack) => "stack (32 MiB)",
                Some(Stop::Depth) => "depth (512 levels in one value)",
                Some(Stop::Size) => "size (4 million values, or 64 MiB of text)",
                Some(Stop::Time) => "time",
            }))
        })
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.text).finish()
    }
}

/// What expressions are evaluated over.
pub(super) struct Input {
    body: Val,
    event: Val,
}

impl Input {
    /// Reads an event's JSON, and that of `$event`.
    pub(super) fn read(body: &[u8], event: &[u8]) -> Result<Self, EvaluationError> {
        if body.len() > INPUT {
            return Err(EvaluationError::TooLarge);
        }
        Ok(Self { body: read(body)?, event: read(event)? })
    }
}

fn read(json: &[u8]) -> Result<Val, EvaluationError> {
    if !scan::fits(json) {
        return Err(EvaluationError::TooLarge);
    }
    // jaq reads more than JSON: comments, NaN, keys that are no text.
    serde_json::from_slice::<&RawValue>(json).map_err(|_| EvaluationError::NotJson)?;
    jaq_json::read::parse_single(json).map_err(|_| EvaluationError::NotJson)
}

fn compile(text: &str) -> Result<Filter<Kind>, SyntaxError> {
    let arena = Arena::default();
    let loader = Loader::new(definitions());
    let modules = loader.load(&arena, File { code: text, path: () }).map_err(|errors| {
        errors
            .into_iter()
            .map(|(_, error)| unread(text, error))
            .next()
            .unwrap_or_else(|| at(text, text, "cannot be read", None))
    })?;
    load::import(&modules, |_| Err(String::new())).map_err(|_| at(text, text, "`import`", Some(MODULES)))?;
    let compiler = Compiler::default().with_funs(natives()).with_global_vars(["$event"]);
    compiler.compile(modules).map_err(|errors| {
        let unknown = errors.into_iter().flat_map(|(_, errors)| errors).next();
        let Some((name, kind)) = unknown else { return at(text, text, "cannot be compiled", None) };
        at(text, name, &format!("there is no {} `{name}`", kind.as_str()), absent(name))
    })
}

fn unread(text: &str, error: load::Error<&str>) -> SyntaxError {
    match error {
        load::Error::Io(paths) => {
            let path = paths.first().map_or(text, |(path, _)| path);
            at(text, path, "`include` and `import`", Some(MODULES))
        }
        load::Error::Lex(errors) => match errors.into_iter().next() {
            Some((Expect::Delim(open), found)) => at(text, found, &format!("{open} is not closed"), None),
            Some((expected, found)) => at(text, found, &format!("expected a {}", expected.as_str()), None),
            None => at(text, text, "cannot be read", None),
        },
        load::Error::Parse(errors) => match errors.into_iter().next() {
            Some((expected, "")) => at(text, "", &format!("expected {} at the end", expected.as_str()), None),
            Some((expected, found)) => {
                at(text, found, &format!("expected {}, found `{found}`", expected.as_str()), None)
            }
            None => at(text, text, "cannot be read", None),
        },
    }
}

/// A problem at `part`, which is a slice of `text`; a part that is none of it stands for its end.
fn at(text: &str, part: &str, problem: &str, help: Option<&str>) -> SyntaxError {
    let start = part.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
    let before = text.get(..start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    SyntaxError { at: (line, column), problem: problem.to_owned(), help: help.map(str::to_owned) }
}
