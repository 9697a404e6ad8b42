//! What expressions answer.

use hookgate::jq::{EvaluationError, RunError};

use super::{ask, filter, output, transform};

#[tokio::test]
async fn a_filter_holds_if_its_output_is_neither_false_nor_null() {
    let body = r#"{"a": 1, "b": null, "c": "x", "list": []}"#;
    for (text, holds) in [
        (".a == 1", true),
        (".a > 1", false),
        (".a", true),
        (".b", false),
        (".none.at.all", false),
        (".list", true),
        ("0", true),
        (".c | test(\"^x$\")", true),
        (".c | startswith(\"y\")", false),
        ("any(.[]; . == 1)", true),
        ("has(\"c\") and (has(\"z\") | not)", true),
        ("$event.type == \"invoice.paid\"", true),
        ("$event.id | startswith(\"evt_\")", true),
    ] {
        let answer = ask(body, vec![filter(text)], false).await.expect(text);
        assert_eq!(!answer.is_empty(), holds, "{text}");
    }
}

#[tokio::test]
async fn anything_but_one_output_is_a_failure() {
    for text in ["empty", "true, true", ".a[]", "select(.a == 3)", ".a[] | select(. > 9)"] {
        let body = r#"{"a": [1, 2]}"#;
        let expected = Err(RunError::Failed(0, false, EvaluationError::Outputs));
        assert_eq!(ask(body, vec![filter(text)], false).await, expected, "{text}");
        assert_eq!(output(text, body).await, Err(EvaluationError::Outputs), "{text}");
    }
}

#[tokio::test]
async fn an_error_of_the_expression_is_a_failure_with_the_place_of_its_route() {
    let body = r#"{"a": "x"}"#;
    for text in
        ["error", "error(\"no\")", ".a + 1", ".a.b", ".a[\"x\"]", "1 % 0", ".a | tonumber", ".a | fromjson"]
    {
        let failed = RunError::Failed(1, false, EvaluationError::Raised);
        assert_eq!(ask(body, vec![filter("true"), filter(text)], false).await, Err(failed), "{text}");
    }
}

