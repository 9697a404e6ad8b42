//! Rules of the house that no compiler checks. Each failure says what to do.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Files of `src` that grow longer than this split along an idea.
const MAX_LINES: usize = 400;

/// Where SQL text that is not a constant may be run, and why.
const DYNAMIC_SQL: [(&str, &str); 1] = [(
    "src/store/",
    "the text of SQL handler modules is the operator's own; lists are put together from constant pieces",
)];

#[test]
fn a_module_uses_only_what_stands_above_it_in_lib_rs() {
    let order = module_order();
    let mut complaints = String::new();
    for file in rust_files("src") {
        let Some(module) = module_path(&file) else { continue };
        let Some(own) = order.iter().position(|m| *m == module[0]) else {
            let _ = writeln!(complaints, "{}: `{}` is not declared in src/lib.rs", show(&file), module[0]);
            continue;
        };
        for used in used_modules(&tokens(&file), &module, &order) {
            let place = order.iter().position(|m| *m == used).expect("only modules of lib.rs are reported");
            if place > own {
                let _ = writeln!(
                    complaints,
                    "{}: `{}` uses `{used}`, which stands below it",
                    show(&file),
                    module[0]
                );
            }
        }
    }
    assert!(
        complaints.is_empty(),
        "Data goes one way, down the list in src/lib.rs. Move the code down, pass the value in, or declare a trait \
         above that the module below implements.\n{complaints}"
    );
}

#[test]
fn the_import_rule_sees_every_way_to_write_a_path() {
    let order = ["clock", "model", "store", "worker"].map(String::from);
    let module = ["model".to_owned(), "event".to_owned()];
    let used = |code: &str| -> Vec<String> {
        used_modules(&code.parse().expect("Rust"), &module, &order).into_iter().collect()
    };
    assert_eq!(used("use crate::store::Tx;"), ["store"]);
    assert_eq!(used("use crate::{clock::Clock, worker::{self, Job}};"), ["clock", "worker"]);
    assert_eq!(used("fn f() { let x = crate::worker::run(); }"), ["worker"]);
    assert_eq!(used("m!(crate::store::X);"), ["store"]);
    assert_eq!(used("use super::super::worker;"), ["worker"]);
    assert_eq!(used("mod inner { use super::super::super::store; }"), ["store"]);
    assert_eq!(
        used("use super::store; use self::worker; // crate::clock\nconst S: &str = \"crate::worker\";"),
        [""; 0]
    );
}

#[test]
fn files_of_src_stay_short() {
    let long: Vec<String> = rust_files("src")
        .iter()
        .map(|file| (file, read(file).lines().count()))
        .filter(|(_, lines)| *lines > MAX_LINES)
        .map(|(file, lines)| format!("{}: {lines} lines", show(file)))
        .collect();
    assert!(
        long.is_empty(),
        "Split these files along an idea (at most {MAX_LINES} lines):\n{}",
        long.join("\n")
    );
}

#[test]
fn sql_text_is_constant_but_in_the_store() {
    let elsewhere: Vec<String> = rust_files("src")
        .iter()
        .filter(|file| names(&tokens(file)).contains("AssertSqlSafe"))
        .map(|file| show(file))
        .filter(|file| !DYNAMIC_SQL.iter().any(|(allowed, _)| file.starts_with(allowed)))
        .collect();
    assert!(
        elsewhere.is_empty(),
        "`AssertSqlSafe` switches off sqlx's check that SQL is a constant. Use a .sql file of the store with bound \
         parameters; if the text really is the operator's own, add the place with its reason to DYNAMIC_SQL.\n{}",
        elsewhere.join("\n")
    );
}

/// Files of the store that may name a connection of the driver's, and why.
const BARE_CONNECTIONS: [(&str, &str); 5] = [
    ("session.rs", "decides whether statements keep names"),
    ("pooler.rs", "asks, by simple queries, whether they may"),
    ("mod.rs", "holds the pool and looks at its connections, by simple queries"),
    ("handler.rs", "lends a handler the connection"),
    ("select.rs", "asks on a session; operators' questions differ, so that none is worth a name"),
];

