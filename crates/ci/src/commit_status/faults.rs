//! Validation of a reported commit status.

use kernel::{Faults, Result, values::is_web_url};

const LONGEST: usize = 255;

/// The fields of a commit status besides its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatusFields<'a> {
    pub name: &'a str,
    pub target_url: Option<&'a str>,
    pub description: Option<&'a str>,
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
        faults.into_result()
    }
}
