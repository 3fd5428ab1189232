//! Users as the author, assignees, reviewers and participants of a merge request, and the lists of merge requests that
//! users have.

use std::{collections::HashMap, sync::Arc};

use db::Tx;
use entities::org::brief_user::BriefUser;
use forge::ports::review::OrgHierarchy;
use graphql::{Failure, Fields, Registry, Value};
use kernel::{
    Result, Standing,
    ids::{MergeRequestId, ProjectId, UserId},
};
use repo::protection::Protection;
use review::{merge_request::ReviewState, ports::People as _};

use super::{
    approvals,
    loaders::ReviewLoaders,
    merge_request_lists::{UserRelation, of_user},
    records::MergeRequestRecord,
};
use crate::{context::Context, loaders::BatchLoader, members::MemberRecord, people};

/// A user who has to do with a merge request.
pub struct MergeRequestPerson {
    pub user: BriefUser,
    pub merge_request: Arc<MergeRequestRecord>,
}

impl AsRef<BriefUser> for MergeRequestPerson {
    fn as_ref(&self) -> &BriefUser {
        &self.user
    }
}

/// The role of a user in a merge request.
pub struct Interaction {
    user: UserId,
    merge_request: Arc<MergeRequestRecord>,
}

/// What a user has to do with a merge request, as a value.
pub fn interaction(user: UserId, merge_request: Arc<MergeRequestRecord>) -> Value {
    let record = Interaction { user, merge_request };
    Value::object("UserMergeRequestInteraction", Arc::new(record))
}

pub(super) fn register(registry: &mut Registry<Context>) {
    add_lists::<BriefUser>(registry.object("UserCore"));
    for name in [
        "MergeRequestAuthor",
        "MergeRequestAssignee",
        "MergeRequestReviewer",
        "MergeRequestParticipant",
    ] {
        let fields = people::add_fields::<MergeRequestPerson>(registry.object(name));
        add_lists(fields).plain("mergeRequestInteraction", |person| {
            interaction(UserId(person.user.id), person.merge_request.clone())
        });
    }
    for name in ["GroupMember", "ProjectMember"] {
        registry.object::<MemberRecord>(name).lookup(
            "mergeRequestInteraction",
            |member: Arc<MemberRecord>, arguments, context| async move {
                let id = arguments.maybe_gid("id", &["MergeRequest"])?.map(MergeRequestId);
                let Some(id) = id else { return Ok(Value::Null) };
                let found = ReviewLoaders::of(&context).merge_requests.load(id).await?;
                Ok(found.map(|found| interaction(member.user_id(), found)).into())
            },
        );
    }
    registry
        .object::<Interaction>("UserMergeRequestInteraction")
        .lookup("applicableApprovalRules", |one, _, context| async move {
            approvals::rules_for(&context, &one.merge_request, one.user).await
        })
        .lookup("approved", |one, _, context| async move {
            approvals::has_approved(&context, &one.merge_request, one.user).await
        })
        .lookup("canMerge", |one, _, context| async move {
            let rights = rights(&context, &one).await?;
            Ok(rights.is_some_and(|rights| rights.may_merge(&one.merge_request)).into())
        })
        .lookup("canUpdate", |one, _, context| async move {
            let rights = rights(&context, &one).await?;
            Ok(rights.is_some_and(|rights| one.merge_request.may_update(&rights.who)).into())
        })
        .lookup("reviewState", |one, _, context| async move {
            Ok(review_state(&context, &one)
                .await?
                .map(|state| state.to_string().to_uppercase())
                .into())
        })
        .lookup("reviewed", |one, _, context| async move {
            Ok((review_state(&context, &one).await? == Some(ReviewState::Reviewed)).into())
        });
}

fn add_lists<T: AsRef<BriefUser> + Send + Sync + 'static>(
    fields: Fields<'_, Context, T>,
) -> Fields<'_, Context, T> {
    fields
        .lookup("assignedMergeRequests", |user: Arc<T>, arguments, context| async move {
            of_user(&context, UserRelation::Assignee, id(&*user), &arguments).await
        })
        .lookup("authoredMergeRequests", |user: Arc<T>, arguments, context| async move {
            of_user(&context, UserRelation::Author, id(&*user), &arguments).await
        })
        .lookup("reviewRequestedMergeRequests", |user: Arc<T>, arguments, context| async move {
            of_user(&context, UserRelation::Reviewer, id(&*user), &arguments).await
        })
        .lookup("timelogs", |user: Arc<T>, arguments, context| async move {
            super::timelogs::of_user(&context, id(&*user), &arguments).await
        })
        .lookup("todos", |user: Arc<T>, arguments, context| async move {
            super::todos::of_user(&context, id(&*user), &arguments).await
        })
}

fn id(user: &impl AsRef<BriefUser>) -> UserId {
    UserId(user.as_ref().id)
}

async fn review_state(
    context: &Context,
    one: &Interaction,
) -> Result<Option<ReviewState>, Failure> {
    let found = ReviewLoaders::of(context).reviewers.load(one.merge_request.row.id).await?;
    let found = found.unwrap_or_default();
    let own = found.iter().find(|reviewer| reviewer.user_id == one.user);
    Ok(own.map(|reviewer| reviewer.state))
}

/// A user's permissions in a project.
struct Rights {
    who: Standing,
    protection: Protection,
}

impl Rights {
    fn may_merge(&self, record: &MergeRequestRecord) -> bool {
        let branch = self.protection.branch(&record.row.target_branch);
        !self.who.archived && (branch.may_push() || branch.may_merge())
    }
}

struct RightsLoader(BatchLoader<(ProjectId, UserId), Arc<Rights>>);

async fn rights(context: &Context, one: &Interaction) -> Result<Option<Arc<Rights>>, Failure> {
    let loader = context.loaders.of(|db| RightsLoader(BatchLoader::new(db, all_rights)));
    loader.0.load((one.merge_request.row.project_id, one.user)).await
}

fn all_rights(
    tx: &mut Tx<'_>,
    keys: &[(ProjectId, UserId)],
) -> Result<HashMap<(ProjectId, UserId), Arc<Rights>>> {
    let mut projects: HashMap<ProjectId, Vec<UserId>> = HashMap::new();
    for (project, user) in keys {
        projects.entry(*project).or_default().push(*user);
    }
    let mut all = HashMap::new();
    for (project, users) in projects {
        for who in OrgHierarchy.standings(tx, project, &users)? {
            let Some(user) = who.actor.id else { continue };
            let protection = Protection::load(tx, &who, project)?;
            all.insert((project, user), Arc::new(Rights { who, protection }));
        }
    }
    Ok(all)
}