#[test]
fn statements_on_postgresql_run_on_a_session_which_knows_whether_they_may_have_names() {
    let bare = ["PgConnection", "PoolConnection", "PgPool", "persistent", "bare"];
    let wrong: Vec<String> = rust_files("src/store/postgres")
        .iter()
        .filter(|file| !BARE_CONNECTIONS.iter().any(|(allowed, _)| file.ends_with(allowed)))
        .filter(|file| names(&tokens(file)).iter().any(|name| bare.contains(&name.as_str())))
        .map(|file| show(file))
        .collect();
    assert!(
        wrong.is_empty(),
        "Behind a transaction pooler a named statement, or one that is parsed and run outside of a transaction, may be \
         another client's. Run queries on the store's `Session` (`&mut *self.connection().await?`, \
         `&mut *tx.connection`), not on a connection of the driver's:\n{}",
        wrong.join("\n")
    );
    for file in ["pooler.rs", "mod.rs"] {
        let names = names(&tokens(&root().join("src/store/postgres").join(file)));
        let built = ["query", "query_with", "query_as", "query_scalar", "prepare", "prepare_with"];
        let used: Vec<_> = built.iter().filter(|name| names.contains(**name)).collect();
        assert!(
            used.is_empty(),
            "{file} may only use `sqlx::raw_sql`, which leaves no name behind: {used:?}"
        );
    }
}

#[test]
fn only_commands_write_to_the_terminal() {
    let printing = ["println", "eprintln", "print", "eprint", "dbg"];
    let wrong: Vec<String> = rust_files("src")
        .iter()
        .map(|file| (show(file), macros(&tokens(file))))
        .filter(|(file, _)| !file.starts_with("src/cli") && file != "src/main.rs")
        .flat_map(|(file, used)| {
            printing
                .iter()
                .filter(|m| used.contains(**m))
                .map(|m| format!("{file}: {m}!"))
                .collect::<Vec<_>>()
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "A server's words go to its log: use `tracing` here, and print only below src/cli.\n{}",
        wrong.join("\n")
    );
}

#[test]
fn statements_and_migrations_exist_for_both_engines() {
    let mut complaints = String::new();
    for parent in ["src/store", "migrations"] {
        let sqlite = sql_names(&root().join(parent).join("sqlite"));
        let postgres = sql_names(&root().join(parent).join("postgres"));
        assert!(!sqlite.is_empty(), "{parent}/sqlite has no .sql file: has it moved? Then change this test.");
        for name in sqlite.symmetric_difference(&postgres) {
            let _ = writeln!(complaints, "{parent}: {name}");
        }
    }
    assert!(
        complaints.is_empty(),
        "Every .sql file is one of a pair, sqlite/NAME and postgres/NAME. These have no partner:\n{complaints}"
    );
}

#[test]
fn every_command_that_the_readme_shows_exists() {
    let readme = read(&root().join("README.md"));
    let commands = documented_commands(&readme);
    assert!(
        !commands.is_empty(),
        "README.md shows no `hookgate` command: has its form changed? Then change this test."
    );
    let unknown: Vec<String> = commands
        .into_iter()
        .filter(|words| {
            let help = Command::new(env!("CARGO_BIN_EXE_hookgate")).args(words).arg("--help").output();
            !help.expect("run hookgate").status.success()
        })
        .map(|words| format!("hookgate {}", words.join(" ")))
        .collect();
    assert!(
        unknown.is_empty(),
        "README.md shows commands that `--help` does not know. Correct the README, or the command.\n{}",
        unknown.join("\n")
    );
}

#[test]
fn the_configuration_that_the_readme_shows_is_valid() {
    let readme = read(&root().join("README.md"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("handlers")).expect("make a folder");
    for sql in blocks(&readme, "sql") {
        let name = sql
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("-- "))
            .expect("an SQL block names its file");
        fs::write(folder.path().join(name), &sql).expect("write the module");
    }
    let config: String = blocks(&readme, "toml").concat();
    assert!(config.contains("[endpoints."), "README.md shows no configuration: has its form changed?");
    fs::write(folder.path().join("hookgate.toml"), config).expect("write the configuration");
    let check = Command::new(env!("CARGO_BIN_EXE_hookgate"))
        .args(["check", "--offline", "--config", "hookgate.toml"])
        .current_dir(folder.path())
        .env("STRIPE_WEBHOOK_SECRET", "whsec_0123456789abcdef0123456789abcdef")
        .env("CRM_SIGNING_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        .env("SLACK_SIGNING_SECRET", "0123456789abcdef0123456789abcdef")
        .output()
        .expect("run hookgate");
    assert!(
        check.status.success(),
        "`hookgate check` refuses what README.md shows. Correct one of them.\n{}{}",
        String::from_utf8_lossy(&check.stdout),
        String::from_utf8_lossy(&check.stderr)
    );
}

#[test]
fn both_licences_are_here() {
    for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
        assert!(root().join(file).is_file(), "{file} is missing: Cargo.toml promises `Apache-2.0 OR MIT`");
    }
}

#[test]
fn no_file_names_a_place_on_somebodys_machine() {
    // Put together here, so that this file has to keep the rule too.
    let homes = ["home", "root", "Users", "work"].map(|folder| format!("/{folder}/"));
    let mut complaints = String::new();
    for file in repository_files() {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        for (number, line) in text.lines().enumerate() {
            if homes.iter().any(|home| names_place(line, home)) {
                let _ = writeln!(complaints, "{}:{}: {}", show(&file), number + 1, line.trim());
            }
        }
    }
    assert!(complaints.is_empty(), "Use a relative path or a temporary folder instead of:\n{complaints}");
}

/// Whether a line holds an absolute path under `home`, not a part of a URL or of a relative path.
fn names_place(line: &str, home: &str) -> bool {
    line.match_indices(home).any(|(at, _)| {
        let before = line[..at].chars().next_back().unwrap_or(' ');
        !(before.is_alphanumeric() || "._-}>)/~$*".contains(before))
    })
}

/// `hookgate a b …` in code blocks and code spans of the README: the words of the (sub)command.
pub(crate) fn documented_commands(readme: &str) -> BTreeSet<Vec<String>> {
    let code = pieces_of_code(readme);
    code.iter()
        .flat_map(|piece| piece.lines())
        .filter_map(|line| {
            let line = line.trim().trim_start_matches("$ ");
            let line = line
                .strip_prefix("./target/debug/")
                .or(line.strip_prefix("./target/release/"))
                .unwrap_or(line);
            line.strip_prefix("hookgate ")
                .or_else(|| line.split_once("cargo run")?.1.split_once("-- ").map(|(_, c)| c))
        })
        .map(|rest| {
            let is_word = |word: &&str| {
                word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-')
            };
            let words: Vec<String> = rest.split_whitespace().take_while(is_word).map(String::from).collect();
            // Only the commands with subcommands have a second word; what follows another one is an argument.
            let groups = ["config", "providers", "events", "dead", "deliveries", "quarantine"];
            let length = if words.first().is_some_and(|w| groups.contains(&w.as_str())) { 2 } else { 1 };
            words.into_iter().take(length).collect::<Vec<_>>()
        })
        .filter(|words| !words.is_empty())
        .collect()
}

/// The fenced blocks of one language, without the indentation of a list that they stand in.
pub(crate) fn blocks(markdown: &str, language: &str) -> Vec<String> {
    let fenced = markdown.split("```").skip(1).step_by(2);
    fenced.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).map(unindented).collect()
}

