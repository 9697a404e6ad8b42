//! Which layer wins, and what files add to each other.

use std::time::Duration;

use super::{Case, ENDPOINT, billing};

#[test]
fn without_any_file_the_defaults_are_a_whole_configuration() {
    let mut case = Case::new("");
    case.files.clear();
    let config = case.load().config;
    assert_eq!(config.server.listen.to_string(), "0.0.0.0:8080");
    assert_eq!(config.admin.listen.to_string(), "127.0.0.1:8081");
    assert_eq!(config.inbox.lease, Duration::from_mins(2));
    assert_eq!((config.inbox.max_attempts, config.outbox.max_attempts), (10, 20));
    assert_eq!(config.outbox.max_age, Some(Duration::from_hours(72)));
    assert!(config.endpoints.is_empty());
}

#[test]
fn a_later_file_wins_over_an_earlier_one_a_variable_over_files_and_a_flag_over_all() {
    let case = Case::new("[server]\nlisten = \"127.0.0.1:1\"\nmax_in_flight = 1\nmax_connections = 11\n")
        .named("second.toml", "[server]\nlisten = \"127.0.0.1:2\"\nmax_in_flight = 2\n")
        .variable("HOOKGATE__SERVER__LISTEN", "127.0.0.1:3")
        .flag("--listen", &["server", "listen"], "127.0.0.1:4");
    let server = case.load().config.server;
    assert_eq!(server.listen.port(), 4);
    assert_eq!((server.max_in_flight, server.max_connections), (2, 11));
}

