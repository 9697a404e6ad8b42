//! The providers' official packages, in Python and in Node.js: see `tests/interop/README.md`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::packages::{Node, node_packages, python_environment, source};

/// One language's packages, ready to answer.
pub struct Sdk {
    /// For messages.
    pub language: &'static str,
    pipes: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Sdk {
    /// The Python packages. Installs them on first use.
    pub fn python() -> &'static Self {
        static SDK: OnceLock<Sdk> = OnceLock::new();
        SDK.get_or_init(|| {
            let python = python_environment();
            Self::start("Python", Command::new(python).arg(source("runner.py")))
        })
    }

    /// The Node.js packages. Installs them on first use.
    pub fn node() -> &'static Self {
        static SDK: OnceLock<Sdk> = OnceLock::new();
        SDK.get_or_init(|| {
            let node = Node::find();
            let packages = node_packages(&node);
            Self::start("Node.js", Command::new(&node.program).arg(source("runner.mjs")).arg(packages))
        })
    }

    /// Both languages.
    pub fn all() -> [&'static Self; 2] {
        [Self::python(), Self::node()]
    }

    /// All packages of this language, one entry a case: see `tests/interop/README.md`.
    pub fn cases(&self) -> Vec<Value> {
        let answer = self.ask(json!({ "ask": "cases" }), b"").expect("the runner lists its cases");
        answer["cases"].as_array().expect("a list").clone()
    }

    /// What the package of this case adds to the request to sign it.
    pub fn sign(&self, case: &str, request: &Value, body: &[u8]) -> Result<Value, String> {
        self.ask_case("sign", case, request, body)
    }

    /// The same of the runner itself, with a key of its own, where the package can only verify.
    pub fn make(&self, case: &str, request: &Value, body: &[u8]) -> Result<Value, String> {
        self.ask_case("make", case, request, body)
    }

    /// Whether the package of this case accepts the request; the error is its refusal.
    pub fn verify(&self, case: &str, request: &Value, body: &[u8]) -> Result<(), String> {
        self.ask_case("verify", case, request, body).map(|_| ())
    }

    /// `Stripe-Signature` as Stripe's own package makes it.
    pub fn stripe_sign(&self, secret: &str, body: &[u8], timestamp: i64) -> String {
        let request = json!({ "secret": secret, "headers": {}, "now": timestamp });
        let signed = self.sign("stripe", &request, body).expect("signs");
        signed["headers"]["stripe-signature"].as_str().expect("a header").to_owned()
    }

    /// Whether the `standardwebhooks` package accepts a delivery with these headers.
    pub fn standard_verify(
        &self,
        secret: &str,
        headers: &http::HeaderMap,
        body: &[u8],
    ) -> Result<(), String> {
        let headers: serde_json::Map<String, Value> = headers
            .iter()
            .filter_map(|(name, value)| Some((name.to_string(), Value::from(value.to_str().ok()?))))
            .collect();
        self.verify("standardwebhooks", &json!({ "secret": secret, "headers": headers }), body)
    }

    fn ask_case(&self, ask: &str, case: &str, request: &Value, body: &[u8]) -> Result<Value, String> {
        let mut question = request.clone();
        question["ask"] = Value::from(ask);
        question["case"] = Value::from(case);
        self.ask(question, body)
    }

    /// Asks one question; an error is the package's own refusal.
    fn ask(&self, mut question: Value, body: &[u8]) -> Result<Value, String> {
        question["body"] = Value::from(STANDARD.encode(body));
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        let (stdin, stdout) = &mut *pipes;
        writeln!(stdin, "{question}").expect("the runner reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("the runner answers");
        let answer: Value = serde_json::from_str(&line)
            .unwrap_or_else(|e| panic!("the {} runner said {line:?} ({e})", self.language));
        if answer["ok"] == true { Ok(answer) } else { Err(answer["error"].to_string()) }
    }

    fn start(language: &'static str, command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        #[expect(clippy::zombie_processes, reason = "it serves all tests, and ends with its standard input")]
        let mut child = command.spawn().unwrap_or_else(|e| panic!("start the {language} runner: {e}"));
        let stdin = child.stdin.take().expect("stdin is piped");
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        Self { language, pipes: Mutex::new((stdin, stdout)) }
    }
}