fn unindented(block: &str) -> String {
    let indent = block.len() - block.trim_start_matches(' ').len();
    let lines: Vec<&str> =
        block.lines().map(|line| line.get(indent..).unwrap_or(line.trim_start())).collect();
    lines.join("\n") + "\n"
}

/// The insides of fenced blocks and of code spans.
fn pieces_of_code(markdown: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    for (index, part) in markdown.split("```").enumerate() {
        if index % 2 == 1 {
            pieces.push(part.to_owned());
        } else {
            pieces.extend(part.split('`').skip(1).step_by(2).map(String::from));
        }
    }
    pieces
}

/// The modules in the order of src/lib.rs.
fn module_order() -> Vec<String> {
    let tokens: Vec<TokenTree> = tokens(&root().join("src/lib.rs")).into_iter().collect();
    let declared =
        tokens.windows(2).filter(|pair| pair[0].to_string() == "mod").map(|pair| pair[1].to_string());
    let order: Vec<String> = declared.collect();
    assert!(order.len() > 10, "src/lib.rs no longer declares the modules: {order:?}");
    order
}

/// `src/store/sqlite/mod.rs` is `["store", "sqlite"]`; the roots of the crates have no path.
fn module_path(file: &Path) -> Option<Vec<String>> {
    let relative = file.strip_prefix(root().join("src")).expect("a file of src").with_extension("");
    let mut path: Vec<String> = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    path.pop_if(|last| last == "mod");
    (path != ["lib"] && path != ["main"]).then_some(path)
}

