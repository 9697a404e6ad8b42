//! Routes' jq expressions, and what `match = "first"` leaves unreachable.

use hookgate::config::Matching;

use super::{Case, ENDPOINT, billing};

const CRM: &str = "[destinations.crm]\ntype = \"http\"\nurl = \"https://crm.example.com/\"\n";

fn routes(text: &str) -> Case {
    billing(&format!("{CRM}{text}\n"))
}

#[test]
fn an_expression_that_is_wrong_is_an_error_with_its_place() {
    let route = "[[routes]]\nendpoint = \"billing\"\nforward = [\"crm\"]\n";
    for (text, expected) in [
        (
            "filter = '.a | fo'",
            "routes[0].filter: there is no filter `fo` (line 1, column 6 of the expression)",
        ),
        ("filter = '''\n.a |\n env'''", "routes[0].filter: there is no filter `env` (line 2, column 2"),
        ("transform = '{a: $ENV}'", "routes[0].transform: there is no variable `$ENV`"),
        ("transform = 'include \"x\"; .'", "routes[0].transform: `include` and `import`"),
        ("filter = '.a |'", "routes[0].filter: expected term at the end"),
        ("filter = ' false '", "routes[0].filter: can never match"),
    ] {
        let error = routes(&format!("{route}{text}")).error();
        assert!(error.starts_with("main.toml:") && error.contains(expected), "{text}: {error}");
    }
    let error = routes(&format!("{route}filter = 'env.X'")).error();
    assert!(error.contains("help: the environment of the gateway is not readable"), "{error}");
}

#[test]
fn a_transform_belongs_to_a_forward() {
    let error =
        routes("[[routes]]\nendpoint = \"billing\"\nhandler = \"stripe_billing\"\ntransform = '.'").error();
    assert!(error.contains("routes[0].transform: belongs to `forward`"), "{error}");
}

#[test]
fn two_routes_to_one_destination_may_differ_in_their_expressions() {
    let route =
        |expression: &str| format!("[[routes]]\nendpoint = \"billing\"\nforward = [\"crm\"]\n{expression}\n");
    routes(&format!("{}{}", route("filter = '.a'"), route("filter = '.b'"))).load();
    routes(&format!("{}{}", route(""), route("transform = '.b'"))).load();
    let error = routes(&format!("{}{}", route("transform = '.a'"), route("transform = '.a'"))).error();
    assert!(error.contains("routes[1]: repeats the route at main.toml:"), "{error}");
}

#[test]
fn a_route_behind_one_that_takes_everything_is_an_error_where_the_first_match_counts() {
    let first = ENDPOINT.replace("paths", "match = \"first\"\npaths");
    let with = |first_route: &str, second: &str| {
        let handler = "endpoint = \"billing\"\nhandler = \"stripe_billing\"\n";
        let forward = "endpoint = \"billing\"\nforward = [\"crm\"]\n";
        Case::new(&format!("{first}{CRM}[[routes]]\n{handler}{first_route}\n[[routes]]\n{forward}{second}\n"))
    };
    for (a, b) in [
        ("", ""),
        ("", "types = [\"x.*\"]"),
        ("types = [\"x.*\"]", "types = [\"x.a\", \"x.b.*\"]\nfilter = '.a'"),
    ] {
        let error = with(a, b).error();
        assert!(error.contains("routes[1]: can never match: the route at main.toml:"), "{a} {b}: {error}");
    }
    for (a, b) in
        [("filter = '.a'", ""), ("types = [\"x.*\"]", ""), ("types = [\"x.*\"]", "types = [\"x.a\", \"y\"]")]
    {
        let loaded = with(a, b).load();
        assert_eq!(loaded.config.endpoints["billing"].matching, Matching::First);
    }
}
