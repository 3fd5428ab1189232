//! Releases as the API shows them.

use forge::urls::Urls;
use kernel::Ts;
use org::user::User;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use repo::{
    git::CommitInfo,
    release::{Release, link::ReleaseLink},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{commit::CommitEntity, release_link::ReleaseLinkEntity};
use crate::{
    org::brief_user::BriefUser, review::milestone_with_statistics::MilestoneWithStatistics,
};

/// The formats in which the files of a tag are had.
const FORMATS: [&str; 4] = ["zip", "tar.gz", "tar.bz2", "tar"];

#[derive(Debug, Serialize, ToSchema)]
pub struct ReleaseEntity {
    pub name: String,
    pub tag_name: String,
    pub description: Option<String>,
    #[schema(value_type = String)]
    pub created_at: Ts,
    /// Time of the release, which may lie in the future.
    #[schema(value_type = String)]
    pub released_at: Ts,
    pub upcoming_release: bool,
    /// Null when the user has been deleted.
    pub author: Option<BriefUser>,
    /// Null for callers that may not read code, and when the commit is gone.
    pub commit: Option<CommitEntity>,
    /// By due date, start date and title. Left out when there are none, and for callers that may not read milestones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub milestones: Vec<MilestoneWithStatistics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag_path: Option<String>,
    pub assets: ReleaseAssets,
    pub evidences: Vec<String>,
    #[serde(rename = "_links")]
    pub links: ReleaseLinks,
}

/// Files of a release.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReleaseAssets {
    /// Number of archives and links.
    pub count: usize,
    /// Archives of the tag. Empty for callers that may not read code.
    pub sources: Vec<ReleaseSource>,
    /// The newest first.
    pub links: Vec<ReleaseLinkEntity>,
}

/// An archive of the tag.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReleaseSource {
    pub format: &'static str,
    pub url: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ReleaseLinks {
    #[serde(rename = "self")]
    pub own: String,
    pub edit_url: String,
}

/// What a release is shown with.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseView<'a> {
    pub urls: &'a Urls,
    /// Full path of the project.
    pub full_path: &'a str,
    pub now: Ts,
    /// Whether the caller may read code.
    pub has_code: bool,
}

/// What was read of one release beside its row.
#[derive(Clone, Debug, Default)]
pub struct ReleaseContent<'a> {
    pub author: Option<&'a User>,
    pub commit: Option<&'a CommitInfo>,
    pub links: Vec<ReleaseLink>,
    pub milestones: Vec<MilestoneWithStatistics>,
}

impl ReleaseEntity {
    pub fn new(view: ReleaseView<'_>, row: Release, content: ReleaseContent<'_>) -> Self {
        let ReleaseContent { author, commit, links, milestones } = content;
        let project_url = view.urls.at(view.full_path);
        let commit = commit.filter(|_| view.has_code);
        let page = format!("{project_url}/-/releases/{}", encoded(&row.tag));
        let sources = if view.has_code { sources(&view, &row.tag) } else { Vec::new() };
        let links: Vec<ReleaseLinkEntity> = links
            .into_iter()
            .map(|link| ReleaseLinkEntity::new(&project_url, &row.tag, link))
            .collect();
        let path = |rest: String| format!("{}/{}/-/{rest}", view.urls.folder(), view.full_path);
        Self {
            commit_path: commit.map(|commit| path(format!("commit/{}", commit.id))),
            tag_path: view.has_code.then(|| path(format!("tags/{}", Urls::path_text(&row.tag)))),
            commit: commit.map(|commit| CommitEntity::new(commit, &project_url)),
            author: author.map(|author| BriefUser::new(view.urls, author)),
            upcoming_release: row.released_at > view.now,
            milestones,
            assets: ReleaseAssets { count: sources.len() + links.len(), sources, links },
            evidences: Vec::new(),
            links: ReleaseLinks { edit_url: format!("{page}/edit"), own: page },
            name: row.name,
            tag_name: row.tag,
            description: row.description,
            created_at: row.created_at,
            released_at: row.released_at,
        }
    }
}

/// The name of a tag as one part of an address.
pub fn encoded(tag: &str) -> String {
    utf8_percent_encode(tag, NON_ALPHANUMERIC).to_string()
}

/// The archives of a tag.
pub fn sources(view: &ReleaseView<'_>, tag: &str) -> Vec<ReleaseSource> {
    let path = view.full_path.rsplit('/').next().unwrap_or_default();
    let (tag, file) = (Urls::path_text(tag), Urls::path_text(&tag.replace('/', "-")));
    let file = format!("{path}-{file}");
    let url =
        |format: &str| view.urls.at(&format!("{}/-/archive/{tag}/{file}.{format}", view.full_path));
    FORMATS.into_iter().map(|format| ReleaseSource { format, url: url(format) }).collect()
}
