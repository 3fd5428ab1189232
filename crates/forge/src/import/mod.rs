//! Imports: projects that are filled from elsewhere. What is asked for becomes a project and a row; the background work
//! does one step after the other.

pub mod actions;
mod attachments;
mod batch;
mod client;
mod diff_line;
pub mod gists;
pub(crate) mod git;
mod heads;
mod host;
mod job;
mod json;
mod lfs;
mod people;
mod run;
pub(crate) mod schedule;
mod server;
mod source_error;
mod steps;
pub mod view;

pub use actions::{HostImport, Refusal, ServerImport};
pub(crate) use client::SourceClient;
pub use job::RunImport;
pub use run::resume;
pub(crate) use run::run;
pub(crate) use source_error::{SourceError, refusal_text};
pub use steps::RunningSteps;
