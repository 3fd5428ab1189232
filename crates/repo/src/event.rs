//! The events of this crate.

use kernel::{
    head::{Growth, HeadMove},
    ids::{CommitNoteId, NamespaceId, ProjectId, UserId},
};
use serde::{Serialize, Serializer};

use crate::push::{Push, journal::PushAction};

/// A fact about a repository.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Refs moved, all at once.
    RefsMoved {
        project: ProjectId,
        user: Option<UserId>,
        /// The branch that is now the project's default, where it had none.
        becomes_default: Option<String>,
        moves: Vec<MovedRef>,
        /// What the pusher gave with `--push-option`; see [`PipelineOptions`](crate::push::PipelineOptions).
        /// Variables are for listeners alone, since they may be secret.
        #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "without_variables")]
        options: Vec<String>,
        /// For those who hear it at once.
        #[serde(skip)]
        head: Option<Box<HeadMove>>,
        #[serde(skip)]
        growth: Growth,
        /// Whether the server moved a branch onto another one: nobody has changed what it says.
        #[serde(skip)]
        by_rebase: bool,
        /// So many branches and tags were made or moved by parts of the same push that came before.
        #[serde(skip)]
        earlier: usize,
    },
    /// A project has other large files than before: so many bytes in all.
    LfsChanged { project: ProjectId, bytes: i64 },
    /// Somebody said something about a commit.
    CommitCommented { project: ProjectId, user: UserId, sha: String, note: CommitNoteId },
    /// Somebody said something else about a commit than before.
    CommitCommentChanged { project: ProjectId, user: UserId, sha: String, note: CommitNoteId },
    /// Something that was said about a commit was taken back.
    CommitCommentRemoved { project: ProjectId, user: UserId, sha: String, note: CommitNoteId },
    /// A wiki has one commit more; either of a project or of a group.
    WikiChanged {
        project: Option<ProjectId>,
        group: Option<NamespaceId>,
        user: UserId,
        action: WikiAction,
        /// The file of the page, as it is called afterwards, or of the attachment.
        path: String,
        commit: String,
    },
}

/// The action of a wiki event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WikiAction {
    Create,
    Update,
    Delete,
    Attach,
}

fn without_variables<S: Serializer>(options: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(options.iter().filter(|option| !option.starts_with("ci.variable")))
}

/// One ref of [`Event::RefsMoved`].
#[derive(Clone, Debug, Serialize)]
pub struct MovedRef {
    /// `refs/heads/main`
    pub name: String,
    pub action: PushAction,
    pub before: Option<String>,
    pub after: Option<String>,
    pub commit_count: i64,
    /// Of the newest commit.
    pub commit_title: Option<String>,
}

impl Event {
    pub(crate) fn of_push(push: &Push) -> Self {
        let moves = push.changes.iter().map(|change| MovedRef {
            name: change.name.as_bstr().to_string(),
            action: PushAction::of(change),
            before: change.old.map(|id| id.to_string()),
            after: change.new.map(|id| id.to_string()),
            commit_count: change.commit_count,
            commit_title: change.commit_title.clone(),
        });
        Self::RefsMoved {
            project: push.project.id,
            user: push.who.actor.id,
            becomes_default: push.becomes_default.as_ref().map(|name| name.short().into_owned()),
            moves: moves.collect(),
            options: push.options.clone(),
            head: push.head.clone().map(Box::new),
            growth: push.growth,
            by_rebase: push.by_rebase,
            earlier: push.earlier,
        }
    }
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::RefsMoved { .. } => "refs.moved",
            Self::CommitCommented { .. } => "commit.commented",
            Self::CommitCommentChanged { .. } => "commit.comment_changed",
            Self::CommitCommentRemoved { .. } => "commit.comment_removed",
            Self::LfsChanged { .. } => "lfs.changed",
            Self::WikiChanged { .. } => "wiki.changed",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        match self {
            Self::RefsMoved { project, .. }
            | Self::CommitCommented { project, .. }
            | Self::CommitCommentChanged { project, .. }
            | Self::CommitCommentRemoved { project, .. }
            | Self::LfsChanged { project, .. } => Some(*project),
            Self::WikiChanged { project, .. } => *project,
        }
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
