//! Test reports: what `JUnit` files say of the tests of a job.
//!
//! `source.rs` counts lines and bytes, `element.rs` turns elements into values, `walk.rs` finds the cases among them while
//! the file streams by. A [`Suite`] takes the files of all jobs of one name; one bad file leaves it with an error alone.

mod element;
mod source;
mod walk;

use std::io::BufRead;

use indexmap::IndexMap;
use kernel::TextEnum as _;
use serde_json::Value;
use sha1::{Digest as _, Sha1};

kernel::text_enum! {
    /// How a test ended, in the order in which tests are shown.
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

/// What a file may be at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes, once it is unpacked.
    pub bytes: u64,
    /// Elements within one another.
    pub depth: usize,
    /// Tests of a suite.
    pub cases: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 64 << 20, depth: 256, cases: 500_000 }
    }
}

type Digest = [u8; 20];

/// The tests of the jobs of one name.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    name: String,
    /// Of two alike, the last.
    cases: IndexMap<(CaseStatus, Digest), Case>,
    total_time: f64,
    error: Option<String>,
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
        let added = walk::cases(file, limits).and_then(|cases| self.add(cases, limits));
        if let Err(error) = added {
            *self = Self { error: Some(error), ..Self::new(&self.name) };
        }
    }

    fn add(&mut self, cases: Vec<walk::Placed>, limits: &Limits) -> Result<(), String> {
        for walk::Placed { suite, case } in cases {
            self.total_time += case.execution_time;
            let suite = suite.as_deref().unwrap_or(&self.name);
            self.cases.insert((case.status, digest(suite, &case)), case);
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
        self.cases.keys().filter(|(own, _)| *own == status).count()
    }

    /// Errors first, then failures, successes and what was skipped; the slowest first in each.
    pub fn cases(&self) -> Vec<&Case> {
        let mut cases: Vec<&Case> = self.cases.values().collect();
        cases.sort_by(|one, other| {
            let slowest = other.execution_time.total_cmp(&one.execution_time);
            one.status.cmp(&other.status).then(slowest)
        });
        cases
    }
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

#[cfg(test)]
mod tests {
    use super::{Limits, Suite};

    fn error(xml: &str, limits: &Limits) -> String {
        let mut suite = Suite::new("job");
        suite.read(xml.as_bytes(), limits);
        suite.error().unwrap_or_default().to_owned()
    }

    #[test]
    fn what_is_no_xml_is_told_with_its_place() {
        for (xml, message) in [
            ("\n x", "2:2: FATAL: Start tag expected, '<' not found"),
            ("<?xml version='1.0'?>", "1:22: FATAL: Start tag expected, '<' not found"),
            ("<a>\n<b>", "2:4: FATAL: Premature end of data in tag b line 2"),
            ("<a/><b/>", "1:5: FATAL: Extra content at the end of the document"),
            ("<a/></b>", "1:5: FATAL: Extra content at the end of the document"),
            ("<a>&nbsp;</a>", "1:10: FATAL: Entity 'nbsp' not defined"),
            ("<a>\u{1b}</a>", "1:5: FATAL: PCDATA invalid Char value 27"),
            ("<a>&#0;</a>", "1:8: FATAL: xmlParseCharRef: invalid xmlChar value 0"),
        ] {
            assert_eq!(
                error(xml, &Limits::default()),
                format!("JUnit XML parsing failed: {message}")
            );
        }
    }

    #[test]
    fn a_file_has_an_end_in_size_depth_and_number() {
        let limits = Limits { bytes: 100, depth: 5, cases: 2 };

        let large = error(&format!("<a>{}</a>", "x".repeat(200)), &limits);
        let deep = error(&"<a>".repeat(6), &limits);
        let many = error(
            "<testsuite><testcase name='a'/><testcase name='b'/><testcase name='c'/></testsuite>",
            &limits,
        );

        assert_eq!(large, "JUnit data parsing failed: the file is larger than 100 bytes");
        assert_eq!(
            deep,
            "JUnit XML parsing failed: 1:19: FATAL: Excessive depth in document: 5 use XML_PARSE_HUGE option"
        );
        assert_eq!(many, "JUnit data parsing failed: number of test cases exceeded the limit of 2");
    }

    #[test]
    fn entities_are_not_followed() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>";

        assert!(error(bomb, &Limits::default()).ends_with("Entity 'c' not defined"));
    }

    #[test]
    fn a_failed_test_may_leave_a_file_behind() {
        let mut suite = Suite::new("job");
        let xml = "<testsuite><testcase name='a'><failure/><system-out>[[ATTACHMENT|shots/a.png]]</system-out></testcase></testsuite>";

        suite.read(xml.as_bytes(), &Limits::default());

        assert_eq!(suite.cases()[0].attachment.as_deref(), Some("shots/a.png"));
    }

    #[test]
    fn a_bad_file_takes_away_what_others_said() {
        let mut suite = Suite::new("job");

        suite.read(
            "<testsuite><testcase name='a' time='1'/></testsuite>".as_bytes(),
            &Limits::default(),
        );
        let before = suite.total_count();
        suite.read("no".as_bytes(), &Limits::default());

        assert_eq!((before, suite.total_count(), suite.total_time()), (1, 0, 0.0));
    }
}
