//! What the interpreter does to a value's structure: parts, updates, conversions.

use jaq_core::path::Opt;
use jaq_core::val::Range;
use jaq_core::{Error, Exn, ValX};
use jaq_json::{Map, Rc, Val};

use super::meter::{self, spend};
use super::value::{Result, Value, error};

type Found<'a> = ValX<'a, Value>;

impl jaq_core::ValT for Value {
    fn from_num(number: &str) -> Result {
        spend(1, number.len() as u64);
        let number = Val::from_num(number).map_err(|_| error("no number"))?;
        Ok(Self::of(number))
    }

    fn from_map<I: IntoIterator<Item = (Self, Self)>>(entries: I) -> Result {
        Ok(Self::object(entries))
    }

    fn key_values(self) -> Box<dyn Iterator<Item = Result<(Self, Self)>>> {
        self.copied();
        let whole = self.outline();
        match self.val {
            Val::Arr(all) => Box::new(unshared(all).into_iter().enumerate().map(move |(at, val)| {
                meter::step();
                Ok((Self::of(Val::from(at)), whole.part(val)))
            })),
            Val::Obj(all) => Box::new(unshared(all).into_iter().map(move |(key, val)| {
                meter::step();
                Ok((whole.part(key), whole.part(val)))
            })),
            _ => Box::new(std::iter::once(Err(not(&self, "be iterated over")))),
        }
    }

    fn values(self) -> Box<dyn Iterator<Item = Result>> {
        Box::new(self.key_values().map(|entry| entry.map(|(_, value)| value)))
    }

    fn index(self, index: &Self) -> Result {
        let cost = match (&self.val, &index.val) {
            (Val::Arr(all), Val::Arr(some)) => all.len().saturating_mul(some.len()) as u64,
            _ => 1,
        };
        spend(cost, 0);
        let whole = self.outline();
        let kind = self.kind();
        match jaq_core::ValT::index(self.val, &index.val) {
            Ok(val) => Ok(whole.part(val)),
            Err(_) => Err(error(&format!("cannot index {kind} with {}", index.kind()))),
        }
    }

    fn range(self, range: Range<&Self>) -> Result {
        let length = match &self.val {
            Val::Arr(all) => all.len() as u64,
            Val::TStr(text) | Val::BStr(text) => text.len() as u64 / 16,
            _ => 0,
        };
        spend(1 + length / 8, length * 16);
        let whole = self.outline();
        let kind = self.kind();
        let range = range.start.map(|at| &at.val)..range.end.map(|at| &at.val);
        let part =
            jaq_core::ValT::range(self.val, range).map_err(|_| error(&format!("cannot slice {kind}")))?;
        Ok(Self::bounded(part, whole.bounds().0, whole.bounds().1))
    }

