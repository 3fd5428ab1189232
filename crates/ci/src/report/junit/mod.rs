//! Test reports: what `JUnit` files say of the tests of a job.
//!
//! `source.rs` counts lines and bytes, `element.rs` turns elements into values, `walk.rs` finds the cases among them while
//! the file streams by. A [`Suite`] takes all files of a report; one bad file leaves it with an error alone. `stored.rs`
//! writes down what came of it, so that nothing is parsed when it is asked for.

mod case;
mod element;
mod source;
mod stored;
#[cfg(test)]
mod tests;
mod walk;

pub use stored::StoredCase;

use std::{cmp::Ordering, io::BufRead, ops::ControlFlow};

use indexmap::IndexMap;
use kernel::TextEnum as _;
use serde_json::Value;
use sha1::{Digest as _, Sha1};

use super::packed::each_file;

kernel::text_enum! {
    /// The status of a test, in display order.
    pub enum CaseStatus {
        Error = "error",
        Failed = "failed",
        Success = "success",
        Skipped = "skipped",
    }
}

/// One test.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub status: CaseStatus,
    pub name: String,
    pub classname: Option<String>,
    pub file: Option<String>,
    /// Seconds.
    pub execution_time: f64,
    /// Why it failed or was skipped: text, or the attributes of an element without text.
    pub system_output: Option<Value>,
    /// The path of a file that a failed test left behind.
    pub attachment: Option<String>,
}

/// The size limits of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all files, once they are unpacked.
    pub bytes: u64,
    /// Elements within one another.
    pub depth: usize,
    /// Tests of a suite.
    pub cases: usize,
    /// Bytes that are kept of a text; the rest of it is left out.
    pub text: usize,
    /// Elements in a test.
    pub parts: usize,
    /// Attributes of an element.
    pub attributes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 64 << 20,
            depth: 256,
            cases: 500_000,
            text: 1 << 20,
            parts: 10_000,
            attributes: 256,
        }
    }
}

/// Seconds of the longest test, and of all tests of a job: thirty thousand years.
pub(crate) const LONGEST_TIME: f64 = 1e12;
/// Signs of an error that are kept.
const ERROR_LENGTH: usize = 1_000;

type Digest = [u8; 20];

/// The key that identifies a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CaseKey {
    pub status: CaseStatus,
    /// Of the names of its suite, its class and itself.
    digest: Digest,
}

/// The tests of the jobs of one name.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    name: String,
    /// Of two alike, the last.
    cases: IndexMap<CaseKey, Case>,
    total_time: f64,
    error: Option<String>,
    /// Bytes that were read.
    bytes: u64,
}

impl Suite {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Why the suite shows no tests.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Adds what a file says. A file that cannot be read takes away what others said.
    pub fn read(&mut self, file: impl BufRead, limits: &Limits) {
        if self.error.is_some() {
            return;
        }
        let mut left = limits.bytes.saturating_sub(self.bytes);
        let found = walk::cases(file, limits, &mut left);
        self.bytes = limits.bytes.saturating_sub(left);
        if let Err(error) = found.and_then(|cases| self.add(cases, limits)) {
            self.fail(&error);
        }
    }

    /// Adds what the files of a report say, each of which is packed by itself.
    pub fn read_packed(&mut self, report: impl BufRead, limits: &Limits) {
        let unpacked = each_file(report, |file| {
            self.read(file, limits);
            match self.error {
                Some(_) => ControlFlow::Break(()),
                None => ControlFlow::Continue(()),
            }
        });
        if let Err(error) = unpacked {
            self.fail(&format!("JUnit data parsing failed: {error}"));
        }
    }

    fn fail(&mut self, error: &str) {
        let error = error.chars().take(ERROR_LENGTH).collect();
        *self = Self { error: Some(error), ..Self::new(&self.name) };
    }

    fn add(&mut self, cases: Vec<walk::CaseInSuite>, limits: &Limits) -> Result<(), String> {
        for walk::CaseInSuite { suite, case } in cases {
            self.total_time = bounded_time(self.total_time + case.execution_time);
            let suite = suite.as_deref().unwrap_or(&self.name);
            let key = CaseKey { status: case.status, digest: digest(suite, &case) };
            self.cases.insert(key, case);
            if self.cases.len() > limits.cases {
                return Err(walk::too_many(limits));
            }
        }
        Ok(())
    }

    /// Seconds of all tests, also of those that others replace.
    pub fn total_time(&self) -> f64 {
        self.total_time
    }

    pub fn total_count(&self) -> usize {
        self.cases.len()
    }

    pub fn count(&self, status: CaseStatus) -> usize {
        self.cases.keys().filter(|key| key.status == status).count()
    }

    /// Errors first, then failures, successes and what was skipped; the slowest first in each.
    pub fn cases(&self) -> Vec<&Case> {
        self.keyed().into_iter().map(|(_, case)| case).collect()
    }

    fn keyed(&self) -> Vec<(&CaseKey, &Case)> {
        let mut cases: Vec<(&CaseKey, &Case)> = self.cases.iter().collect();
        cases.sort_by(|(_, one), (_, other)| {
            in_order((one.status, one.execution_time), (other.status, other.execution_time))
        });
        cases
    }
}

/// A time within what is shown, summed up and kept everywhere.
pub(super) fn bounded_time(seconds: f64) -> f64 {
    seconds.clamp(-LONGEST_TIME, LONGEST_TIME)
}

/// The order in which tests are shown, by how they ended and how long they took.
fn in_order(one: (CaseStatus, f64), other: (CaseStatus, f64)) -> Ordering {
    one.0.cmp(&other.0).then(other.1.total_cmp(&one.1))
}

/// A short word for what tells a test from others.
fn digest(suite: &str, case: &Case) -> Digest {
    let classname = case.classname.as_deref().unwrap_or_default();
    let mut digest = Sha1::new();
    for part in [suite, classname, &case.name] {
        digest.update(part);
        digest.update([0]);
    }
    digest.finalize().into()
}

impl std::fmt::Display for Suite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} tests", self.name, self.total_count())?;
        for status in CaseStatus::ALL {
            write!(f, ", {} {status}", self.count(*status))?;
        }
        Ok(())
    }
}