/// The modules of the crate's root that this code names by `crate::…` or by enough `super::`.
fn used_modules(code: &TokenStream, module: &[String], order: &[String]) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    collect_used(code, module.len(), order, &mut used);
    used
}

/// `depth` is the number of `super::` that lead from here to the crate's root.
fn collect_used(code: &TokenStream, depth: usize, order: &[String], used: &mut BTreeSet<String>) {
    let trees: Vec<TokenTree> = code.clone().into_iter().collect();
    for (index, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => {
                let opens_module = index >= 2
                    && group.delimiter() == Delimiter::Brace
                    && trees[index - 2].to_string() == "mod"
                    && matches!(trees[index - 1], TokenTree::Ident(_));
                collect_used(&group.stream(), depth + usize::from(opens_module), order, used);
            }
            TokenTree::Ident(ident) if *ident == "crate" => collect_heads(&trees[index + 1..], order, used),
            TokenTree::Ident(ident) if *ident == "super" => {
                let first = index < 3 || trees[index - 3].to_string() != "super";
                let supers =
                    trees[index..].iter().step_by(3).take_while(|t| t.to_string() == "super").count();
                if first && supers == depth {
                    collect_heads(&trees[index + 3 * supers - 2..], order, used);
                }
            }
            _ => {}
        }
    }
}

/// The names right after a path's root: `::name`, or each alternative of `::{…}`.
fn collect_heads(after: &[TokenTree], order: &[String], used: &mut BTreeSet<String>) {
    let [first, second, head, ..] = after else { return };
    if first.to_string() != ":" || second.to_string() != ":" {
        return;
    }
    let mut note = |name: String| {
        if order.contains(&name) {
            used.insert(name);
        }
    };
    match head {
        TokenTree::Ident(name) => note(name.to_string()),
        TokenTree::Group(group) => {
            let mut at_head = true;
            for tree in group.stream() {
                match tree {
                    TokenTree::Ident(name) if at_head => {
                        note(name.to_string());
                        at_head = false;
                    }
                    TokenTree::Punct(punct) if punct.as_char() == ',' => at_head = true,
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// All identifiers of this code.
fn names(code: &TokenStream) -> BTreeSet<String> {
    code.clone()
        .into_iter()
        .flat_map(|tree| match tree {
            TokenTree::Group(group) => names(&group.stream()),
            TokenTree::Ident(ident) => BTreeSet::from([ident.to_string()]),
            _ => BTreeSet::new(),
        })
        .collect()
}

/// All identifiers of this code that `!` follows.
fn macros(code: &TokenStream) -> BTreeSet<String> {
    let trees: Vec<TokenTree> = code.clone().into_iter().collect();
    let mut found = BTreeSet::new();
    for (index, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Group(group) => found.extend(macros(&group.stream())),
            TokenTree::Ident(ident) if trees.get(index + 1).is_some_and(|next| next.to_string() == "!") => {
                found.insert(ident.to_string());
            }
            _ => {}
        }
    }
    found
}

fn tokens(file: &Path) -> TokenStream {
    read(file).parse().unwrap_or_else(|e| panic!("{}: {e}", show(file)))
}

fn rust_files(below: &str) -> Vec<PathBuf> {
    files_below(&root().join(below))
        .into_iter()
        .filter(|file| file.extension().is_some_and(|e| e == "rs"))
        .collect()
}

fn sql_names(folder: &Path) -> BTreeSet<String> {
    files_below(folder)
        .into_iter()
        .filter(|file| file.extension().is_some_and(|e| e == "sql"))
        .map(|file| file.strip_prefix(folder).expect("below the folder").display().to_string())
        .collect()
}

/// All files but those that builds and tools make.
fn repository_files() -> Vec<PathBuf> {
    let made = ["target", "node_modules", ".git", ".venv", "__pycache__"];
    let kept = |path: &PathBuf| !path.file_name().is_some_and(|name| made.iter().any(|m| name == *m));
    let mut files = Vec::new();
    for entry in entries(&root()).into_iter().filter(kept) {
        if entry.is_dir() { files.extend(files_below(&entry)) } else { files.push(entry) }
    }
    files
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    entries(folder)
        .into_iter()
        .filter(|path| !path.ends_with("node_modules") && !path.ends_with("__pycache__"))
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", show(file)))
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn show(file: &Path) -> String {
    file.strip_prefix(root()).unwrap_or(file).display().to_string()
}
