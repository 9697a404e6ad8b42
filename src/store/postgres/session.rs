//! A connection at work: the one place that decides whether a statement keeps a name on the server.
//!
//! A name is kept where the connection is a session of our own. Behind a transaction pooler the server may be another
//! one after each transaction, and a name would be somebody else's statement there. So nothing has a name then; and
//! since the driver sends even a nameless statement in two steps (parse, then run), each of which the pooler may give
//! to another server, a statement that would commit by itself gets a transaction around it.
//!
//! Queries are built with `sqlx::query` and run on a [`Session`], whatever stands between us and the server.

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{
    AssertSqlSafe, Either, Error, Execute, Executor, PgConnection, Postgres, Row as _, SqlStr, raw_sql,
};

type Step = Either<PgQueryResult, PgRow>;

/// A connection of the pool. Dropped with a transaction open, it is closed.
#[derive(Debug)]
pub(super) struct Session {
    connection: PoolConnection<Postgres>,
    /// Whether statements keep their names.
    named: bool,
    /// Whether a transaction is open, or may be.
    open: bool,
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.open {
            self.connection.close_on_drop();
        }
    }
}

impl Session {
    /// Boxed, so that `&mut *session` is what queries run on.
    #[expect(
        clippy::unnecessary_box_returns,
        reason = "a bare one would be borrowed as `&mut session`, unlike all others"
    )]
    pub(super) fn new(connection: PoolConnection<Postgres>, named: bool) -> Box<Self> {
        Box::new(Self { connection, named, open: false })
    }

    /// BEGIN, with `settings`: statements that end with a semicolon.
    pub(super) async fn begin(&mut self, settings: &str) -> Result<(), Error> {
        self.open = true;
        // Of the server that this transaction is on; the pool has asked whichever server there was then.
        let ask = if self.named { "" } else { "SELECT current_setting('transaction_read_only') = 'off'" };
        let begin = format!("BEGIN ISOLATION LEVEL READ COMMITTED; {settings} {ask}");
        let answer = raw_sql(AssertSqlSafe(begin)).fetch_optional(&mut *self.connection).await?;
        match answer.map(|row| row.try_get(0)).transpose()? {
            Some(false) => Err(Error::Protocol("the server only reads: is it a standby?".into())),
            _ => Ok(()),
        }
    }

    /// COMMIT. After an error the connection is not used again.
    pub(super) async fn commit(&mut self) -> Result<(), Error> {
        raw_sql("COMMIT").execute(&mut *self.connection).await?;
        self.open = false;
        Ok(())
    }

    /// ROLLBACK. After an error the connection is not used again, which rolls back too.
    pub(super) async fn rollback(&mut self) {
        self.open = raw_sql("ROLLBACK").execute(&mut *self.connection).await.is_err();
    }

    /// The connection itself, for queries that are not ours.
    pub(super) fn bare(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Whether statements keep their names.
    pub(super) fn is_named(&self) -> bool {
        self.named
    }

    async fn nameless(
        &mut self,
        sql: SqlStr,
        arguments: Result<Option<PgArguments>, Error>,
    ) -> Result<Vec<Step>, Error> {
        let Some(arguments) = arguments? else {
            // One message, so one server.
            return raw_sql(sql).fetch_many(&mut *self.connection).try_collect().await;
        };
        if self.open {
            return self.parsed(sql, arguments).await;
        }
        self.begin("").await?;
        match self.parsed(sql, arguments).await {
            Ok(steps) => {
                self.commit().await?;
                Ok(steps)
            }
            Err(error) => {
                self.rollback().await;
                Err(error)
            }
        }
    }

    async fn parsed(&mut self, sql: SqlStr, arguments: PgArguments) -> Result<Vec<Step>, Error> {
        let query = sqlx::query_with(sql, arguments).persistent(false);
        (&mut *self.connection).fetch_many(query).try_collect().await
    }
}

impl<'c> Executor<'c> for &'c mut Session {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(self, mut query: E) -> BoxStream<'e, Result<Step, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        if self.named {
            return (&mut *self.connection).fetch_many(query);
        }
        let arguments = query.take_arguments().map_err(Error::Encode);
        let steps = stream::once(self.nameless(query.sql(), arguments));
        steps.map_ok(|steps| stream::iter(steps.into_iter().map(Ok))).try_flatten().boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, mut query: E) -> BoxFuture<'e, Result<Option<PgRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        if self.named {
            return (&mut *self.connection).fetch_optional(query);
        }
        let arguments = query.take_arguments().map_err(Error::Encode);
        let steps = self.nameless(query.sql(), arguments);
        Box::pin(async move { Ok(steps.await?.into_iter().find_map(Either::right)) })
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, Error>>
    where
        'c: 'e,
    {
        (&mut *self.connection).prepare_with(sql, parameters)
    }
}
