//! What is refused when an expression is loaded, and where it says so.

use hookgate::jq::Expression;

#[test]
fn what_reaches_out_of_the_expression_does_not_compile() {
    for (text, name, help) in [
        ("env.SECRET", "env", "the environment"),
        ("$ENV.SECRET", "$ENV", "the environment"),
        ("halt", "halt", "an expression ends"),
        ("halt(3)", "halt", "an expression ends"),
        ("\"x\" | halt_error", "halt_error", "an expression ends"),
        ("halt_error(1)", "halt_error", "an expression ends"),
        ("input", "input", "the only input"),
        ("[inputs]", "inputs", "the only input"),
        ("debug", "debug", "no other output"),
        ("debug(\"x\")", "debug", "no other output"),
        ("stderr", "stderr", "no other output"),
        ("now", "now", "$event.received_at"),
        ("0 | localtime", "localtime", "$event.received_at"),
        ("input_filename", "input_filename", "the only input"),
        ("get_search_list", "get_search_list", "modules"),
    ] {
        let error = Expression::new(text).expect_err(text);
        assert!(error.problem.contains("there is no") && error.problem.contains(name), "{error:?}");
        assert!(error.help.as_deref().unwrap_or("").contains(help), "{text}: {error:?}");
    }
}

#[test]
fn no_module_and_no_file_is_loaded() {
    for text in [
        "include \"x\"; .",
        "import \"x\" as x; .",
        "import \"/etc/passwd\" as $x; $x",
        "import \"x\" as $x {search: \"/\"}; .",
    ] {
        let error = Expression::new(text).expect_err(text);
        assert!(error.help.as_deref().unwrap_or("").contains("modules or files"), "{text}: {error:?}");
    }
}

#[test]
fn an_error_names_its_place_in_the_expression() {
    for (text, at, problem) in [
        (".a | fo", (1, 6), "there is no filter `fo`"),
        (".a\n  | select(.b == $c)", (2, 18), "there is no variable `$c`"),
        (".a |", (1, 5), "expected term at the end"),
        (".a ) .b", (1, 4), "expected"),
        ("[1, 2", (1, 6), "[ is not closed"),
        ("\"a", (1, 3), "is not closed"),
        ("\u{e4} | .", (1, 1), "expected a token"),
        ("", (1, 1), "expected term at the end"),
    ] {
        let error = Expression::new(text).expect_err(text);
        assert_eq!(error.at, at, "{text}: {error:?}");
        assert!(error.problem.contains(problem), "{text}: {error:?}");
    }
}

#[test]
fn a_text_that_is_nested_or_long_is_refused_and_does_not_end_the_process() {
    for text in
        ["(".repeat(16_000), "-".repeat(16_000), "[".repeat(16_000), format!("{}.", "try ".repeat(4000))]
    {
        let _ = Expression::new(&text);
    }
    let error = Expression::new(&format!(".{}", " ".repeat(20_000))).expect_err("too long");
    assert!(error.problem.contains("longer than 16 KiB"), "{error:?}");
}
