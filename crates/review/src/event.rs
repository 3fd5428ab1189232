//! The events of this crate.

use kernel::{
    Ts,
    ids::{IssueId, LabelId, ProjectId, UserId},
};
use serde::Serialize;

use crate::{issue::Issue, label::Label};

/// A fact about work and what is said about it.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    IssueOpened {
        issue: IssueFact,
        user: UserId,
        /// For those who hear of it at once.
        #[serde(skip)]
        begun: Box<OpenedIssue>,
    },
    IssueUpdated {
        issue: IssueFact,
        user: UserId,
        changes: Vec<Change>,
    },
    IssueClosed {
        issue: IssueFact,
        user: UserId,
    },
    IssueReopened {
        issue: IssueFact,
        user: UserId,
    },
    IssueRemoved {
        issue: IssueFact,
        user: UserId,
    },
}

/// An issue as it was written, before anything else was done to it.
#[derive(Clone, Debug)]
pub struct OpenedIssue {
    pub issue: Issue,
    pub labels: Vec<LabelId>,
}

impl Event {
    pub(crate) fn opened(issue: &Issue, labels: &[Label], user: UserId) -> Self {
        let labels = labels.iter().map(|label| label.id).collect();
        let begun = Box::new(OpenedIssue { issue: issue.clone(), labels });
        Self::IssueOpened { issue: issue.into(), user, begun }
    }
}

/// An issue, as those need it who cannot ask for it any more.
#[derive(Debug, Serialize)]
pub struct IssueFact {
    pub id: IssueId,
    pub iid: i64,
    pub project: ProjectId,
    pub title: String,
    pub confidential: bool,
    #[serde(skip)]
    pub earlier: EarlierTimes,
}

/// When an item was changed and closed before something was done to it, for those who hear of that at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct EarlierTimes {
    pub updated_at: Option<Ts>,
    pub closed_at: Option<Ts>,
}

impl IssueFact {
    /// Of an issue that was another one before.
    pub(crate) fn changed(issue: &Issue, before: &Issue) -> Self {
        let earlier =
            EarlierTimes { updated_at: Some(before.updated_at), closed_at: before.closed_at };
        Self { earlier, ..Self::from(issue) }
    }
}

impl From<&Issue> for IssueFact {
    fn from(issue: &Issue) -> Self {
        Self {
            id: issue.id,
            iid: issue.iid,
            project: issue.project_id,
            title: issue.title.clone(),
            confidential: issue.confidential,
            earlier: EarlierTimes::default(),
        }
    }
}

/// A field that has another value now; of lists, the ids with commas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    pub field: &'static str,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::IssueOpened { .. } => "issue.opened",
            Self::IssueUpdated { .. } => "issue.updated",
            Self::IssueClosed { .. } => "issue.closed",
            Self::IssueReopened { .. } => "issue.reopened",
            Self::IssueRemoved { .. } => "issue.removed",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        match self {
            Self::IssueOpened { issue, .. }
            | Self::IssueUpdated { issue, .. }
            | Self::IssueClosed { issue, .. }
            | Self::IssueReopened { issue, .. }
            | Self::IssueRemoved { issue, .. } => Some(issue.project),
        }
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
