//! The command line: one file per command, and the only place for `anyhow`.
//!
//! Who acts: an operator at a terminal, or a script that reads the exit code.
//! What holds: 0 is success, 1 is "no" (a rejected request, an unaccepted event, a broken configuration), 2 is a
//! wrong use of the command line; results go to standard output, everything else to standard error.
//! What is absent: backtraces, secrets, and flags that take a secret's value or read one from a variable unasked.

mod desk;
mod filter_args;
mod output;
mod request_args;
mod shown;

pub mod backlog;
pub mod check;
pub mod config;
pub mod dead;
pub mod deliveries;
pub mod destinations;
pub mod demo;
pub mod doctor;
pub mod endpoints;
pub mod events;
pub mod migrate;
pub mod pause;
pub mod providers;
pub mod prune;
pub mod quarantine;
pub mod send;
pub mod serve;
pub mod sign;
pub mod top;
pub mod verify;

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};

use crate::config::{Flag, Loaded, Sources};
use crate::handler::{BUILT_IN, Handler, NameTaken, Registry};

pub use output::{out, warn};
pub use request_args::RequestArgs;

/// Runs the command line of this process, to its end, with the built-in handlers.
pub fn main() -> ExitCode {
    Program::default().main()
}

/// The command line of a program with handlers of its own.
///
/// ```no_run
/// # use std::{process::ExitCode, sync::Arc};
/// # use hookgate::handler::{Handler, HandlerError, Outcome};
/// # struct Greet;
/// # #[async_trait::async_trait]
/// # impl Handler for Greet {
/// #     async fn handle(
/// #         &self, _: &mut hookgate::store::Tx, _: &hookgate::model::Event,
/// #     ) -> Result<Outcome, HandlerError> { Ok(Outcome::Done) }
/// # }
/// fn main() -> Result<ExitCode, hookgate::handler::NameTaken> {
///     let program = hookgate::cli::Program::default().handler("greet", Arc::new(Greet))?;
///     Ok(program.main())
/// }
/// ```
#[derive(Debug, Default)]
pub struct Program {
    handlers: Registry,
}

impl Program {
    /// Adds a handler, which routes name with `handler = "NAME"`.
    ///
    /// # Errors
    /// [`NameTaken`]
    pub fn handler(mut self, name: &str, handler: Arc<dyn Handler>) -> Result<Self, NameTaken> {
        self.handlers.register(name, handler)?;
        Ok(self)
    }

    /// Reads the arguments of this process and runs the command, to its end.
    #[must_use]
    pub fn main(self) -> ExitCode {
        match Cli::try_parse() {
            Ok(cli) => block_on(cli.command, Shell { files: cli.config.files, handlers: self.handlers }),
            // Help and version are "errors" of code 0 to clap; wrong use is 2.
            Err(error) => {
                let _ = error.print();
                ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
            }
        }
    }
}

/// One ingress for all SaaS webhooks: verified, deduplicated, processed exactly once in your own database.
#[derive(Debug, Parser)]
#[command(name = "hookgate", version, max_term_width = 100, arg_required_else_help = true)]
struct Cli {
    #[command(flatten)]
    config: ConfigArgs,
    #[command(subcommand)]
    command: Command,
}

/// Where the configuration is, for every command that reads it.
#[derive(Debug, clap::Args)]
struct ConfigArgs {
    /// A configuration file; may be repeated, later files win [default: config/hookgate.toml if it exists]
    #[arg(long = "config", value_name = "FILE", global = true)]
    files: Vec<PathBuf>,
}

/// The commands. One line here, one file beside this one with `Args` and `run`.
#[derive(Debug, Subcommand)]
enum Command {
    Serve(serve::Args),
    Demo(demo::Args),
    Check(check::Args),
    Doctor(doctor::Args),
    Config(config::Args),
    Providers(providers::Args),
    Verify(verify::Args),
    Sign(sign::Args),
    Send(send::Args),
    Backlog(backlog::Args),
    Top(top::Args),
    Events(events::Args),
    Dead(dead::Args),
    Deliveries(deliveries::Args),
    Destinations(destinations::Args),
    Quarantine(quarantine::Args),
    Endpoints(endpoints::Args),
    Pause(pause::PauseArgs),
    Resume(pause::ResumeArgs),
    Pauses(pause::ListArgs),
    Migrate(migrate::Args),
    Prune(prune::Args),
}

impl Command {
    async fn run(self, shell: Shell) -> anyhow::Result<ExitCode> {
        match self {
            Self::Serve(args) => serve::run(&args, shell).await,
            Self::Demo(args) => demo::run(&args).await,
            Self::Check(args) => check::run(&args, &shell).await,
            Self::Doctor(args) => doctor::run(&args, &shell).await,
            Self::Config(args) => config::run(&args, &shell),
            Self::Providers(args) => providers::run(&args),
            Self::Verify(args) => verify::run(&args),
            Self::Sign(args) => sign::run(&args),
            Self::Send(args) => send::run(&args, &shell).await,
            Self::Backlog(args) => backlog::run(&args, &shell).await,
            Self::Top(args) => top::run(&args, &shell).await,
            Self::Events(args) => events::run(&args, &shell).await,
            Self::Dead(args) => dead::run(&args, &shell).await,
            Self::Deliveries(args) => deliveries::run(&args, &shell).await,
            Self::Destinations(args) => destinations::run(&args, &shell).await,
            Self::Quarantine(args) => quarantine::run(&args, &shell).await,
            Self::Endpoints(args) => endpoints::run(&args, &shell).await,
            Self::Pause(args) => pause::pause(&args, &shell).await,
            Self::Resume(args) => pause::resume(&args, &shell).await,
            Self::Pauses(args) => pause::list(&args, &shell).await,
            Self::Migrate(args) => migrate::run(&args, &shell).await,
            Self::Prune(args) => prune::run(&args, &shell).await,
        }
    }
}

/// What commands find when they start.
#[derive(Debug)]
pub struct Shell {
    /// The files named with `--config`.
    pub files: Vec<PathBuf>,
    /// The handlers of this program.
    pub handlers: Registry,
}

impl Shell {
    /// What the configuration is made from: the named files or the default one, this process's variables, `flags`.
    #[must_use]
    pub fn sources(&self, flags: Vec<Flag>) -> Sources {
        let handlers = self.handlers.names().map(str::to_owned).collect();
        Sources { flags, handlers, ..Sources::of_process(self.files.clone()) }
    }

    /// The configuration. Its warnings are left to `check` and to the log.
    ///
    /// # Errors
    /// [`crate::config::ConfigError`]: everything that is wrong with it.
    pub fn load(&self, flags: Vec<Flag>) -> anyhow::Result<Loaded> {
        Ok(crate::config::load(&self.sources(flags))?)
    }
}

/// The handlers that every program has, by name.
#[must_use]
pub fn built_in_handlers() -> BTreeSet<String> {
    BUILT_IN.iter().map(|&name| name.to_owned()).collect()
}

/// A listener's address as it is reached from this machine.
fn from_here(mut listen: SocketAddr) -> SocketAddr {
    if listen.ip().is_unspecified() {
        listen.set_ip(if listen.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() });
    }
    listen
}

fn block_on(command: Command, shell: Shell) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.into()),
    };
    runtime.block_on(command.run(shell)).unwrap_or_else(|error| failed(&error))
}

/// The causes on one line; `Debug` would add a backtrace when `RUST_BACKTRACE` is set.
fn failed(error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref::<crate::config::ConfigError>() {
        Some(error) => warn(format_args!("{error}")),
        None => warn(format_args!("error: {error:#}")),
    }
    ExitCode::FAILURE
}
