//! Parameters of runner lists and runners.

use kernel::Error;
use runners::runner::{Attributes, RunnerAccess, RunnerFilter, RunnerType, StatusFilter};

use crate::{
    extract::{Change, Csv},
    param_enums, params,
};

param_enums! { RunnerAccess, RunnerType, StatusFilter }

params! {
    pub struct ListRunners: paged {
        /// Deprecated: `active`, `paused`, `online`, `offline`, `never_contacted` or `stale`.
        scope: Option<String>,
        /// Only runners of this type.
        r#type: Option<RunnerType>,
        status: Option<StatusFilter>,
        /// Only paused (true) or active (false) runners.
        paused: Option<bool>,
        /// Only runners that have all of these tags.
        tag_list: Option<Csv<String>>,
    }
}

const INVALID_SCOPE: &str = "Scope contains invalid value";

impl ListRunners {
    /// What is wanted; the scope may name kinds of runners only where all of them are listed.
    pub fn into_filter(self, kinds: bool) -> Result<RunnerFilter, Error> {
        let mut filter = RunnerFilter {
            runner_type: self.r#type,
            statuses: self.status.into_iter().collect(),
            paused: self.paused,
            tags: self.tag_list.map(|tags| tags.0).unwrap_or_default(),
            ..RunnerFilter::default()
        };
        match self.scope.as_deref().filter(|scope| !scope.is_empty()) {
            None => {}
            Some("specific") if kinds => filter.runner_type = Some(RunnerType::Project),
            Some("shared") if kinds => filter.runner_type = Some(RunnerType::Instance),
            Some(scope) => {
                let status = kernel::TextEnum::find(scope);
                filter
                    .statuses
                    .push(status.ok_or_else(|| Error::bad_request().whole(INVALID_SCOPE))?);
            }
        }
        Ok(filter)
    }
}

/// What a runner is set to, from parameters that several calls have.
#[derive(Clone, Debug, Default)]
pub struct RunnerFields {
    pub description: Option<String>,
    pub maintenance_note: Option<String>,
    pub active: Option<bool>,
    pub paused: Option<bool>,
    pub locked: Option<bool>,
    pub run_untagged: Option<bool>,
    pub access_level: Option<RunnerAccess>,
    pub tag_list: Option<Csv<String>>,
    pub maximum_timeout: Change<i64>,
}

impl From<RunnerFields> for Attributes {
    fn from(given: RunnerFields) -> Self {
        Self {
            description: given.description,
            maintenance_note: given.maintenance_note,
            active: given.active.or(given.paused.map(|paused| !paused)),
            locked: given.locked,
            run_untagged: given.run_untagged,
            access_level: given.access_level,
            tags: given.tag_list.map(|tags| tags.0),
            maximum_timeout: given.maximum_timeout.into_update(),
        }
    }
}
