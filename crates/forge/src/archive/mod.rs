//! Archives: a project or group as one file, written here and read here or on another installation.

pub mod actions;
mod bundle;
mod check;
mod discard;
pub mod export;
mod failure;
mod files;
mod groups;
pub mod import;
mod layout;
mod lines;
mod members;
mod pack;
mod people;
mod replace;
mod rows;
pub mod transfer;
mod unpack;
mod upload;

use kernel::Result;

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
