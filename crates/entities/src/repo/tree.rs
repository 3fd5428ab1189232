//! Folders, blobs, comparisons and contributors as the API shows them.

use repo::{
    compare::Comparison,
    git::{Contributor, EntryInfo},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{commit::CommitEntity, diff::DiffEntity};

/// An entry of a repository tree.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TreeEntryEntity {
    pub id: String,
    pub name: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub path: String,
    pub mode: &'static str,
}

impl From<EntryInfo> for TreeEntryEntity {
    fn from(entry: EntryInfo) -> Self {
        Self {
            id: entry.id.to_string(),
            name: entry.path.name().to_string(),
            kind: entry.kind().as_str(),
            path: entry.path.to_text().into_owned(),
            mode: entry.mode.as_str(),
        }
    }
}

/// A git blob with its content.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BlobEntity {
    pub size: u64,
    pub encoding: &'static str,
    /// Content in Base64, without line breaks.
    pub content: String,
    pub sha: String,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ComparisonEntity {
    /// Last commit of the comparison.
    pub commit: Option<CommitEntity>,
    pub commits: Vec<CommitEntity>,
    pub diffs: Vec<DiffEntity>,
    pub compare_timeout: bool,
    pub compare_same_ref: bool,
    pub web_url: String,
}

impl ComparisonEntity {
    /// `project_url` is the address of the project's page; `last` is the last commit, which is also one of `commits`.
    pub fn new(
        comparison: &Comparison,
        last: Option<CommitEntity>,
        commits: Vec<CommitEntity>,
        project_url: &str,
    ) -> Self {
        let Comparison { base, head, .. } = comparison;
        Self {
            commit: last,
            commits,
            diffs: comparison.files.iter().map(DiffEntity::from).collect(),
            compare_timeout: comparison.is_cut_short,
            compare_same_ref: comparison.is_same,
            web_url: format!("{project_url}/-/compare/{base}...{head}"),
        }
    }

    /// The record as JSON, in two parts: what comes before the commits, and what comes after them.
    pub fn around_commits(self) -> serde_json::Result<(String, String)> {
        #[derive(Serialize)]
        struct TreeHead<'a> {
            commit: &'a Option<CommitEntity>,
            commits: [(); 0],
        }
        const END: &str = "]}";
        let mut before = serde_json::to_string(&TreeHead { commit: &self.commit, commits: [] })?;
        let whole = serde_json::to_string(&Self { commits: Vec::new(), ..self })?;
        before.truncate(before.len() - END.len());
        let after = whole[before.len()..].to_owned();
        Ok((before, after))
    }
}

/// An author of commits. `additions` and `deletions` are always 0.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ContributorEntity {
    pub name: String,
    pub email: String,
    pub commits: u64,
    pub additions: u64,
    pub deletions: u64,
}

impl From<Contributor> for ContributorEntity {
    fn from(one: Contributor) -> Self {
        let Contributor { name, email, commits } = one;
        Self { name, email, commits, additions: 0, deletions: 0 }
    }
}
