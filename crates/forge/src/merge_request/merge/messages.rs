//! Merge and squash commit messages.

use std::{collections::HashMap, sync::Arc};

use db::Tx;
use kernel::{
    Result, Standing,
    access::ProjectFacts,
    ids::{ProjectId, UserId},
};
use org::{
    project::{
        settings::{Settings, SettingsStore as _},
        store::ProjectStore as _,
    },
    user::{User, store::UserStore as _},
};
use repo::{
    git::{CommitInfo, Signature},
    merge::{Method, Plan, Squash},
};
use review::approval::ApprovalStore as _;
use review::merge_request::{
    MergeRequest, ReviewState, ReviewerStore as _,
    merge::{AutoMerge, ClosesStore as _},
    template::{CommitIdentity, MERGE_TEMPLATE, MessageValues, SQUASH_TEMPLATE, SourceCommit},
};

use super::{
    MergeInputs,
    mergeability::{Merger, commits_between, merge_inputs},
};
use crate::{Forge, commit::author::signature};

/// Everything that is written into commits.
#[derive(Clone, Debug)]
pub(super) struct Messages {
    pub(super) merge: String,
    pub(super) squash: Option<Squash>,
    pub(super) committer: Signature,
}

impl Messages {
    /// The title of the commit where the target will be.
    pub(super) fn title(&self, plan: &Plan) -> String {
        let message = match (&self.squash, plan.method) {
            (Some(squash), Method::FastForward) => &squash.message,
            _ => &self.merge,
        };
        message.lines().next().unwrap_or_default().to_owned()
    }
}

/// What both commits say: the words that somebody chose, or else those of the project.
pub(super) async fn messages(
    forge: &Forge,
    row: &MergeRequest,
    inputs: &MergeInputs,
    by: &Merger,
    settings: &Settings,
    wish: &AutoMerge,
    squashes: bool,
) -> Result<Messages> {
    let (target, head) = (inputs.target, inputs.head);
    let read =
        forge.git_read(row.project_id, move |reader| Ok(commits_between(reader, target, head)?));
    let commits = read.await?;
    let around = {
        let row = row.clone();
        forge.db.read(move |tx| MessageContext::of(tx, &row)).await?
    };
    let committer = signature(forge, &by.user);
    let author =
        around.author.as_ref().map_or_else(|| committer.clone(), |user| signature(forge, user));
    let words = around.words(forge, row, by, &commits);
    let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let chosen = |template: &Option<String>| given(template);
    let merge = given(&wish.merge_commit_message).unwrap_or_else(|| {
        let words = MessageValues { own_email: committer.email.clone(), ..words.clone() };
        let template = chosen(&settings.merge_commit_template);
        words.fill(template.as_deref().unwrap_or(MERGE_TEMPLATE))
    });
    let squash = squashes.then(|| Squash {
        message: given(&wish.squash_commit_message).unwrap_or_else(|| {
            let words = MessageValues { own_email: author.email.clone(), ..words };
            let template = chosen(&settings.squash_commit_template);
            words.fill(template.as_deref().unwrap_or(SQUASH_TEMPLATE))
        }),
        author,
    });
    Ok(Messages { merge, squash, committer })
}

/// The default merge and squash commit messages for a user who merges.
#[derive(Clone, Debug)]
pub struct DefaultMessages {
    pub merge: String,
    pub squash: String,
}

/// The messages that are written where nobody chooses others; `None` where a branch is not there.
pub async fn default_messages(
    forge: &Forge,
    row: &MergeRequest,
    (facts, who): (Arc<ProjectFacts>, Standing),
    user: &User,
) -> Result<Option<DefaultMessages>> {
    let Some(inputs) = merge_inputs(forge, row).await? else { return Ok(None) };
    let project = row.project_id;
    let settings = forge.db.read(move |tx| tx.project_settings(project)).await?;
    let by = Merger { facts, who, user: user.clone() };
    let wish = AutoMerge::default();
    let found = messages(forge, row, &inputs, &by, &settings, &wish, true).await?;
    let squash = found.squash.map(|squash| squash.message).unwrap_or_default();
    Ok(Some(DefaultMessages { merge: found.merge, squash }))
}

/// Related records that message templates use.
struct MessageContext {
    author: Option<User>,
    closes: Vec<String>,
    approved_by: Vec<User>,
    reviewed_by: Vec<User>,
}

impl MessageContext {
    fn of(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<Self> {
        let issues = tx.closed_issues(row.id)?;
        let mut paths: HashMap<ProjectId, String> = HashMap::new();
        let mut closes = Vec::with_capacity(issues.len());
        for issue in &issues {
            if issue.project_id == row.project_id {
                closes.push(format!("#{}", issue.iid));
                continue;
            }
            let path = match paths.get(&issue.project_id) {
                Some(path) => path.clone(),
                None => tx.project(issue.project_id)?.full_path,
            };
            closes.push(format!("{path}#{}", issue.iid));
            paths.insert(issue.project_id, path);
        }
        let reviewers = tx.reviewers_of(&[row.id])?.remove(&row.id).unwrap_or_default();
        let reviewed: Vec<UserId> = reviewers
            .into_iter()
            .filter(|reviewer| reviewer.state == ReviewState::Reviewed)
            .map(|reviewer| reviewer.user_id)
            .collect();
        let approved = approvers(tx, row)?;
        Ok(Self {
            author: one(tx, row.author_id)?,
            closes,
            approved_by: all(tx, &approved)?,
            reviewed_by: all(tx, &reviewed)?,
        })
    }

    fn words(
        &self,
        forge: &Forge,
        row: &MergeRequest,
        by: &Merger,
        commits: &[CommitInfo],
    ) -> MessageValues {
        let host = forge.urls.private_mail_host();
        let named =
            |user: &User| CommitIdentity { name: user.name.clone(), email: user.git_email(&host) };
        let commit = |commit: &CommitInfo| SourceCommit {
            message: commit.message.clone(),
            author: CommitIdentity {
                name: commit.author.name.clone(),
                email: commit.author.email.clone(),
            },
            is_merge: commit.is_merge(),
        };
        let path = &by.facts.full_path;
        MessageValues {
            source_branch: row.source_branch.clone(),
            target_branch: row.target_branch.clone(),
            source_project_id: row.source_project_id.map(|id| id.0),
            title: row.title.clone(),
            description: row.description.clone().unwrap_or_default(),
            closes: self.closes.clone(),
            reference: format!("{path}!{}", row.iid),
            local_reference: format!("!{}", row.iid),
            url: forge.urls.at(&format!("{path}/-/merge_requests/{}", row.iid)),
            commits: commits.iter().rev().map(commit).collect(),
            approved_by: self.approved_by.iter().map(named).collect(),
            reviewed_by: self.reviewed_by.iter().map(named).collect(),
            merged_by: named(&by.user),
            author: self.author.as_ref().map(named).unwrap_or_default(),
            own_email: String::new(),
        }
    }
}

/// Who approved it, the first of them first.
fn approvers(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<Vec<UserId>> {
    let approvals = tx.approvals_of(&[row.id])?.remove(&row.id).unwrap_or_default();
    Ok(approvals.into_iter().map(|approval| approval.user_id).collect())
}

fn one(tx: &mut Tx<'_>, id: UserId) -> Result<Option<User>> {
    match tx.user(id) {
        Err(gone) if gone.is_gone() => Ok(None),
        found => found.map(Some),
    }
}

fn all(tx: &mut Tx<'_>, ids: &[UserId]) -> Result<Vec<User>> {
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(one(tx, *id)?);
    }
    Ok(found)
}
