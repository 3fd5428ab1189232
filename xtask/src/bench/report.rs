//! The report of a run, and formatting of its figures.

use std::time::Duration;

use anyhow::Result;

use super::{correctness::ComparisonLine, transport::Timing, wrk::Measurement};
use crate::server::{self, Server};

/// Everything one database's run found.
pub(super) struct Report {
    pub(super) database: &'static str,
    pub(super) cases: Vec<(&'static str, Measurement)>,
    pub(super) transport: Vec<Timing>,
    pub(super) compared: Vec<ComparisonLine>,
    pub(super) notes: Vec<(&'static str, String)>,
}

pub(super) fn milliseconds(duration: Duration) -> String {
    format!("{:.0} ms", duration.as_secs_f64() * 1_000.0)
}

pub(super) fn megabytes(server: &Server) -> Result<String> {
    let (all, own) = server::resident(server.id())?;
    Ok(format!("{all:.1} MiB, {own:.1} MiB without mapped files"))
}
