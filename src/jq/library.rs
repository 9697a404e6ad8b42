//! The names that an expression may use: jaq's, without those that reach outside of it.

use jaq_core::load::parse::Def;
use jaq_core::native::{Filter, Fun, bome, run, unary, v};
use jaq_core::{DataT, Lut, RunPtr};
use jaq_json::{Rc, Val};

use super::meter::{self, CALL, spend};
use super::scan;
use super::tree::place;
use super::value::{Result, Value, error};

/// The interpreter's types.
pub(super) struct Kind;

impl DataT for Kind {
    type V<'a> = Value;
    type Data<'a> = Table<'a>;
}

/// The table of the expression's terms. The interpreter asks for it before every step.
pub(super) struct Table<'a>(pub(super) &'a Lut<Kind>);

impl Clone for Table<'_> {
    fn clone(&self) -> Self {
        spend(CALL, 0);
        Self(self.0)
    }
}

impl<'a> jaq_core::data::HasLut<'a, Kind> for Table<'a> {
    fn lut(&self) -> &'a Lut<Kind> {
        meter::step();
        self.0
    }
}

/// What jq has and an expression here has not, and what to do instead.
const ABSENT: [(&str, &str); 20] = [
    ("env", ENVIRONMENT),
    ("$ENV", ENVIRONMENT),
    ("halt", ENDS),
    ("halt_error", ENDS),
    ("input", INPUT),
    ("inputs", INPUT),
    ("input_filename", INPUT),
    ("input_line_number", INPUT),
    ("debug", OUTPUT),
    ("debug_empty", OUTPUT),
    ("stderr", OUTPUT),
    ("stderr_empty", OUTPUT),
    ("now", CLOCK),
    ("localtime", CLOCK),
    ("strflocaltime", CLOCK),
    ("tobytes", "JSON has no bytes"),
    ("jn", SLOW),
    ("yn", SLOW),
    ("get_search_list", MODULES),
    ("modulemeta", MODULES),
];
const ENVIRONMENT: &str = "the environment of the gateway is not readable from an expression";
const ENDS: &str = "an expression ends by its output; `error(\"why\")` makes it fail";
const INPUT: &str = "the event is the only input: it is `.`";
const OUTPUT: &str = "an expression has no other output than its result";
const CLOCK: &str = "the result must be the same on every attempt: use `$event.received_at`";
const SLOW: &str = "its time depends on the number given to it";
pub(super) const MODULES: &str = "an expression cannot load modules or files: write it out in place";

/// Why a name of jq's is not there.
pub(super) fn absent(name: &str) -> Option<&'static str> {
    let name = name.split('/').next().unwrap_or(name);
    ABSENT.iter().find(|(absent, _)| *absent == name).map(|(_, why)| *why)
}

/// Definitions in jq.
pub(super) fn definitions() -> impl Iterator<Item = Def<&'static str>> {
    let all = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    all.filter(|definition| absent(definition.name).is_none())
}

/// Definitions in Rust.
pub(super) fn natives() -> impl Iterator<Item = Fun<Kind>> {
    jaq_core::funs().chain(jaq_std::funs()).chain(own()).filter(|(name, ..)| absent(name).is_none())
}

/// jaq's functions over JSON, for the value behind the meter.
fn own() -> impl Iterator<Item = Fun<Kind>> {
    let all: [Filter<RunPtr<Kind>>; 7] = [
        ("fromjson", v(0), |cv| bome(from_json(&cv.1))),
        ("tojson", v(0), |cv| bome(Ok(Value::of(Val::utf8_str(cv.1.text()))))),
        ("length", v(0), |cv| bome(length(&cv.1))),
        ("contains", v(1), |cv| unary(cv, |x, y| Ok(contains(&x.val, &y.val).into()))),
        ("has", v(1), |cv| unary(cv, |x, y| has(&x, &y))),
        ("indices", v(1), |cv| unary(cv, |x, y| indices(&x, &y))),
        ("bsearch", v(1), |cv| unary(cv, |x, y| search(&x, &y))),
    ];
    all.into_iter().map(run::<Kind>)
}

