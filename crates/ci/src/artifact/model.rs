//! An artifact as it is stored, who may see it, and when it goes.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{JobId, PipelineId, ProjectId},
};
use time::Duration;

use super::{ArtifactFormat, ArtifactKind};
use crate::config::{duration, options::Artifacts};

/// Artifacts that say nothing else stay for so long.
const LIFETIME: Duration = Duration::days(30);

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::job_artifacts, check_for_backend(diesel::sqlite::Sqlite, diesel::pg::Pg))]
pub struct Artifact {
    pub id: i64,
    pub job_id: JobId,
    pub project_id: ProjectId,
    pub pipeline_id: PipelineId,
    pub file_type: ArtifactKind,
    pub file_format: ArtifactFormat,
    pub filename: String,
    pub size: i64,
    pub sha256: String,
    /// Under which name its content is kept.
    pub location: String,
    pub expires_at: Option<Ts>,
    /// Whether it stays beyond that, since its pipeline is the newest of its ref that succeeded.
    pub locked: bool,
    pub created_at: Ts,
}

impl Artifact {
    pub fn is_there(&self, now: Ts) -> bool {
        self.locked || self.expires_at.is_none_or(|at| at > now)
    }
}

/// An artifact whose content is kept.
#[derive(Clone, Debug)]
pub struct NewArtifact {
    pub kind: ArtifactKind,
    pub filename: String,
    pub size: i64,
    pub sha256: String,
    pub location: String,
    pub expires_at: Option<Ts>,
}

/// When what comes now goes, by the words for it; `None` for never.
pub fn expiry(words: Option<&str>, now: Ts) -> Option<Ts> {
    match words.map(str::trim).filter(|words| !words.is_empty()) {
        None => Some(now.plus(LIFETIME)),
        Some("never" | "0") => None,
        Some(words) => match duration::seconds(words) {
            Some(0) => None,
            Some(seconds) => {
                Some(now.plus(Duration::seconds(i64::try_from(seconds).unwrap_or(i64::MAX))))
            }
            None => Some(now.plus(LIFETIME)),
        },
    }
}

/// Who of those who see a job may have its artifacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    All,
    Developers,
    Maintainers,
    Nobody,
}

pub fn access(options: Option<&Artifacts>) -> Access {
    let Some(options) = options else { return Access::All };
    match (options.access.as_deref(), options.public) {
        (Some("none"), _) => Access::Nobody,
        (Some("maintainer"), _) => Access::Maintainers,
        (Some("developer"), _) | (None, Some(false)) => Access::Developers,
        _ => Access::All,
    }
}

#[cfg(test)]
mod tests {
    use kernel::Ts;

    use super::expiry;

    #[test]
    fn words_say_when_artifacts_go() {
        let days = |words: Option<&str>| expiry(words, Ts(0)).map(|at| at.unix() / 86_400);
        for (words, expected) in [
            (None, Some(30)),
            (Some(" "), Some(30)),
            (Some("never"), None),
            (Some("0"), None),
            (Some("1 week"), Some(7)),
            (Some("gibberish"), Some(30)),
        ] {
            assert_eq!(days(words), expected, "{words:?}");
        }
    }
}
