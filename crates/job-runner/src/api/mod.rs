//! The server's side of the runner protocol, as calls.

mod artifacts;
mod client;
mod job;
pub(crate) mod payload;
mod registration;
mod requests;

pub(crate) use artifacts::{Download, Upload, UploadResult};
pub(crate) use client::{Client, is_local};
pub(crate) use job::{FinalState, JobCall, JobUpdate, LogSum, Verdict};
pub(crate) use registration::Registration;
pub(crate) use requests::JobAnswer;
