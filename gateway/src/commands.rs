//! The command line: what it is called, what it takes, and what it does.

use clap::{CommandFactory, Parser, Subcommand};

use crate::{
    config::{self, Flags},
    server,
};

/// A whole software-development platform in one binary.
#[derive(Debug, Parser)]
#[command(
    name = "forgeway",
    version,
    after_help = "Examples:\n  forgeway                                  serve on 127.0.0.1:8080, data in ./forgeway-data\n  forgeway --listen 0.0.0.0:80 --data /srv/forgeway\n  forgeway config                           show every setting and where it comes from"
)]
pub struct Arguments {
    #[command(flatten)]
    flags: Flags,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve requests (what happens without a command, too)
    Serve,
    /// Show every setting, its value and its source
    Config,
    /// Print a completion script, as in: forgeway completions bash > /etc/bash_completion.d/forgeway
    Completions { shell: clap_complete::Shell },
}

/// Runs what the command line asks for.
pub async fn run() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let loaded = config::load(&arguments.flags)?;
    match arguments.command.unwrap_or(Command::Serve) {
        Command::Serve => {
            server::begin_logging(&loaded.config)?;
            server::run(loaded.config).await
        }
        Command::Config => {
            print(&loaded.table());
            Ok(())
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "forgeway", &mut script);
            print(&String::from_utf8_lossy(&script));
            Ok(())
        }
    }
}

#[expect(clippy::print_stdout, reason = "this is what the commands are for")]
fn print(text: &str) {
    print!("{text}");
}
