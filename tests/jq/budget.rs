//! Hostile expressions end, and end nothing but themselves.

use std::time::Duration;

use bytes::Bytes;
use hookgate::jq::{EvaluationError, RunError, Runner};

use super::{filter, output};

/// Each would run forever, take all memory, or overflow the stack.
const HOSTILE: [&str; 48] = [
    "def f: f + 1; f",
    "def f: 1 + f; f",
    "def f: [f]; f",
    "def f: {a: f}; f",
    "def f: f | .; f",
    "def f: f, f; f",
    "def f: f as $x | $x; f",
    "def f(g): f(g | .); f(.)",
    "def f(g): f(g + 1); f(0)",
    "def f(g; $n): if $n > 1000000 then 0 else f(g + 1; $n + 1) end; f(0; 0)",
    "def f(g): def h: f(g + 1); h; f(0)",
    "def f: reduce f as $x (0; .); f",
    "def f: try f catch .; f",
    "def f: label $x | f; f",
    "def f: path(f); f",
    "[limit(2000000; repeat(1))]",
    "[range(1e12)]",
    "last(range(1e12))",
    "reduce range(1e12) as $i (0; . + $i)",
    "[foreach range(1e12) as $i (0; . + 1)]",
    "[repeat(\"x\")]",
    "repeat(empty)",
    "last(repeat(1))",
    "until(false; .)",
    "[while(true; . + 1)]",
    "[recurse(. + 1)]",
    "last(recurse([.]))",
    "try last(repeat(1)) catch 1",
    "first(repeat(empty))",
    "\"x\" * 1000000000",
    "\"x\" * 1e300",
    "reduce range(64) as $i (\"x\"; . + .)",
    "reduce range(64) as $i ([1]; . + .)",
    "reduce range(64) as $i ([1]; [., .])",
    "reduce range(64) as $i ({}; {a: ., b: .}) | tojson",
    "(reduce range(60) as $i ([1]; [., .])) as $x | $x == ($x | .[0] = $x[1])",
    "reduce range(1000000) as $i (null; [.])",
    "reduce range(1000000) as $i (null; {a: .})",
    "null | last(path(recurse(.a)))",
    "null | setpath([range(1000000) | \"a\"]; 1)",
    "(\"[\" * 1000000) | fromjson",
    "(\"9\" * 1000000) | tonumber",
    "reduce range(64) as $i (10; . * .) | tostring | length | . + 0 | error",
    "[range(100000)] | combinations(9)",
    "[range(1500)] | [.[] as $a | .[] as $b | .[] as $c | 1]",
    "[range(100000) | 0] as $x | $x | indices($x[50000:] + [1])",
    "[range(300000)] | sort_by(-.) | sort_by(.) | sort_by(-.) | length | . / 0 | error",
    "null | (repeat(.a)) |= 1",
];

#[tokio::test]
async fn a_hostile_expression_ends_within_its_budget_and_the_next_one_runs() {
    for text in HOSTILE {
        let error = output(text, "1").await.expect_err(text);
        assert!(matches!(error, EvaluationError::Budget(_) | EvaluationError::Raised), "{text}: {error:?}");
    }
    assert_eq!(output("1 + 1", "{}").await.as_deref(), Ok("2"));
}

#[tokio::test]
async fn a_result_that_is_too_long_is_not_kept() {
    let error = output("\"x\" * 5000000", "1").await;
    assert_eq!(error, Err(EvaluationError::Budget("output (4 MiB)")));
    assert!(output("\"x\" * 4000000", "1").await.is_ok());
}

#[tokio::test]
async fn an_evaluation_that_cannot_be_stopped_keeps_its_thread_and_no_other_is_taken_for_it() {
    let runner = Runner::new(1, Duration::from_millis(50));
    let slow = "(\"a\" * 120000) | test(\"(a*)*(a*)*(a*)*(a*)*b\")";
    let body = Bytes::from_static(b"1");
    let first = runner.ask(body.clone(), body.clone(), vec![filter(slow)], false).await;
    assert_eq!(first, Err(RunError::Failed(0, false, EvaluationError::Budget("time (2 s)"))));
    // Its place is free again once it has come to its end, not before.
    let mut answers = Vec::new();
    while answers.last() != Some(&Ok(vec![(0, None)])) {
        answers.push(runner.ask(body.clone(), body.clone(), vec![filter("true")], false).await);
    }
    assert_eq!(answers[0], Err(RunError::Busy), "{answers:?}");
}
