//! Validation of a reported commit status.

use kernel::{
    Faults, Result,
    values::{is_ref_name, is_web_url},
};

use crate::coverage::{LARGEST, is_coverage};

const LONGEST: usize = 255;

/// The fields of a commit status besides its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatusFields<'a> {
    pub name: &'a str,
    pub target_url: Option<&'a str>,
    pub description: Option<&'a str>,
    /// The name of a branch or tag, which need not be there.
    pub ref_name: Option<&'a str>,
    pub coverage: Option<f64>,
}

impl StatusFields<'_> {
    pub(super) fn check(self) -> Result<()> {
        let mut faults = Faults::default();
        if self.name.trim().is_empty() {
            faults.add("name", "can't be blank");
        }
        faults.at_most("name", Some(self.name), LONGEST);
        if self.target_url.is_some_and(|url| !is_web_url(url)) {
            faults.add("target_url", "is blocked: Only allowed schemes are http, https");
        }
        faults.at_most("target_url", self.target_url, LONGEST);
        faults.at_most("description", self.description, LONGEST);
        if self.ref_name.is_some_and(|name| !is_ref_name(name)) {
            faults.add("ref", "is invalid");
        }
        match self.coverage.filter(|number| !is_coverage(*number)) {
            Some(number) if number < 0.0 => {
                faults.add("coverage", format!("must be greater than or equal to -{LARGEST}"));
            }
            Some(_) => faults.add("coverage", format!("must be less than or equal to {LARGEST}")),
            None => {}
        }
        faults.into_result()
    }
}
