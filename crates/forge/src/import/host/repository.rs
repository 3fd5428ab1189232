//! A repository as it is found at the service.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::import::{
    SourceError,
    json::{fitting, text},
};

const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A name as a part of an address.
pub(crate) fn encoded(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}

/// A repository as it is found at the service.
#[derive(Clone, Debug)]
pub(crate) struct HostRepository {
    pub(crate) name: String,
    pub(crate) full_name: String,
    pub(crate) description: Option<String>,
    pub(crate) is_private: bool,
    pub(crate) default_branch: Option<String>,
    pub(crate) clone_url: String,
    pub(crate) web_url: String,
    pub(crate) has_wiki: bool,
}

impl HostRepository {
    pub(crate) fn parse(value: &Value) -> Result<Self, SourceError> {
        let full_name = text(value, "full_name");
        if full_name.split('/').filter(|part| !part.is_empty()).count() != 2 {
            return Err(SourceError::malformed("the repository of the source"));
        }
        let default_branch = Some(text(value, "default_branch").to_owned());
        Ok(Self {
            name: text(value, "name").to_owned(),
            full_name: full_name.to_owned(),
            description: fitting(text(value, "description")),
            is_private: value["private"].as_bool().unwrap_or(true),
            default_branch: default_branch.filter(|name| !name.is_empty()),
            clone_url: text(value, "clone_url").to_owned(),
            web_url: text(value, "html_url").to_owned(),
            has_wiki: value["has_wiki"].as_bool().unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn names_lead_to_no_other_address() {
        assert_eq!(encoded("../x?y#z"), "..%2Fx%3Fy%23z");
    }
}
