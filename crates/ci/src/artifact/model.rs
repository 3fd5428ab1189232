//! An artifact as it is stored, who may see it, and when it goes.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{JobId, PipelineId, ProjectId},
};
use time::Duration;

use super::{ArtifactFormat, ArtifactKind};
use crate::config::{duration, options::Artifacts};

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::job_artifacts, check_for_backend(db::AnyBackend))]
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

/// The retention of an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    Endless,
    Of(Duration),
}

impl Lifetime {
    /// By words; `None` where they mean nothing.
    pub fn parse(words: &str) -> Option<Self> {
        let words = words.trim();
        if words == "0" || words.eq_ignore_ascii_case("never") {
            return Some(Self::Endless);
        }
        let seconds = duration::seconds(words)?;
        Some(Self::Of(Duration::seconds(i64::try_from(seconds).unwrap_or(i64::MAX))))
    }
}

/// When what comes now goes, by the words for it, or else by the words for what says nothing; `None` for never.
pub fn expiry(words: Option<&str>, unsaid: &str, now: Ts) -> Option<Ts> {
    let said = words.and_then(Lifetime::parse).or_else(|| Lifetime::parse(unsaid));
    match said {
        Some(Lifetime::Of(time)) => Some(now.plus(time)),
        Some(Lifetime::Endless) | None => None,
    }
}

/// The access level of artifacts among the readers of a job.
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
        let days = |words, unsaid| expiry(words, unsaid, Ts(0)).map(|at| at.unix() / 86_400);
        for (words, expected) in [
            (None, Some(30)),
            (Some(" "), Some(30)),
            (Some("never"), None),
            (Some("Never"), None),
            (Some("0"), None),
            (Some("1 week"), Some(7)),
            (Some("gibberish"), Some(30)),
        ] {
            assert_eq!(days(words, "30 days"), expected, "{words:?}");
        }
        assert_eq!((days(None, "2 days"), days(None, "0")), (Some(2), None));
    }
}
