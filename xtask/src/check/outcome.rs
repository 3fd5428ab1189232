//! The outcome of a step.

use anyhow::{Result, bail};

/// How a step that found nothing wrong ended.
pub(super) enum Outcome {
    Clean,
    /// It, or a part of it, could not be done here, and why.
    Partly(String),
}

/// A step that lists what is wrong is clean when the list is empty.
pub(super) fn none(findings: &[String]) -> Result<Outcome> {
    if findings.is_empty() { Ok(Outcome::Clean) } else { bail!("{}", findings.join("\n")) }
}
