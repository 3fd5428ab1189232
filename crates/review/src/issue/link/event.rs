//! Events of issue links.

use kernel::ids::{IssueId, ProjectId, UserId};
use serde::Serialize;

use super::{LinkType, actions::LinkWithIssues};

/// A fact about a link.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    IssuesLinked(Fact),
    IssuesUnlinked(Fact),
}

/// Which issues, what the first one is to the second one, and whose doing it is.
#[derive(Debug, Serialize)]
pub struct Fact {
    pub link: i64,
    pub link_type: LinkType,
    pub source: IssueId,
    pub target: IssueId,
    pub project: ProjectId,
    pub target_project: ProjectId,
    pub user: UserId,
}

impl Fact {
    pub(super) fn new(linked: &LinkWithIssues, user: UserId) -> Self {
        Self {
            link: linked.link.id,
            link_type: linked.link.link_type,
            source: linked.source.id,
            target: linked.target.id,
            project: linked.source.project_id,
            target_project: linked.target.project_id,
            user,
        }
    }
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::IssuesLinked(_) => "issue.linked",
            Self::IssuesUnlinked(_) => "issue.unlinked",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        let (Self::IssuesLinked(fact) | Self::IssuesUnlinked(fact)) = self;
        Some(fact.project)
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
