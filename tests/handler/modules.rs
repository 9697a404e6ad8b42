//! SQL modules as they are read: statements, parameters, what is refused.

use hookgate::config::{SqlModule, SqlParam, SqlType};
use hookgate::handler::sql::{BUILT_IN_PARAMS, Dialect, SqlHandler};

const ROUTE: &str = "config/hookgate.toml:12";

pub fn module(text: &str, params: &[(&str, &str, SqlType)]) -> SqlModule {
    let param = |pointer: &str, kind| SqlParam { pointer: pointer.into(), kind };
    SqlModule {
        name: "grant".into(),
        path: "handlers/grant.sql".into(),
        text: text.into(),
        params: params.iter().map(|&(name, pointer, kind)| (name.into(), param(pointer, kind))).collect(),
        operation: "grant".into(),
    }
}

fn statements(text: &str, params: &[(&str, &str, SqlType)], dialect: Dialect) -> Vec<String> {
    let handler = SqlHandler::new(&module(text, params), ROUTE, dialect).unwrap();
    handler.statements().map(str::to_owned).collect()
}

fn refused(text: &str, params: &[(&str, &str, SqlType)], dialect: Dialect) -> String {
    SqlHandler::new(&module(text, params), ROUTE, dialect).expect_err(text).to_string()
}

#[test]
fn statements_are_cut_at_semicolons_and_blank_ones_are_left_out() {
    let text = "\u{feff}-- a head\n;;\nINSERT INTO a VALUES (';');\n\n/* second */ UPDATE a SET x = 1 -- why\n;\n-- end\n";
    for dialect in [Dialect::Postgres, Dialect::Sqlite] {
        assert_eq!(
            statements(text, &[], dialect),
            ["INSERT INTO a VALUES (';')", "UPDATE a SET x = 1"],
            "{dialect:?}"
        );
    }
}

#[test]
fn parameters_become_numbers_with_types_where_the_engine_needs_them() {
    let text = "INSERT INTO a VALUES (:event_id, :amount, :event_id::varchar); SELECT f(:at, :amount, :body)";
    let params = [("amount", "/amount", SqlType::Bigint), ("at", "/at", SqlType::Timestamptz)];
    assert_eq!(
        statements(text, &params, Dialect::Postgres),
        [
            "INSERT INTO a VALUES (($1::text), ($2::bigint), ($1::text)::varchar)",
            "SELECT f(($1::timestamptz), ($2::bigint), ($3::bytea))",
        ]
    );
    assert_eq!(
        statements(text, &params, Dialect::Sqlite),
        ["INSERT INTO a VALUES ($1, $2, $1::varchar)", "SELECT f($1, $2, $3)"]
    );
}

#[test]
fn every_built_in_parameter_can_be_named() {
    for name in BUILT_IN_PARAMS {
        for dialect in [Dialect::Postgres, Dialect::Sqlite] {
            let text = format!("SELECT :{name}");
            assert!(statements(&text, &[], dialect)[0].contains("$1"), "{name}");
        }
    }
}

