//! How SQL text is cut into pieces.

use hookgate::handler::sql::{Dialect, Kind, scan};
use proptest::prelude::*;

const BOTH: [Dialect; 2] = [Dialect::Postgres, Dialect::Sqlite];

/// The parameters, and the number of `;` that end something.
fn seen(sql: &str, dialect: Dialect) -> (Vec<&str>, usize) {
    let pieces = scan(sql, dialect).unwrap_or_else(|unclosed| panic!("{sql}: {unclosed:?}"));
    let of = |kind| pieces.iter().filter(move |piece| piece.kind == kind);
    (of(Kind::Parameter).map(|piece| piece.text).collect(), of(Kind::End).count())
}

#[test]
fn parameters_are_seen_where_they_are_and_nowhere_else() {
    for sql in [
        "SELECT :a, :b;",
        "SELECT ':x;' , ':it''s;', :a::text, \":x;\"\":x\", :b;",
        "SELECT :a -- not :x; here\n, :b;",
        "SELECT :a /* not :x; here */, :b;",
        "SELECT :a::jsonb ->> 'k:x', f(named := :b);",
        "SELECT :a||':x'||:b;",
        "SELECT slice[:a : :b], slice[1:2];",
        "SELECT '\\', :a, :b;",
        "SELECT é':x', :a, ü.é, :b;",
        "SELECT\r\n:a,\r\n:b\r\n;",
    ] {
        // In SQLite square brackets quote a name.
        let dialects = if sql.contains('[') { &BOTH[..1] } else { &BOTH[..] };
        for &dialect in dialects {
            assert_eq!(seen(sql, dialect), (vec![":a", ":b"], 1), "{sql} in {dialect:?}");
        }
    }
}

#[test]
fn what_only_one_dialect_has_hides_parameters_only_there() {
    for (sql, postgres, sqlite) in [
        ("$$:x;$$ :a", vec![":a"], None),
        ("$fn$ $$:x;$$ $f$ :x $fn$ :a", vec![":a"], None),
        ("$é$ :x $é$ :a", vec![":a"], None),
        ("E'\\':x;' :a", vec![":a"], None),
        ("e'\\\\' :a", vec![":a"], Some(vec![":a"])),
        ("name'\\' :a", vec![":a"], Some(vec![":a"])),
        ("/* /* */ :x */ :a", vec![":a"], Some(vec![":x", ":a"])),
        ("payload ? ':x' AND payload ?| :a", vec![":a"], Some(vec![":a"])),
        ("[:x] :a", vec![":x", ":a"], Some(vec![":a"])),
        ("`:x;` :a", vec![":x", ":a"], Some(vec![":a"])),
        ("a$b$:a", vec![":a"], Some(vec![":a"])),
    ] {
        assert_eq!(seen(sql, Dialect::Postgres).0, postgres, "{sql}");
        if let Some(sqlite) = sqlite {
            assert_eq!(seen(sql, Dialect::Sqlite).0, sqlite, "{sql}");
        }
    }
}

#[test]
fn what_is_never_closed_is_reported_with_the_line_of_its_opening() {
    for (sql, line, what) in [
        ("SELECT 1;\nSELECT 'it''s\n", 2, "a string"),
        ("\n\nSELECT \"a", 3, "a quoted name"),
        ("SELECT 1 /* \n\n", 1, "a comment"),
        ("/* /* */ ", 1, "a comment"),
        ("SELECT\n$body$ x $bodY$", 2, "a dollar-quoted string"),
        ("E'\\'", 1, "a string"),
    ] {
        let unclosed = scan(sql, Dialect::Postgres).expect_err(sql);
        assert_eq!((unclosed.line, unclosed.what), (line, what), "{sql}");
    }
}

/// A stretch of SQL, and whether it is a parameter or an end. Each can stand beside each other.
fn stretch(dialect: Dialect) -> impl Strategy<Value = (String, Option<Kind>)> {
    let hidden = match dialect {
        Dialect::Postgres => {
            vec!["'{}'", "\"{}\"", "E'\\'{}'", "$q${}$q$", "$${}$$", "/* /* {} */ */", "--{}\n"]
        }
        Dialect::Sqlite => vec!["'{}'", "\"{}\"", "`{}`", "[{}]", "/* /* {} */", "--{}\n"],
    };
    prop_oneof![
        "[a-z_]{1,5}".prop_map(|name| (format!(" :{name} "), Some(Kind::Parameter))),
        Just((";".to_owned(), Some(Kind::End))),
        (prop::sample::select(hidden), "(:[a-z]|;|é| |::)*")
            .prop_map(|(form, inside)| (form.replace("{}", &inside), None)),
        prop::sample::select(vec!["x", "::", ":=", " ", "1.5", "(", ")", "->>", "-", "/", "*", "é"])
            .prop_map(|code| (format!(" {code} "), None)),
    ]
}

fn stretches() -> impl Strategy<Value = (Dialect, Vec<(String, Option<Kind>)>)> {
    prop::sample::select(&BOTH[..])
        .prop_flat_map(|dialect| (Just(dialect), prop::collection::vec(stretch(dialect), 0..20)))
}

proptest! {
    #[test]
    fn any_text_is_cut_without_loss_or_refused(
        sql in "([a-e]|:|;|'|\"|\\$|\\[|\\]|`|\\?|-|/|\\*|\\\\|\n|é|1){0,40}",
        dialect in prop::sample::select(&BOTH[..]),
    ) {
        if let Ok(pieces) = scan(&sql, dialect) {
            prop_assert_eq!(pieces.iter().map(|piece| piece.text).collect::<String>(), sql.clone());
            let mut before = String::new();
            for piece in pieces {
                prop_assert!(!piece.text.is_empty());
                prop_assert_eq!(piece.line, 1 + before.matches('\n').count());
                before.push_str(piece.text);
            }
        }
    }

    #[test]
    fn what_is_put_between_quotes_or_in_comments_stays_hidden((dialect, stretches) in stretches()) {
        let sql: String = stretches.iter().map(|(text, _)| text.as_str()).collect();
        let wanted: Vec<&str> = stretches
            .iter()
            .filter(|(_, kind)| *kind == Some(Kind::Parameter))
            .map(|(text, _)| text.trim())
            .collect();
        let ends = stretches.iter().filter(|(_, kind)| *kind == Some(Kind::End)).count();
        prop_assert_eq!(seen(&sql, dialect), (wanted, ends), "{}", sql);
    }
}
