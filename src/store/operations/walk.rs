//! Reads a list part by part, in windows of a fixed number of rows: however rare what is looked for is, no statement
//! walks over more than one window, and the next one goes on where it ended.

use super::super::select::{Backend, Bound, Columns, Conditions};
use super::super::{Cursor, Listed, Page, Param, Row, StoreError};

/// Rows that one statement walks over.
const WINDOW: u32 = 10_000;

/// The order of a list.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// By a moment, then by a number: `i.moment`, `i.number`.
    Time { moment: &'static str, number: &'static str },
    /// By `i.id`.
    Id,
}

/// A list: its source and how it is read.
pub(super) struct Walk {
    /// A common table expression that the source needs.
    pub(super) with: String,
    /// A table named `i`.
    pub(super) source: String,
    /// What the filter and the columns need of it. Read in windows if it is said; else the conditions choose an index
    /// that holds few rows.
    pub(super) window: Option<&'static str>,
    pub(super) order: Order,
    pub(super) newest_first: bool,
    pub(super) columns: String,
}

/// The conditions of a list, written anew for each statement.
pub(super) trait Narrow: Sync {
    /// On what the order is by: they bound the windows.
    fn range(&self, bound: &mut Bound) -> Conditions;
    /// On everything else.
    fn rest(&self, bound: &mut Bound) -> Conditions;
}

/// One part of a list.
pub(super) async fn list<B: Backend, T>(
    backend: &B,
    walk: &Walk,
    narrow: &dyn Narrow,
    page: &Page,
    read: impl Fn(&mut Columns) -> Result<T, StoreError>,
) -> Result<Listed<T>, StoreError> {
    let mut rows = Vec::new();
    let mut after = page.after;
    loop {
        let left = page.limit - u32::try_from(rows.len()).unwrap_or(page.limit);
        let found = step(backend, walk, narrow, after, left).await?;
        for (_, mut columns) in found.rows {
            rows.push(read(&mut columns)?);
        }
        after = found.next;
        if after.is_none() || rows.len() >= page.limit as usize {
            return Ok(Listed { rows, next: after });
        }
    }
}

/// At most one window of it. `next` is set unless the list has come to its end.
pub(super) async fn step<B: Backend>(
    backend: &B,
    walk: &Walk,
    narrow: &dyn Narrow,
    after: Option<Cursor>,
    limit: u32,
) -> Result<Listed<(Cursor, Columns)>, StoreError> {
    let mut bound = Bound::default();
    let sql = walk.page(&mut bound, narrow, after, limit);
    let rows = backend.rows(&sql, &bound.0).await?;
    let mut rows: Vec<(Cursor, Columns)> =
        rows.into_iter().map(|row| walk.cursor(row)).collect::<Result<_, _>>()?;
    if rows.len() > limit as usize {
        rows.truncate(limit as usize);
        let next = rows.last().map(|(cursor, _)| *cursor).or(after);
        return Ok(Listed { rows, next });
    }
    let mut next = None;
    if walk.window.is_some() {
        let mut bound = Bound::default();
        let sql = walk.end(&mut bound, narrow, after);
        if let Some(row) = backend.rows(&sql, &bound.0).await?.into_iter().next() {
            next = Some(walk.cursor(row)?.0);
        }
    }
    Ok(Listed { rows, next })
}

/// A sum over a whole list, in the same windows. `columns` must be aggregates, or what `group` groups by.
pub(super) async fn sum<B: Backend>(
    backend: &B,
    walk: &Walk,
    narrow: &dyn Narrow,
    group: &str,
    mut add: impl FnMut(&mut Columns) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        let mut bound = Bound::default();
        let from = walk.from(&mut bound, narrow, after);
        let (with, columns) = (&walk.with, &walk.columns);
        let sql = format!("{with}SELECT {columns} FROM {from} GROUP BY {group}");
        for row in backend.rows(&sql, &bound.0).await? {
            add(&mut Columns::of(row))?;
        }
        if walk.window.is_none() {
            return Ok(());
        }
        let mut bound = Bound::default();
        let sql = walk.end(&mut bound, narrow, after);
        match backend.rows(&sql, &bound.0).await?.into_iter().next() {
            Some(row) => after = Some(walk.cursor(row)?.0),
            None => return Ok(()),
        }
    }
}

impl Walk {
    fn page(&self, bound: &mut Bound, narrow: &dyn Narrow, after: Option<Cursor>, limit: u32) -> String {
        let from = self.from(bound, narrow, after);
        let limit = bound.number(i64::from(limit) + 1);
        let (with, columns, keys, order) = (&self.with, &self.columns, self.keys(), self.order_by());
        format!("{with}SELECT {keys}, {columns} FROM {from} ORDER BY {order} LIMIT {limit}")
    }

    /// The last row of a full window.
    fn end(&self, bound: &mut Bound, narrow: &dyn Narrow, after: Option<Cursor>) -> String {
        let range = self.range(bound, narrow, after);
        let (source, keys, order) = (&self.source, self.keys(), self.order_by());
        let last = WINDOW - 1;
        format!("SELECT {keys} FROM {source} WHERE {range} ORDER BY {order} LIMIT 1 OFFSET {last}")
    }

    /// One window, or all of the source, with every condition.
    fn from(&self, bound: &mut Bound, narrow: &dyn Narrow, after: Option<Cursor>) -> String {
        let range = self.range(bound, narrow, after);
        let rest = narrow.rest(bound);
        let (source, order) = (&self.source, self.order_by());
        match self.window {
            Some(columns) => format!(
                "(SELECT {columns} FROM {source} WHERE {range} ORDER BY {order} LIMIT {WINDOW}) i WHERE {rest}"
            ),
            None => format!("{source} WHERE {range} AND {rest}"),
        }
    }

    fn range(&self, bound: &mut Bound, narrow: &dyn Narrow, after: Option<Cursor>) -> Conditions {
        let mut range = narrow.range(bound);
        let Some(after) = after else { return range };
        let sign = if self.newest_first { '<' } else { '>' };
        match self.order {
            Order::Time { moment, number } => {
                let (at, last) = (bound.time(after.time()), bound.number(after.number));
                // The first says to every planner what the second means for an index on the moment alone.
                range.and(format!("i.{moment} {sign}= {at}"));
                range.and(format!("(i.{moment}, i.{number}) {sign} ({at}, {last})"));
            }
            Order::Id => {
                range.and(format!("i.id {sign} {}", bound.number(after.number)));
            }
        }
        range
    }

    fn keys(&self) -> String {
        match self.order {
            Order::Time { moment, number } => format!("i.{moment}, i.{number}"),
            Order::Id => "i.id".into(),
        }
    }

    fn order_by(&self) -> String {
        let way = if self.newest_first { "DESC" } else { "ASC" };
        match self.order {
            Order::Time { moment, number } => format!("i.{moment} {way}, i.{number} {way}"),
            Order::Id => format!("i.id {way}"),
        }
    }

    fn cursor(&self, row: Vec<Param>) -> Result<(Cursor, Columns), StoreError> {
        let mut columns = Columns::of(row);
        let cursor = match self.order {
            Order::Time { .. } => Cursor::new(columns.time()?, 0, columns.number()?),
            Order::Id => Cursor { at: 0, rank: 0, number: columns.number()? },
        };
        Ok((cursor, columns))
    }
}

/// The first row of an answer, if it has one.
pub(super) fn first(rows: Vec<Row>) -> Option<Columns> {
    rows.into_iter().next().map(Columns::of)
}