#[test]
fn commands_that_reach_beyond_the_transaction_are_refused_with_file_and_line() {
    for command in [
        "BEGIN",
        "begin transaction",
        "START TRANSACTION",
        "COMMIT",
        "commit work",
        "END",
        "ROLLBACK",
        "ROLLBACK TO s",
        "ABORT",
        "SAVEPOINT s",
        "RELEASE s",
        "PREPARE TRANSACTION 'x'",
        "SET x = 1",
        "SET LOCAL x = 1",
        "RESET ALL",
        "DISCARD ALL",
        "DEALLOCATE ALL",
        "PREPARE p AS SELECT 1",
        "EXECUTE p",
        "SET SESSION AUTHORIZATION x",
        "SELECT set_config('search_path', 'x', false)",
        "SELECT pg_catalog.\"set_config\" ('a', f(b, true), FALSE)",
        "SELECT set_config('a', 'b', :event_id = 'x')",
        "SELECT set_config('a', 'b', true), set_config('a', 'b', false)",
        "LISTEN x",
        "UNLISTEN *",
        "LOAD 'x'",
        "COPY a FROM STDIN",
        "VACUUM",
        "ATTACH 'x' AS y",
        "DETACH y",
        "PRAGMA x",
    ] {
        for dialect in [Dialect::Postgres, Dialect::Sqlite] {
            let error = refused(&format!("SELECT 1;\n\n/* now */ {command};"), &[], dialect);
            assert!(error.starts_with("handlers/grant.sql:3: "), "{error}");
            assert!(error.contains("is not allowed in a handler"), "{error}");
        }
    }
    let text = "UPDATE invoices SET status = 'x' WHERE id = 'BEGIN'; SELECT setting, beginning, commits FROM a; \
                SELECT set_config('a', f('b', false), TRUE), set_config FROM a WHERE b = 'set_config('";
    assert_eq!(statements(text, &[], Dialect::Postgres).len(), 3);
}

#[test]
fn an_unknown_parameter_is_refused_with_file_and_line_and_the_names_there_are() {
    let error = refused(
        "SELECT 1;\nSELECT :event_id,\n  :evnt_id",
        &[("amount", "/amount", SqlType::Bigint)],
        Dialect::Postgres,
    );
    assert!(error.starts_with("handlers/grant.sql:3: there is no parameter `:evnt_id`"), "{error}");
    for name in [":event_id", ":payload", ":idempotency_key", ":amount"] {
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn parameters_without_a_name_are_refused() {
    for (text, dialect) in [
        ("SELECT $1", Dialect::Postgres),
        ("SELECT ?", Dialect::Sqlite),
        ("SELECT ?1", Dialect::Sqlite),
        ("SELECT $1", Dialect::Sqlite),
        ("SELECT @event_id", Dialect::Sqlite),
        ("SELECT $event_id", Dialect::Sqlite),
        ("SELECT :1", Dialect::Sqlite),
    ] {
        let error = refused(text, &[], dialect);
        assert!(error.starts_with("handlers/grant.sql:1: ") && error.contains("`:name`"), "{error}");
    }
    // Operators of PostgreSQL.
    assert_eq!(statements("SELECT a ? 'x', a @> b, @ -5, a ?| c", &[], Dialect::Postgres).len(), 1);
}

#[test]
fn a_routes_own_parameters_are_checked_where_the_route_stands() {
    let one = |name, pointer| [(name, pointer, SqlType::Text)];
    for (text, params, expected) in [
        ("SELECT :a", one("unused", "/x"), "the parameter `unused` is not used"),
        ("SELECT :event_id", one("event_id", "/x"), "is there already"),
        ("SELECT :a", one("a", "x"), "must begin with /"),
        ("SELECT 1", one("no-name", "/x"), "cannot be a parameter's name"),
        ("SELECT 1", one("", "/x"), "cannot be a parameter's name"),
        ("SELECT 1", one("1a", "/x"), "cannot be a parameter's name"),
    ] {
        let text = if expected.contains("not used") { "SELECT 1" } else { text };
        let error = refused(text, &params, Dialect::Postgres);
        assert!(error.starts_with("config/hookgate.toml:12: ") && error.contains(expected), "{error}");
    }
}

#[test]
fn a_file_without_a_statement_is_refused() {
    for text in ["", "  \n", "-- nothing\n;;"] {
        let error = refused(text, &[], Dialect::Sqlite);
        assert!(error.contains("there is no statement"), "{error}");
    }
}

#[test]
fn an_unclosed_string_is_refused_with_file_and_line() {
    let error = refused("SELECT 1;\nSELECT 'x", &[], Dialect::Sqlite);
    assert_eq!(error, "handlers/grant.sql:2: a string is opened here and never closed");
}
