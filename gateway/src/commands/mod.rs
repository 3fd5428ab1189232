//! The command line: what it is called, what it takes, and what it does.

mod backup;
mod doctor;
mod output;
mod people;
mod restore;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context as _;
use clap::{CommandFactory, Parser, Subcommand};
use forge::memory;
use secrets::KEY_FILE;

use self::output::print;
use crate::{
    belonging,
    config::{self, Config, Flags},
    server,
};

/// A whole software-development platform in one binary.
#[derive(Debug, Parser)]
#[command(
    name = "forgeway",
    version,
    after_help = "Examples:\n  forgeway                                     serve on 127.0.0.1:8080, data in ./forgeway-data\n  forgeway --listen 0.0.0.0:80 --data /srv/forgeway\n  forgeway config                              show every setting and where it comes from\n  forgeway user create ada --email ada@example.com\n  forgeway backup /var/backups/forgeway.tar.gz"
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
    #[command(
        after_help = "Examples:\n  forgeway serve\n  forgeway serve --listen 0.0.0.0:80 --data /srv/forgeway\n  forgeway serve --with-runner      also do the jobs that administrators start\n  forgeway serve --with-runner=root/hello,team\n  FORGEWAY_DATABASE_URL=postgres://forgeway@localhost/forgeway forgeway serve"
    )]
    Serve,
    /// Show every setting, its value and its source
    #[command(
        after_help = "Examples:\n  forgeway config\n  forgeway --config /etc/forgeway.toml config      with the settings of that file"
    )]
    Config,
    /// Create, list, block and unblock people, or give somebody a new password
    #[command(
        subcommand,
        after_help = "Examples:\n  forgeway user create ada --email ada@example.com\n  forgeway user list\n  forgeway user block ada"
    )]
    User(people::UserCommand),
    /// Create and revoke access tokens
    #[command(
        subcommand,
        after_help = "Examples:\n  forgeway token create ada --scope read_api --days 30\n  forgeway token revoke - < token.txt"
    )]
    Token(people::TokenCommand),
    /// Check the installation; exits with 1 when something is wrong
    #[command(
        after_help = "Examples:\n  forgeway doctor\n  forgeway doctor --fsck      also let git check every object\n  forgeway doctor --accept repository-7      its refs are as they should be"
    )]
    Doctor {
        /// Also let git check every object of every repository
        #[arg(long)]
        fsck: bool,
        /// Take the refs of a repository as they lie there, although the moves that were decided add up to others:
        /// `repository-<project>`, `wiki-project-<project>` or `wiki-group-<group>`, by id
        #[arg(long, value_name = "REPOSITORY")]
        accept: Vec<String>,
    },
    /// Copy everything into one file while the server runs
    #[command(after_help = "Example:\n  forgeway backup /var/backups/forgeway.tar.gz")]
    Backup {
        /// The archive to write (.tar.gz); it must not exist
        file: PathBuf,
    },
    /// Fill an empty data folder from a backup
    #[command(
        after_help = "Examples:\n  forgeway restore --dry-run backup.tar.gz      only show what is in it\n  forgeway --data /srv/forgeway restore backup.tar.gz"
    )]
    Restore {
        file: PathBuf,
        /// Only show what the archive holds
        #[arg(long)]
        dry_run: bool,
    },
    /// Say that the data folder and the database belong together, where the one does not know the other
    #[command(
        after_help = "Examples:\n  forgeway --data /srv/forgeway adopt      after identity.key was lost\n  forgeway --data /srv/forgeway adopt --forget-secrets      after secrets.key was lost"
    )]
    Adopt {
        /// First delete what cannot be read without secrets.key: CI/CD variables, trigger tokens, webhooks, integrations,
        /// imports under way, and the secrets of the settings
        #[arg(long)]
        forget_secrets: bool,
        /// Delete the secrets even if secrets.key opens them, or the database belongs to another data folder
        #[arg(long, requires = "forget_secrets")]
        yes: bool,
    },
    /// Register and run runners, which do the jobs of pipelines
    #[command(
        subcommand,
        after_help = "Examples:\n  forgeway runner register --url https://forge.example --token glrt-…\n  forgeway runner run"
    )]
    Runner(job_runner::Command),
    /// Print a completion script
    #[command(
        after_help = "Example:\n  forgeway completions bash > /etc/bash_completion.d/forgeway"
    )]
    Completions { shell: clap_complete::Shell },
}

/// Runs what the command line asks for.
///
/// # Errors
/// What went wrong, in words that say what to do.
pub async fn run() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    // Whatever is written from here on is for this account alone, git's files included.
    rustix::process::umask(rustix::fs::Mode::from_bits_retain(0o077));
    let loaded = config::load(&arguments.flags)?;
    let config = &loaded.config;
    let done = match arguments.command.unwrap_or(Command::Serve) {
        Command::Runner(command) => {
            server::begin_logging(config)?;
            // It waits on threads of its own.
            let ended = kernel::task::spawn_blocking(move || job_runner::run(command)).await;
            return ended.context("the runner has a fault")?;
        }
        Command::Serve => {
            server::begin_logging(config)?;
            memory::be_frugal();
            server::run(loaded.config).await
        }
        Command::Config => {
            print(&loaded.table());
            Ok(())
        }
        Command::User(command) => people::run_user(config, command).await,
        Command::Token(command) => people::run_token(config, command).await,
        Command::Doctor { fsck, accept } => doctor::run(config, fsck, &accept).await,
        Command::Backup { file } => backup::run(config, &file).await,
        Command::Restore { file, dry_run } => restore::run(config, &file, dry_run).await,
        Command::Adopt { forget_secrets, yes } => adopt(config, forget_secrets, yes).await,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "forgeway", &mut script);
            print(&String::from_utf8_lossy(&script));
            Ok(())
        }
    };
    done.map(|()| ExitCode::SUCCESS)
}

async fn adopt(config: &Config, forget_secrets: bool, yes: bool) -> anyhow::Result<()> {
    let _lock = server::take_folder(config)?;
    if forget_secrets {
        forget(config, yes).await?;
    }
    let app = server::open_unchecked(config).await?;
    belonging::adopt(&app).await?;
    print(
        "the data folder and the database belong together now; `forgeway doctor` says what is missing\n",
    );
    Ok(())
}

/// Deletes the secrets of a database whose key is lost; without `yes` only where nothing speaks against it.
async fn forget(config: &Config, yes: bool) -> anyhow::Result<()> {
    let data = config.data_folder()?;
    let location = config.location(&data);
    belonging::ensure_file(&location, &data)?;
    let found = forge::vault::survey(&location, &data)?;
    print(&format!("the database holds {} secrets\n", found.secrets));
    let file = data.join(KEY_FILE);
    anyhow::ensure!(
        yes || !found.is_readable,
        "{} opens them; to delete them all the same, add --yes; nothing was changed",
        file.display()
    );
    anyhow::ensure!(
        yes || !found.is_foreign,
        "the database belongs to another data folder than {}: check the settings `data` and `database_url`; where the \
         two do belong together (identity.key was lost, too), add --yes; nothing was changed",
        data.display()
    );
    let gone = forge::vault::forget(&location).await?;
    print(&format!("{gone} secrets were deleted\n"));
    Ok(())
}