fn from_json(text: &Value) -> Result {
    let Some(bytes) = jaq_std::ValT::as_utf8_bytes(text) else {
        return Err(error(&format!("{} is no JSON text", text.kind())));
    };
    spend(1, 32 * bytes.len() as u64);
    if !scan::fits(bytes) {
        return Err(error("the text is nested too deep, or has too long numbers"));
    }
    jaq_json::read::parse_single(bytes).map(Value::of).map_err(|_| error("the text is not JSON"))
}

fn length(value: &Value) -> Result {
    Ok(match &value.val {
        Val::Null => 0_usize.into(),
        Val::Bool(_) => return Err(error("boolean has no length")),
        Val::Num(_) if *value < Value::from(0_usize) => return -value.clone(),
        Val::Num(_) => value.clone(),
        Val::Arr(all) => all.len().into(),
        Val::Obj(all) => all.len().into(),
        Val::TStr(text) | Val::BStr(text) => {
            spend(1 + text.len() as u64 / 64, 0);
            String::from_utf8_lossy(text).chars().count().into()
        }
    })
}

fn contains(whole: &Val, part: &Val) -> bool {
    meter::step();
    match (whole, part) {
        (Val::TStr(whole), Val::TStr(part)) | (Val::BStr(whole), Val::BStr(part)) => {
            spend(1 + whole.len() as u64 / 16, 0);
            part.is_empty() || at(whole, part).next().is_some()
        }
        (Val::Arr(whole), Val::Arr(part)) => {
            part.iter().all(|part| whole.iter().any(|whole| contains(whole, part)))
        }
        (Val::Obj(whole), Val::Obj(part)) => {
            part.iter().all(|(key, part)| whole.get(key).is_some_and(|whole| contains(whole, part)))
        }
        _ => whole == part,
    }
}

fn has(whole: &Value, key: &Value) -> Result {
    match (&whole.val, &key.val) {
        (Val::Obj(all), key) => Ok(all.contains_key(key).into()),
        (Val::Arr(all), Val::Num(_)) => Ok(place(key, all.len()).is_some().into()),
        _ => Err(error(&format!("cannot ask {} for {}", whole.kind(), key.kind()))),
    }
}

fn indices(whole: &Value, part: &Value) -> Result {
    match (&whole.val, &part.val) {
        (Val::TStr(_), Val::TStr(part)) if part.is_empty() => Ok(Value::array([])),
        (Val::TStr(text), Val::TStr(part)) => {
            spend(1 + text.len() as u64 / 16, 0);
            let (mut counted, mut characters) = (0, 0);
            Ok(Value::array(at(text, part).map(|position| {
                characters += String::from_utf8_lossy(&text[counted..position]).chars().count();
                counted = position;
                characters.into()
            })))
        }
        (Val::Arr(_), Val::Arr(part)) if part.is_empty() => Ok(Value::array([])),
        (Val::Arr(all), Val::Arr(part)) => {
            let windows = all.windows(part.len()).enumerate();
            let found = windows.filter(|(_, window)| {
                spend(1, 0);
                window.iter().zip(part.iter()).all(|(x, y)| {
                    spend(1, 0);
                    x == y
                })
            });
            Ok(found.map(|(position, _)| position.into()).collect())
        }
        (Val::Arr(all), part) => {
            let found = all.iter().enumerate().filter(|(_, one)| {
                spend(1, 0);
                *one == part
            });
            Ok(found.map(|(position, _)| position.into()).collect())
        }
        _ => Err(error(&format!("cannot search {} for {}", whole.kind(), part.kind()))),
    }
}

/// The positions of `part`, overlapping ones too; at the expense of the budget where many begin alike.
fn at<'a>(whole: &'a [u8], part: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let first = part.first().copied();
    whole.iter().enumerate().filter(move |(_, byte)| Some(**byte) == first).filter_map(
        move |(position, _)| {
            let alike = whole[position..].iter().zip(part).take_while(|(x, y)| x == y).count();
            spend(alike as u64 / 64, 0);
            (alike == part.len()).then_some(position)
        },
    )
}

fn search(sorted: &Value, one: &Value) -> Result {
    let Val::Arr(all) = &sorted.val else { return Err(error("only an array can be searched")) };
    let all: &Rc<Vec<Val>> = all;
    let position = |at: usize| isize::try_from(at).unwrap_or(isize::MAX);
    Ok(match all.binary_search(&one.val) {
        Ok(at) => position(at).into(),
        Err(at) => (-1 - position(at)).into(),
    })
}
