//! The `forgeway` command.

use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    match repo::git::hook::run_if_called() {
        Some(code) => Ok(code),
        None => serve(),
    }
}

#[actix_web::main]
async fn serve() -> anyhow::Result<ExitCode> {
    gateway::commands::run().await?;
    Ok(ExitCode::SUCCESS)
}
