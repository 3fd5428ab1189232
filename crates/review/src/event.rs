//! The events of this crate.

use kernel::{
    Ts,
    ids::{IssueId, LabelId, ProjectId, UserId},
};
use serde::Serialize;

use crate::{
    issue::{Issue, IssueState},
    label::Label,
};

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
    pub earlier: EarlierValues,
}

/// Values of an item before something was done to it, for those who hear of that at once.
#[derive(Clone, Debug, Default)]
pub struct EarlierValues {
    pub updated_at: Option<Ts>,
    pub closed_at: Option<Ts>,
    /// Whether it was open, where that is known.
    pub was_open: Option<bool>,
    /// Attributes that changed as a consequence: the last editor, the commit of a merge, the issue that it moved to.
    pub implied: Vec<Change>,
}

impl IssueFact {
    /// Of an issue that was another one before.
    pub(crate) fn changed(issue: &Issue, before: &Issue) -> Self {
        let earlier = EarlierValues {
            updated_at: Some(before.updated_at),
            closed_at: before.closed_at,
            was_open: Some(before.state == IssueState::Opened),
            implied: successor_changes(before, issue),
        };
        Self { earlier, ..Self::from(issue) }
    }

    /// With more attributes that changed as a consequence.
    pub(crate) fn with_implied(mut self, changes: Vec<Change>) -> Self {
        self.earlier.implied.extend(changes);
        self
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
            earlier: EarlierValues::default(),
        }
    }
}

/// The issues to which an issue leads now and did not before.
pub(crate) fn successor_changes(before: &Issue, after: &Issue) -> Vec<Change> {
    let all = [
        Change::between("moved_to_id", before.moved_to_id, after.moved_to_id),
        Change::between("duplicated_to_id", before.duplicated_to_id, after.duplicated_to_id),
    ];
    all.into_iter().flatten().collect()
}

/// A field that has another value now; of lists, the ids with commas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    pub field: &'static str,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl Change {
    /// A change of a field; nothing where both values are the same.
    pub(crate) fn between<T: ToString>(
        field: &'static str,
        before: Option<T>,
        after: Option<T>,
    ) -> Option<Self> {
        let text = |value: Option<T>| value.map(|value| value.to_string());
        let (before, after) = (text(before), text(after));
        (before != after).then_some(Self { field, before, after })
    }
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
