//! Rate limits of exports, their downloads and imports.

use kernel::{Error, ids::UserId};
use org::settings::Settings;

use super::limiter::{Limiter, Rule};

/// The kinds of requests about archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveCall {
    ProjectExport,
    ProjectDownload,
    ProjectImport,
    GroupExport,
    GroupDownload,
    GroupImport,
}

const CALLS: [(ArchiveCall, &str); 6] = [
    (ArchiveCall::ProjectExport, "project_export"),
    (ArchiveCall::ProjectDownload, "project_download_export"),
    (ArchiveCall::ProjectImport, "project_import"),
    (ArchiveCall::GroupExport, "group_export"),
    (ArchiveCall::GroupDownload, "group_download_export"),
    (ArchiveCall::GroupImport, "group_import"),
];

/// One limit for each, by person and minute.
pub(super) struct ArchiveRates(Vec<(ArchiveCall, Limiter<UserId>)>);

/// What the installation is set to; 0 and less are no limit.
fn rule(call: ArchiveCall, set: &Settings) -> Rule {
    let number = match call {
        ArchiveCall::ProjectExport => set.project_export_limit(),
        ArchiveCall::ProjectDownload => set.project_download_export_limit(),
        ArchiveCall::ProjectImport => set.project_import_limit(),
        ArchiveCall::GroupExport => set.group_export_limit(),
        ArchiveCall::GroupDownload => set.group_download_export_limit(),
        ArchiveCall::GroupImport => set.group_import_limit(),
    };
    let number = number.unwrap_or_default().max(0);
    Rule::per_minute(u32::try_from(number).unwrap_or(u32::MAX))
}

impl ArchiveRates {
    pub(super) fn new(set: &Settings) -> Self {
        let limiter = |(call, name)| (call, Limiter::new(name, rule(call, set)));
        Self(CALLS.into_iter().map(limiter).collect())
    }

    pub(super) fn follow(&self, set: &Settings) {
        for (call, limiter) in &self.0 {
            limiter.follow(rule(*call, set));
        }
    }

    pub(super) fn check(&self, call: ArchiveCall, user: UserId) -> Result<(), Error> {
        let own = self.0.iter().filter(|(one, _)| *one == call);
        own.map(|(_, limiter)| limiter).try_for_each(|limiter| Ok(limiter.check(&user)?))
    }

    pub(super) fn forget_the_quiet(&self) {
        for (_, limiter) in &self.0 {
            limiter.forget_the_quiet();
        }
    }
}
