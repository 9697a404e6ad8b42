//! SQL modules as they run, on both engines.

use hookgate::config::SqlType;
use hookgate::handler::sql::{Dialect, SqlHandler};
use hookgate::handler::{Handler as _, HandlerError, Outcome};
use hookgate::model::Event;
use hookgate::store::{Param, Sql, Tx};

use super::modules::module;
use super::support::{Db, databases, event, number, row, text};

type Params<'a> = [(&'a str, &'a str, SqlType)];

fn handler(db: &Db, sql: &str, params: &Params<'_>) -> SqlHandler {
    SqlHandler::new(&module(sql, params), "hookgate.toml:1", db.dialect).expect(sql)
}

async fn make(tx: &mut Tx, table: &str) {
    tx.execute_text(table, &[]).await.expect(table);
}

/// What becomes of the value at `/v` as a parameter of type `kind`, read back as text.
async fn through(db: &Db, value: &str, kind: SqlType) -> Result<Option<String>, HandlerError> {
    let mut tx = db.begin().await;
    make(&mut tx, "CREATE TABLE seen (v text)").await;
    let sql = match (db.dialect, kind) {
        (Dialect::Postgres, SqlType::Timestamptz) => {
            r#"INSERT INTO seen VALUES (to_char(:v AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))"#
        }
        (Dialect::Sqlite, SqlType::Boolean) => {
            "INSERT INTO seen VALUES (CASE :v WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)"
        }
        _ => "INSERT INTO seen VALUES (CAST(:v AS text))",
    };
    let event = event("x", "evt_1", &format!("{{\"v\":{value}}}"));
    handler(db, sql, &[("v", "/v", kind)]).handle(&mut tx, &event).await?;
    match row(&mut tx, Sql::same("SELECT v FROM seen"), &[]).await.as_deref() {
        Some([Param::Text(text)]) => Ok(text.clone()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn values_of_the_payload_arrive_whole_in_the_types_they_are_given() {
    use SqlType::{Bigint, Boolean, Double, Json, Text, Timestamptz};
    for db in databases().await {
        for (value, kind, expected) in [
            (r#""it's ; :x \u00e9""#, Text, "it's ; :x é"),
            ("9007199254740993", Text, "9007199254740993"),
            ("1.10", Text, "1.10"),
            ("1e400", Text, "1e400"),
            ("true", Text, "true"),
            ("-9223372036854775808", Bigint, "-9223372036854775808"),
            (r#""42""#, Bigint, "42"),
            ("1.5", Double, "1.5"),
            (r#""-0.25""#, Double, "-0.25"),
            ("true", Boolean, "true"),
            (r#""false""#, Boolean, "false"),
            (r#""2026-11-30T21:45:12.250+01:00""#, Timestamptz, "2026-11-30T20:45:12.250Z"),
            ("1700000000", Timestamptz, "2023-11-14T22:13:20.000Z"),
            ("1700000000.25", Timestamptz, "2023-11-14T22:13:20.250Z"),
            (r#""1700000000""#, Timestamptz, "2023-11-14T22:13:20.000Z"),
            ("-1", Timestamptz, "1969-12-31T23:59:59.000Z"),
            (r#""é""#, Json, r#""é""#),
            ("[]", Json, "[]"),
        ] {
            let found = through(&db, value, kind).await.unwrap_or_else(|error| panic!("{value}: {error}"));
            assert_eq!(found.as_deref(), Some(expected), "{value} as {kind:?} on {:?}", db.dialect);
        }
        for kind in [Text, Bigint, Double, Boolean, Timestamptz, Json] {
            assert_eq!(through(&db, "null", kind).await.unwrap(), None, "{kind:?}");
        }
    }
}

#[tokio::test]
async fn a_value_that_does_not_fit_its_type_fails_for_good_and_is_not_named() {
    use SqlType::{Bigint, Boolean, Double, Json, Text, Timestamptz};
    for db in databases().await {
        for (value, kind) in [
            (r#"{"secret":1}"#, Text),
            ("[1]", Text),
            (r#""secret\u0000""#, Text),
            (r#""\ud800secret""#, Text),
            ("1.5", Bigint),
            ("9223372036854775808", Bigint),
            (r#""secret""#, Bigint),
            ("true", Bigint),
            ("1e400", Double),
            (r#""NaN""#, Double),
            (r#""inf""#, Double),
            ("1", Boolean),
            (r#""secret""#, Boolean),
            (r#"{"a":"secret\u0000"}"#, Json),
            (r#"["\ud800"]"#, Json),
            (r#"["\udc00"]"#, Json),
            (r#"["\udc00\ud800"]"#, Json),
            (r#"["\ud800\u0041"]"#, Json),
            (r#""secret""#, Timestamptz),
            (r#""2026-11-30""#, Timestamptz),
            ("1700000000000", Timestamptz),
            ("1e9", Timestamptz),
            (r#""17.x""#, Timestamptz),
            (r#""17.""#, Timestamptz),
        ] {
            let error = through(&db, value, kind).await.expect_err(value);
            assert_eq!(
                (error.code.as_str(), error.retryable),
                ("handler.param.v", false),
                "{value} as {kind:?}"
            );
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        for fits in [r#"["\\u0000","\ud83d\ude00","\n\"\u00e9"]"#, r#"{"a":[1e400]}"#] {
            if db.dialect == Dialect::Postgres {
                through(&db, fits, Json).await.expect(fits);
            }
        }
    }
}

#[tokio::test]
async fn what_is_not_in_the_payload_is_null_also_where_the_body_is_no_json() {
    for db in databases().await {
        for body in [r#"{"data":{}}"#, "a=b", ""] {
            let mut tx = db.begin().await;
            make(&mut tx, "CREATE TABLE seen (amount bigint, name text)").await;
            let params = [("amount", "/data/amount", SqlType::Bigint), ("name", "/data/name", SqlType::Text)];
            let handler = handler(&db, "INSERT INTO seen VALUES (:amount, :name)", &params);
            assert_eq!(handler.handle(&mut tx, &event("x", "evt_1", body)).await.unwrap(), Outcome::Done);
            let nulls = Sql::same("SELECT count(*) FROM seen WHERE amount IS NULL AND name IS NULL");
            assert_eq!(number(&mut tx, nulls, &[]).await, 1, "{body}");
        }
    }
}

#[tokio::test]
async fn built_in_parameters_are_the_events_own() {
    for db in databases().await {
        let mut tx = db.begin().await;
        make(&mut tx, "CREATE TABLE seen (name text, v text)").await;
        let names = [
            "event_id",
            "event_type",
            "provider",
            "endpoint",
            "content_type",
            "account",
            "ordering_key",
            "idempotency_key",
        ];
        let sql: String =
            names.map(|name| format!("INSERT INTO seen VALUES ('{name}', :{name});\n")).concat();
        let mut event = event("invoice.paid", "evt_1", "{}");
        event.account = Some("acct_1".into());
        handler(&db, &sql, &[]).handle(&mut tx, &event).await.unwrap();
        for (name, expected) in [
            ("event_id", Some("evt_1")),
            ("event_type", Some("invoice.paid")),
            ("provider", Some("stripe")),
            ("endpoint", Some("billing")),
            ("content_type", Some("application/json")),
            ("account", Some("acct_1")),
            ("ordering_key", None),
            ("idempotency_key", Some("webhook:stripe:billing:evt_1:grant")),
        ] {
            let seen = row(&mut tx, Sql::same("SELECT v FROM seen WHERE name = $1"), &[text(name)]).await;
            assert_eq!(seen, Some(vec![Param::Text(expected.map(str::to_owned))]), "{name}");
        }
    }
}

#[tokio::test]
async fn times_and_bytes_arrive_as_such() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let (table, times) = match db.dialect {
            Dialect::Postgres => (
                "CREATE TABLE seen (received timestamptz, occurred timestamptz, body bytea)",
                Sql::same("SELECT CAST(extract(epoch FROM received - occurred) AS bigint) FROM seen"),
            ),
            Dialect::Sqlite => (
                "CREATE TABLE seen (received text, occurred text, body blob)",
                Sql::same("SELECT CAST(unixepoch(received) - unixepoch(occurred) AS bigint) FROM seen"),
            ),
        };
        make(&mut tx, table).await;
        let mut event = event("x", "evt_1", "");
        event.body = b"\x00\xff'".as_slice().into();
        handler(&db, "INSERT INTO seen VALUES (:received_at, :occurred_at, :body)", &[])
            .handle(&mut tx, &event)
            .await
            .unwrap();
        assert_eq!(number(&mut tx, times, &[]).await, 100);
        let body = row(&mut tx, Sql::same("SELECT body FROM seen"), &[]).await;
        assert_eq!(body, Some(vec![Param::Bytes(Some(event.body.clone()))]));
    }
}

#[tokio::test]
async fn the_payload_is_json_or_null_where_the_database_has_no_room_for_it() {
    for db in databases().await {
        for (body, expected) in [
            (br#"{"data":{"id":"in_1"}}"#.as_slice(), Some("in_1")),
            (b"data=1", None),
            (b"", None),
            (b"\xff", None),
            (b"{\"data\":{\"id\":\"in_1\"}} \x00", None),
        ] {
            let mut tx = db.begin().await;
            make(&mut tx, "CREATE TABLE seen (v text)").await;
            let mut event = event("x", "evt_1", "");
            event.body = body.to_vec().into();
            let sql = match db.dialect {
                Dialect::Postgres => "INSERT INTO seen VALUES (:payload -> 'data' ->> 'id')",
                Dialect::Sqlite => "INSERT INTO seen VALUES (:payload ->> '$.data.id')",
            };
            assert_eq!(handler(&db, sql, &[]).handle(&mut tx, &event).await.unwrap(), Outcome::Done);
            let seen = row(&mut tx, Sql::same("SELECT v FROM seen"), &[]).await;
            assert_eq!(seen, Some(vec![Param::Text(expected.map(str::to_owned))]), "{body:?}");
        }
    }
}

#[tokio::test]
async fn a_module_writes_to_the_outbox() {
    for db in databases().await {
        let mut tx = db.begin().await;
        let payload = match db.dialect {
            Dialect::Postgres => "jsonb_build_object('key', :idempotency_key)",
            Dialect::Sqlite => "json_object('key', :idempotency_key)",
        };
        let sql = format!(
            "INSERT INTO outbox (aggregate_type, aggregate_id, event_type, payload) \
             VALUES ('Customer', :event_id, 'CustomerSeen', {payload});"
        );
        handler(&db, &sql, &[]).handle(&mut tx, &event("x", "evt_1", "{}")).await.unwrap();
        let key = row(&mut tx, Sql::same("SELECT payload ->> 'key' FROM outbox"), &[]).await;
        assert_eq!(key, Some(vec![text("webhook:stripe:billing:evt_1:grant")]));
    }
}

#[tokio::test]
async fn a_statement_that_fails_is_named_by_its_number_and_line_without_values() {
    for db in databases().await {
        let mut tx = db.begin().await;
        make(&mut tx, "CREATE TABLE seen (name text PRIMARY KEY)").await;
        let sql = "-- twice\nINSERT INTO seen VALUES (:event_id);\n\n\nINSERT INTO seen\nVALUES (:event_id);";
        let event = event("x", "evt_secret", "{}");
        let error = handler(&db, sql, &[]).handle(&mut tx, &event).await.unwrap_err();
        let code = if db.dialect == Dialect::Postgres { "23505" } else { "1555" };
        assert_eq!(error.code, format!("handler.sql.{code}"));
        assert!(error.retryable);
        let text = format!("{error} {error:?}");
        assert!(text.contains("statement 2 (handlers/grant.sql:5)"), "{text}");
        assert!(text.contains("seen"), "what was violated: {text}");
        assert!(!text.contains("secret"), "{text}");
        assert!(std::error::Error::source(&error).is_none() && error.cause().is_some());
    }
}

#[tokio::test]
async fn preparing_finds_what_the_schema_does_not_know_and_runs_nothing() {
    for db in databases().await {
        let mut tx = db.begin().await;
        make(&mut tx, "CREATE TABLE seen (name text, amount bigint)").await;
        let good = "INSERT INTO seen VALUES (:event_id, :amount);\nDELETE FROM seen WHERE name = :event_id";
        let params = [("amount", "/amount", SqlType::Bigint)];
        handler(&db, good, &params).prepare(&mut tx).await.unwrap();
        assert_eq!(number(&mut tx, Sql::same("SELECT count(*) FROM seen"), &[]).await, 0);
        let bad = "SELECT 1;\n\nINSERT INTO nowhere VALUES (:event_id)";
        let error = handler(&db, bad, &[]).prepare(&mut tx).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains("statement 2 (handlers/grant.sql:3)") && text.contains("nowhere"), "{text}");
    }
}

#[tokio::test]
async fn postgres_functions_operators_and_casts_work_with_parameters() {
    for db in databases().await.into_iter().filter(|db| db.dialect == Dialect::Postgres) {
        let mut tx = db.begin().await;
        make(&mut tx, "CREATE TABLE seen (v text)").await;
        make(
            &mut tx,
            "CREATE FUNCTION note(who text, amount bigint) RETURNS void LANGUAGE sql AS \
             $$ INSERT INTO seen VALUES (who || amount) $$",
        )
        .await;
        let sql = "SELECT note(who := :event_id, amount := :amount);\n\
                   INSERT INTO seen SELECT 'has' WHERE :payload ? 'amount' AND :payload @> '{\"amount\": 7}';\n\
                   INSERT INTO seen VALUES ((ARRAY['a', 'b', 'c'])[:amount::int - 5]);\n\
                   INSERT INTO seen SELECT :payload::text LIMIT :amount;\n\
                   INSERT INTO seen SELECT $x$:decoy$x$ || :event_id || E'\\'';";
        let event: Event = event("x", "evt_1", r#"{"amount":7}"#);
        handler(&db, sql, &[("amount", "/amount", SqlType::Bigint)]).handle(&mut tx, &event).await.unwrap();
        let all = row(&mut tx, Sql::same("SELECT string_agg(v, ',') FROM seen"), &[]).await;
        assert_eq!(all, Some(vec![text(r#"evt_17,has,b,{"amount": 7},:decoyevt_1'"#)]));
    }
}
