//! The `forgeway` command.

use std::process::ExitCode;

/// Answers are many small texts, which the allocator of the C library makes a tenth to a quarter slower; see
/// `docs/performance.md`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match repo::git::hook::run_if_called().or_else(repo::lfs::smudge::run_if_called) {
        Some(code) => code,
        None => command(),
    }
}

#[actix_web::main]
#[expect(clippy::print_stderr, reason = "this is where a command says why it failed")]
async fn command() -> ExitCode {
    match gateway::commands::run().await {
        Ok(code) => code,
        Err(cause) => {
            eprintln!("error: {cause:#}");
            ExitCode::FAILURE
        }
    }
}
