//! The `hookgate` binary. A program with its own handlers calls the same [`hookgate::cli`] from its `main`.

use std::process::ExitCode;

fn main() -> ExitCode {
    hookgate::cli::main()
}