#[test]
fn a_variable_reaches_an_endpoint_and_its_lists() {
    let case = billing("")
        .variable("HOOKGATE__ENDPOINTS__BILLING__MODE", "sync")
        .variable("HOOKGATE__ENDPOINTS__BILLING__PATHS", r#"["/a", "/b"]"#)
        .variable("HOOKGATE__DATABASE__MIGRATE", "false")
        .variable("HOOKGATE__INBOX__MAX_ATTEMPTS", "7");
    let config = case.load().config;
    assert_eq!(config.endpoints["billing"].paths, ["/a", "/b"]);
    assert_eq!(config.endpoints["billing"].mode, hookgate::config::Mode::Sync);
    assert!(!config.database.migrate);
    assert_eq!(config.inbox.max_attempts, 7);
}

#[test]
fn variables_that_only_look_like_ours_are_left_alone() {
    let case = Case::new("").variable("HOOKGATE_PORT", "tcp://10.0.0.1:8080").variable("PORT", "1");
    assert_eq!(case.load().config.server.listen.port(), 8080);
}

#[test]
fn a_variable_that_leads_nowhere_is_an_error_with_its_name() {
    let error = Case::new("").variable("HOOKGATE__SERVER__LISTN", "x").error();
    assert_eq!(
        error,
        "environment HOOKGATE__SERVER__LISTN: server.listn: unknown key\n  help: did you mean `listen`?"
    );
    let error = Case::new("").variable("HOOKGATE__SERVR__LISTEN", "127.0.0.1:1").error();
    assert!(error.starts_with("environment HOOKGATE__SERVR__LISTEN: servr: unknown key"), "{error}");
    let error = Case::new("").variable("HOOKGATE__INBOX__MAX_ATTEMPTS", "many").error();
    assert_eq!(
        error,
        "environment HOOKGATE__INBOX__MAX_ATTEMPTS: inbox.max_attempts: found a text, expected a whole \
         number from 1 to 1000"
    );
}

#[test]
fn includes_are_relative_to_their_file_and_sorted_by_name() {
    let case = Case::new("")
        .named("etc/gateway.toml", "include = [\"parts/*.toml\"]\n[server]\nmax_in_flight = 1\n")
        .file("etc/parts/b.toml", "[server]\nmax_in_flight = 3\n")
        .file("etc/parts/a.toml", format!("[server]\nmax_in_flight = 2\n{ENDPOINT}"))
        .file("etc/parts/c.txt", "not TOML");
    let config = case.load().config;
    assert_eq!(config.server.max_in_flight, 3);
    assert!(config.endpoints.contains_key("billing"));
}

#[test]
fn an_include_that_cannot_be_followed_is_an_error() {
    let error = Case::new("\ninclude = [\"none.toml\"]").error();
    assert_eq!(error, "main.toml:2:12: include[0]: there is no file none.toml");
    let error = Case::new("include = [\"*/a.toml\"]").error();
    assert!(error.contains("wildcard in a folder's name"), "{error}");
    let nested = Case::new("include = [\"a.toml\"]").file("a.toml", "include = [\"b.toml\"]");
    assert_eq!(nested.error(), "a.toml:1:1: include: an included file cannot include others");
    // A folder that is not filled yet is none.
    Case::new("include = [\"endpoints/*.toml\"]").load();
}

#[test]
fn routes_of_all_files_are_appended_in_order() {
    let route = |types: &str| {
        format!("[[routes]]\nendpoint = \"billing\"\ntypes = [\"{types}\"]\nhandler = \"stripe_billing\"\n")
    };
    let case =
        billing(&route("a")).named("second.toml", &route("b")).named("third.toml", "[log]\nlevel = \"warn\"");
    let routes = case.load().config.routes;
    let types: Vec<_> = routes.iter().map(|route| route.types.join("")).collect();
    assert_eq!(types, ["a", "b"]);
    assert!(routes[1].origin.ends_with("second.toml:1"), "{}", routes[1].origin);
}

#[test]
fn other_lists_are_replaced_by_the_later_layer() {
    let case = billing("")
        .variable("HOOKGATE__ENDPOINTS__BILLING__SECRETS", "[\"env:OTHER\"]")
        .variable("OTHER", "another-secret-that-is-long-enough");
    let config = case.load().config;
    assert_eq!(config.endpoints["billing"].secrets.len(), 1);
    assert_eq!(config.endpoints["billing"].secrets[0].reference, "env:OTHER");
}

#[test]
fn an_endpoint_or_destination_in_two_files_names_both() {
    let second = format!("\n{ENDPOINT}");
    assert_eq!(
        billing("").named("second.toml", &second).error(),
        "second.toml:3:12: endpoints.billing: defined twice: here and at main.toml:2:12\n  \
         help: rename or remove one of them"
    );
    let crm = "[destinations.crm]\ntype = \"http\"\nurl = \"https://crm.example.com/\"\n";
    let error = Case::new(crm).named("second.toml", crm).error();
    assert!(
        error.starts_with("second.toml:1:15: destinations.crm: defined twice: here and at main.toml:1:15"),
        "{error}"
    );
}

#[test]
fn include_and_routes_cannot_come_from_variables() {
    let error = Case::new("").variable("HOOKGATE__ROUTES", "[]").error();
    assert!(error.contains("`routes` can be given in files only"), "{error}");
}

#[test]
fn relative_paths_start_from_the_file_that_names_them() {
    let route = "[[routes]]\nendpoint = \"billing\"\nsql = \"sql/book.sql\"\n";
    let case = Case::new("include = [\"etc/a.toml\"]")
        .file("etc/a.toml", format!("{ENDPOINT}{route}").replace("env:BILLING", "file:key"))
        .file("etc/sql/book.sql", "SELECT :event_id")
        .file("etc/key", super::SECRET);
    assert_eq!(case.load().config.routes.len(), 1);
}

#[test]
fn a_variable_that_looks_like_a_number_stays_a_text_where_one_is_expected() {
    let error = billing("").variable("HOOKGATE__ENDPOINTS__BILLING__PROVIDER", "0017").error();
    let start = "environment HOOKGATE__ENDPOINTS__BILLING__PROVIDER: endpoints.billing.provider: there is no provider \"0017\"";
    assert!(error.starts_with(start), "{error}");
}