    fn map_values<'a, I: Iterator<Item = Found<'a>>>(self, opt: Opt, f: impl Fn(Self) -> I) -> Found<'a> {
        self.copied();
        let whole = self.outline();
        match self.val {
            Val::Arr(all) => unshared(all).into_iter().flat_map(|val| f(whole.part(val))).collect(),
            Val::Obj(all) => {
                let entries = unshared(all).into_iter().filter_map(|(key, val)| {
                    let value = f(whole.part(val)).next()?;
                    Some(value.map(|value| (whole.part(key), value)))
                });
                let entries: Vec<_> = entries.collect::<std::result::Result<_, Exn<'a, Self>>>()?;
                Ok(Self::object(entries))
            }
            _ => opt.fail(self, |it| not(&it, "be iterated over").into()),
        }
    }

    fn map_index<'a, I: Iterator<Item = Found<'a>>>(
        self,
        index: &Self,
        opt: Opt,
        f: impl Fn(Self) -> I,
    ) -> Found<'a> {
        self.copied();
        let bounds = self.bounds();
        let whole = self.outline();
        let deeper = |value: &Self| (value.bounds().0 + 1, value.bounds().1.saturating_add(index.bounds().1));
        match (self.val, &index.val) {
            (val @ (Val::Arr(_) | Val::TStr(_) | Val::BStr(_)), Val::Obj(range)) => {
                let at = |name: &str| range.get(&Val::utf8_str(name.to_owned().into_bytes())).cloned();
                let (start, end) = (at("start").map(Self::of), at("end").map(Self::of));
                let this = Self { val, ..whole };
                this.map_range(start.as_ref()..end.as_ref(), opt, f)
            }
            (Val::Null, key @ Val::TStr(_)) => match f(Self::of(Val::Null)).next().transpose()? {
                Some(value) => Ok(Self::object([(Self::of(key.clone()), value)])),
                None => Ok(Self::of(Val::Null)),
            },
            (Val::Obj(mut all), key) => {
                let map = Rc::make_mut(&mut all);
                let before = map.get_mut(key).map(std::mem::take);
                let after =
                    f(before.map_or(Self::of(Val::Null), |val| whole.part(val))).next().transpose()?;
                let Some(after) = after else {
                    map.shift_remove(key);
                    return Ok(Self::bounded(Val::Obj(all), bounds.0, bounds.1));
                };
                let added = deeper(&after);
                spend(1, 128);
                map.insert(key.clone(), after.val);
                Ok(Self::joined(Val::Obj(all), bounds, added))
            }
            (Val::Arr(mut all), _) => {
                let Some(at) = place(index, all.len()) else {
                    let this = Self { val: Val::Arr(all), ..whole };
                    return opt.fail(this, |_| error("there is no such index in the array").into());
                };
                let list = Rc::make_mut(&mut all);
                let before = std::mem::take(&mut list[at]);
                let Some(after) = f(whole.part(before)).next().transpose()? else {
                    list.remove(at);
                    return Ok(Self::bounded(Val::Arr(all), bounds.0, bounds.1));
                };
                let added = deeper(&after);
                list[at] = after.val;
                Ok(Self::joined(Val::Arr(all), bounds, added))
            }
            (val, _) => opt.fail(Self { val, ..whole }, |it| not(&it, "be updated by an index").into()),
        }
    }

    fn map_range<'a, I: Iterator<Item = Found<'a>>>(
        self,
        range: Range<&Self>,
        opt: Opt,
        f: impl Fn(Self) -> I,
    ) -> Found<'a> {
        if !matches!(self.val, Val::Arr(_) | Val::TStr(_) | Val::BStr(_)) {
            return opt.fail(self, |it| not(&it, "be sliced").into());
        }
        let nothing = Self::of(Val::from(0_usize));
        let before = self.clone().range(Some(&nothing)..Some(range.start.unwrap_or(&nothing)))?;
        let slice = self.clone().range(range)?;
        let end = Self::of(Val::from(length(&before) + length(&slice)));
        let after = self.clone().range(Some(&end)..None)?;
        match f(slice).next().transpose()? {
            Some(new) => Ok(((before + new)? + after)?),
            None => Ok((before + after)?),
        }
    }

    fn as_bool(&self) -> bool {
        !matches!(self.val, Val::Null | Val::Bool(false))
    }

    fn into_string(self) -> Self {
        match self.val {
            Val::TStr(text) | Val::BStr(text) => Self::of(Val::TStr(text)),
            _ => Self::of(Val::utf8_str(self.text())),
        }
    }
}

fn not(value: &Value, what: &str) -> Error<Value> {
    error(&format!("{} cannot {what}", value.kind()))
}

/// The position that an index means; negative ones count from the end.
pub(super) fn place(index: &Value, length: usize) -> Option<usize> {
    let at = jaq_std::ValT::as_isize(&index.val).filter(|_| jaq_std::ValT::is_int(&index.val))?;
    let at = if at < 0 { length.checked_sub(at.unsigned_abs())? } else { at.unsigned_abs() };
    (at < length).then_some(at)
}

/// Elements of an array, characters of a text.
fn length(value: &Value) -> usize {
    match &value.val {
        Val::Arr(all) => all.len(),
        Val::TStr(text) => String::from_utf8_lossy(text).chars().count(),
        Val::BStr(text) => text.len(),
        _ => 0,
    }
}

fn unshared<T: Clone>(all: Rc<T>) -> T {
    Rc::try_unwrap(all).unwrap_or_else(|all| (*all).clone())
}

impl FromIterator<Self> for Value {
    fn from_iter<T: IntoIterator<Item = Self>>(values: T) -> Self {
        Self::array(values)
    }
}

impl From<bool> for Value {
    fn from(it: bool) -> Self {
        Self::of(Val::Bool(it))
    }
}

impl From<isize> for Value {
    fn from(it: isize) -> Self {
        Self::of(Val::from(it))
    }
}

impl From<usize> for Value {
    fn from(it: usize) -> Self {
        Self::of(Val::from(it))
    }
}

impl From<f64> for Value {
    fn from(it: f64) -> Self {
        Self::of(Val::from(it))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        spend(1, text.len() as u64);
        Self::of(Val::from(text))
    }
}

impl From<Range<Value>> for Value {
    fn from(range: Range<Value>) -> Self {
        let entries = [("start", range.start), ("end", range.end)];
        let entries = entries.into_iter().filter_map(|(name, at)| Some((Self::from(name.to_owned()), at?)));
        let entries: Map = entries.map(|(name, at)| (name.val, at.val)).collect();
        Self::of(Val::obj(entries))
    }
}
