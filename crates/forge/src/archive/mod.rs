//! Archives: a project or group as one file, written here and read here or on another installation.

pub mod actions;
mod bundle;
mod check;
mod citations;
mod corrections;
mod deputies;
mod discard;
pub mod export;
mod failure;
mod files;
mod groups;
mod identities;
pub mod import;
mod job_artifacts;
mod job_files;
mod job_logs;
mod layout;
mod left_out;
mod lines;
mod members;
mod numbers;
mod pack;
mod people;
mod picture;
mod pipelines;
mod progress;
mod replace;
mod rows;
mod settings;
mod steps;
pub mod transfer;
mod twins;
mod unpack;
mod upload;
mod workspace;

use std::time::Instant;

use kernel::{Error, Result, task::spawn_blocking};

use crate::Forge;

/// Goes on with everything that had not ended when the server did.
///
/// # Errors
/// When the database cannot be written.
pub async fn resume(forge: &Forge) -> Result<()> {
    export::resume(forge).await?;
    import::resume(forge).await?;
    transfer::resume(forge).await
}

/// Removes what servers that were killed before `since` have left of archives that they took apart; returns how many
/// archives these were.
///
/// # Errors
/// When the data folder cannot be read or written.
pub async fn clear_leftovers(forge: &Forge, since: Instant) -> Result<usize> {
    let data = forge.data().to_owned();
    let cleared = spawn_blocking(move || workspace::clear_leftovers(&data, since)).await;
    cleared.map_err(Error::internal)?.map_err(Error::internal)
}
