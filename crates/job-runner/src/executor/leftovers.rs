//! Containers and networks that a runner left behind which was killed. Each carries the runner's mark.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};

use super::{arguments, engine::Engine};
use crate::{
    config::Runner,
    control::{Control, Interrupt},
    process::{self, End, Limits},
};

/// The program answers within it.
const PATIENCE: Duration = Duration::from_secs(60);

/// What marks everything that one runner of one program makes.
pub(super) fn mark(runner: &Runner, system_id: &str) -> String {
    format!("{system_id}/{}", runner.short_token())
}

/// Removes what an earlier run of this program has left.
pub(super) fn remove(engine: &Engine, mark: &str) -> Result<()> {
    let containers = ids(&call(engine, &arguments::marked_containers(mark))?);
    if !containers.is_empty() {
        tracing::warn!(number = containers.len(), "removing containers of an earlier run");
        call(engine, &arguments::remove(&containers))?;
    }
    // A network goes when no container uses it any more.
    for network in ids(&call(engine, &arguments::marked_networks(mark))?) {
        call(engine, &arguments::remove_network(&network))?;
    }
    Ok(())
}

fn call(engine: &Engine, arguments: &[String]) -> Result<String> {
    let deadline = Instant::now().checked_add(PATIENCE);
    let limits = Limits { deadline, heeds: Interrupt::Aborted };
    let (end, said) =
        process::capture(engine.command(arguments), &Arc::new(Control::default()), limits)?;
    ensure!(end == End::Exited(0), "{}", said.trim());
    Ok(said)
}

/// Numbers of containers or networks. Warnings stand between them.
fn ids(said: &str) -> Vec<String> {
    let is_id = |line: &&str| line.len() >= 12 && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    said.lines().map(str::trim).filter(is_id).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_taken_from_what_a_program_says() {
        let said = "WARNING: no swap limit\n0123456789ab\n--all\n\nfedcba9876543210\n";
        assert_eq!(ids(said), ["0123456789ab", "fedcba9876543210"]);
    }
}
