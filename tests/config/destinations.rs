//! The kinds of destination, and what each of them may say.

use super::Case;

#[test]
fn a_key_that_a_kind_does_not_have_is_refused() {
    for (kind, key) in [("stdout", "url = \"https://crm.example.com/\""), ("stdout", "allow_private = true")]
    {
        let error = Case::new(&format!("[destinations.a]\ntype = \"{kind}\"\n{key}\n")).error();
        let name = key.split(' ').next().expect("a name");
        let expected = format!("destinations.a.{name}: this kind of destination has no such key");
        assert!(error.starts_with("main.toml:3:") && error.contains(&expected), "{error}");
    }
}

#[test]
fn a_key_that_a_kind_needs_is_missed() {
    let error = Case::new("[destinations.a]\ntype = \"http\"\n").error();
    assert!(error.contains("destinations.a.url: is missing"), "{error}");
}

#[test]
fn standard_output_needs_nothing_but_its_kind() {
    Case::new("[destinations.a]\ntype = \"stdout\"\n").load();
}