#[tokio::test]
async fn numbers_and_the_order_of_keys_stay_as_they_came() {
    let body = r#"{"z":10.10,"id":12345678901234567890123,"a":[1e400,-0.0,1E5,0.1],"é":"\u0000\"é😀"}"#;
    let same = r#"{"z":10.10,"id":12345678901234567890123,"a":[1e400,-0.0,1E5,0.1],"é":"\u0000\"é😀"}"#;
    assert_eq!(output(".", body).await.as_deref(), Ok(same));
    assert_eq!(output("{id, z}", body).await.as_deref(), Ok(r#"{"id":12345678901234567890123,"z":10.10}"#));
    assert_eq!(output(".id + 1", body).await.as_deref(), Ok("12345678901234567890124"));
    assert_eq!(output(".a[0]", body).await.as_deref(), Ok("1e400"));
}

#[tokio::test]
async fn the_language_is_jq() {
    let body =
        r#"{"items":[{"n":"a","p":3,"t":["x"]},{"n":"b","p":1,"t":[]}],"s":"a,b;c","o":{"k":{"v":1}}}"#;
    for (text, expected) in [
        ("[.items[] | select(.p > 2) | .n]", r#"["a"]"#),
        (".items | map(.p) | add", "4"),
        (".items | sort_by(.p) | map(.n) | join(\"-\")", r#""b-a""#),
        (".items | group_by(.p) | length", "2"),
        (".items | map({(.n): .p}) | add", r#"{"a":3,"b":1}"#),
        (".items | min_by(.p).n", r#""b""#),
        (".items[1:] | length", "1"),
        (".items[-1].n", r#""b""#),
        (".s / \",\"", r#"["a","b;c"]"#),
        (".s | split(\"[,;]\"; \"\") | length", "3"),
        (".s | gsub(\"[,;]\"; \"_\")", r#""a_b_c""#),
        (".s | [match(\"[a-z]\"; \"g\").string]", r#"["a","b","c"]"#),
        (".s | indices(\",\")", "[1]"),
        (".s[2:3]", r#""b""#),
        (".s | ascii_upcase | length", "5"),
        (".s | explode | implode", r#""a,b;c""#),
        (".o.k.v = 2 | .o", r#"{"k":{"v":2}}"#),
        (".new.deep = 1 | .new", r#"{"deep":1}"#),
        (".items[0].p |= . * 2 | .items[0].p", "6"),
        (".items |= map(del(.t, .p)) | .items", r#"[{"n":"a"},{"n":"b"}]"#),
        ("del(.items, .s)", r#"{"o":{"k":{"v":1}}}"#),
        (".items[0:1] = [] | .items | length", "1"),
        ("[.. | numbers]", "[3,1,1]"),
        ("[paths] | length", "14"),
        (".o | to_entries", r#"[{"key":"k","value":{"v":1}}]"#),
        (".o | with_entries(.key |= \"x\\(.)\")", r#"{"xk":{"v":1}}"#),
        ("walk(if type == \"number\" then tostring end) | .o", r#"{"k":{"v":"1"}}"#),
        (".o * {k: {w: 2}}", r#"{"k":{"v":1,"w":2}}"#),
        ("reduce .items[] as $i (0; . + $i.p)", "4"),
        ("[foreach .items[] as {p: $p} (0; . + $p)]", "[3,4]"),
        ("[limit(3; repeat(1))]", "[1,1,1]"),
        ("[range(0; 10; 3)]", "[0,3,6,9]"),
        ("def f(g): g + 1; f(.items | length)", "3"),
        ("def fac: if . < 2 then 1 else . * (. - 1 | fac) end; 25 | fac", "15511210043330985984000000"),
        (".items[] as {$n} | $n | select(. == \"a\")", r#""a""#),
        ("try error(\"x\") catch .", r#""x""#),
        (".s.a? // \"none\"", r#""none""#),
        ("\"2027-01-31T00:00:00Z\" | fromdate", "1801353600"),
        ("0 | todate", r#""1970-01-01T00:00:00Z""#),
        ("@base64 \"x\\(.s)\"", r#""xYSxiO2M=""#),
        ("\"{\\\"a\\\":[1]}\" | fromjson | .a[0]", "1"),
        ("[1, [2]] | tojson", r#""[1,[2]]""#),
        ("{a: [1, {b: 2}]} | contains({a: [{b: 2}]})", "true"),
        ("[1, 2, 3] | bsearch(3)", "2"),
        ("[3, 1] - [1]", "[3]"),
        ("\"ab\" * 2", r#""abab""#),
        ("getpath([\"o\", \"k\", \"v\"])", "1"),
        (". as $d | $event.id + $d.s", r#""evt_1a,b;c""#),
        ("[1, null, \"x\"] | unique | length", "3"),
        ("label $f | 1, break $f", "1"),
        ("-(1)", "-1"),
        ("[-1, 5] | map(length)", "[1,5]"),
    ] {
        assert_eq!(output(text, body).await.as_deref(), Ok(expected), "{text}");
    }
}

#[tokio::test]
async fn what_is_no_json_is_neither_read_nor_written() {
    for body in ["", "a=b", "{", "{} {}", "# note\n1", "NaN", "{1: 2}", "b\"x\"", "+1", "[1,]", "\u{feff}{}"]
    {
        assert_eq!(output("1", body).await, Err(EvaluationError::NotJson), "{body}");
    }
    for text in ["nan", "infinite", "{(\"a\", 1 | tostring | length): 1}, 1", "[nan]", "{([]): 1}"] {
        let error = output(text, "0").await.expect_err(text);
        assert!(
            matches!(error, EvaluationError::NoJsonOutput | EvaluationError::Outputs),
            "{text}: {error:?}"
        );
    }
}

#[tokio::test]
async fn a_body_that_would_cost_too_much_to_read_is_not_read() {
    let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(output("1", &nested(128)).await.is_ok());
    for body in [
        nested(129),
        nested(200_000),
        "9".repeat(5000),
        format!("[{}]", "1".repeat(1001)),
        format!("\"{}\"", "x".repeat(5 << 20)),
    ] {
        assert_eq!(output("1", &body).await, Err(EvaluationError::TooLarge));
    }
    // Brackets and digits in texts count for nothing.
    let text = format!("\"\\\"{}{}\"", "[".repeat(500), "9".repeat(2000));
    assert!(output("1", &text).await.is_ok());
}

#[tokio::test]
async fn with_first_only_the_first_route_that_wants_the_event_is_asked_for_its_transform() {
    let questions = || vec![filter("false"), transform("1"), transform("error")];
    assert_eq!(ask("{}", questions(), true).await, Ok(vec![(1, Some("1".into()))]));
    let failed = RunError::Failed(2, true, EvaluationError::Raised);
    assert_eq!(ask("{}", questions(), false).await, Err(failed));
}
