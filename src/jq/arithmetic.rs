//! What the interpreter calculates, and what its standard library asks of a value.

use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use jaq_json::{Num, Rc, Val};

use super::meter::{self, Stop, spend};
use super::value::{Result, Value, error};

/// Longer whole numbers are not calculated with: some operations take quadratic time.
const BITS: u64 = 4096;

fn calculated(
    result: std::result::Result<Val, jaq_core::Error<Val>>,
    kinds: (&'static str, &'static str),
    what: char,
    bounds: ((u32, u32), (u32, u32)),
) -> Result {
    match result {
        Ok(val) => Ok(Value::joined(val, bounds.0, bounds.1)),
        Err(_) => Err(error(&format!("cannot calculate {} {what} {}", kinds.0, kinds.1))),
    }
}

/// Calculates within the budget: `copies` bytes are made.
fn calculate(
    l: Value,
    what: char,
    r: Value,
    copies: u64,
    f: fn(Val, Val) -> std::result::Result<Val, jaq_core::Error<Val>>,
) -> Result {
    for side in [&l, &r] {
        if let Val::Num(Num::BigInt(it)) = &side.val
            && it.bits() > BITS
        {
            return Err(error("the number has too many digits"));
        }
    }
    spend(1 + copies / 128, copies);
    let (kinds, bounds) = ((l.kind(), r.kind()), (l.bounds(), r.bounds()));
    calculated(f(l.val, r.val), kinds, what, bounds)
}

/// The bytes of the left side's own level if it must be copied, and those of the right one.
fn copies(l: &Value, r: &Value) -> u64 {
    let of = |value: &Value, whole: bool| match &value.val {
        Val::Arr(all) if whole || Rc::strong_count(all) > 1 => 64 * all.len() as u64,
        Val::Obj(all) if whole || Rc::strong_count(all) > 1 => 128 * all.len() as u64,
        Val::TStr(text) | Val::BStr(text) => text.len() as u64,
        _ => 0,
    };
    of(l, false).saturating_add(of(r, true))
}

impl Add for Value {
    type Output = Result;
    fn add(self, other: Self) -> Result {
        let copies = copies(&self, &other);
        calculate(self, '+', other, copies, Val::add)
    }
}

impl Sub for Value {
    type Output = Result;
    fn sub(self, other: Self) -> Result {
        let copies = copies(&self, &other);
        calculate(self, '-', other, copies, Val::sub)
    }
}

impl Mul for Value {
    type Output = Result;
    fn mul(self, other: Self) -> Result {
        let copies = match (&self.val, &other.val) {
            (Val::TStr(text) | Val::BStr(text), Val::Num(times))
            | (Val::Num(times), Val::TStr(text) | Val::BStr(text)) => {
                let Some(times) = times.as_isize() else { meter::stop(Stop::Bytes) };
                (text.len() as u64).saturating_mul(u64::try_from(times).unwrap_or(0))
            }
            // A merge goes through both, and copies what is shared.
            (Val::Obj(_), Val::Obj(_)) => 128 * (u64::from(self.size) + u64::from(other.size)),
            _ => 0,
        };
        calculate(self, '*', other, copies, Val::mul)
    }
}

impl Div for Value {
    type Output = Result;
    fn div(self, other: Self) -> Result {
        let copies = match (&self.val, &other.val) {
            (Val::TStr(text), Val::TStr(between)) => 64 * (text.len() / between.len().max(1) + 1) as u64,
            _ => 0,
        };
        let pieces = (1, u32::try_from(copies / 16).unwrap_or(u32::MAX));
        spend(1 + copies / 128, copies);
        let kinds = (self.kind(), other.kind());
        let bounds = (self.bounds(), pieces);
        calculated(self.val / other.val, kinds, '/', bounds)
    }
}

impl Rem for Value {
    type Output = Result;
    fn rem(self, other: Self) -> Result {
        calculate(self, '%', other, 0, Val::rem)
    }
}

impl Neg for Value {
    type Output = Result;
    fn neg(self) -> Result {
        meter::step();
        let kind = self.kind();
        self.val.neg().map(Self::of).map_err(|_| error(&format!("cannot negate {kind}")))
    }
}

impl jaq_std::ValT for Value {
    fn into_seq<S: FromIterator<Self>>(self) -> std::result::Result<S, Self> {
        if !matches!(self.val, Val::Arr(_)) {
            return Err(self);
        }
        Ok(jaq_core::ValT::values(self).filter_map(std::result::Result::ok).collect())
    }

    fn is_int(&self) -> bool {
        self.val.is_int()
    }

    fn as_isize(&self) -> Option<isize> {
        self.val.as_isize()
    }

    fn as_f64(&self) -> Option<f64> {
        self.val.as_f64()
    }

    fn is_utf8_str(&self) -> bool {
        self.val.is_utf8_str()
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        let bytes = self.val.as_bytes()?;
        spend(1 + bytes.len() as u64 / 64, 0);
        Some(bytes)
    }

    fn as_sub_str(&self, sub: &[u8]) -> Self {
        meter::step();
        Self::of(self.val.as_sub_str(sub))
    }

    fn from_utf8_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Self {
        let length = bytes.as_ref().len() as u64;
        spend(1 + length / 64, length);
        Self::of(Val::from_utf8_bytes(bytes))
    }
}
