//! Lists of merge requests: of a project, of a group, of a user.

use std::sync::Arc;

use db::Tx;
use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::{
    Result as Kept, TextEnum as _,
    ids::{NamespaceId, ProjectId, UserId},
};
use org::access::{IdOrPath, locate_project};
use review::{
    item::list::{Choice, Common, Direction, NotCommon, Order, Sorting},
    merge_request::{
        MergeRequestState, MergeRequestStore as _,
        list::{
            MergeRequestFilter, MergeRequestQuery, MergeRequestSet, count_all_of, list,
            time_to_merge,
        },
    },
    policy::{ListMergeRequests, ReadGroupMergeRequests, ReadMergeRequests},
};

use super::{
    item_filter::{ensure_short, iids, labels, last_moment, milestones, moment, named, word},
    item_pages::ItemPage,
    item_values::merge_request,
    records::MergeRequestRecord,
};
use crate::{
    context::Context,
    failure::{failure_of, visible},
    groups::GroupRecord,
    projects::ProjectRecord,
};

/// The role of a user in the merge requests of a list.
#[derive(Clone, Copy, Debug)]
pub enum UserRelation {
    Author,
    Assignee,
    Reviewer,
}

/// The projects or group that a list covers.
#[derive(Clone, Debug)]
enum ListScope {
    Everywhere,
    Group { path: String, id: NamespaceId, inside: bool },
    Project(ProjectId),
}

impl ListScope {
    fn among(&self) -> MergeRequestSet<'_> {
        match self {
            Self::Everywhere => MergeRequestSet::Everywhere,
            Self::Group { path, inside: true, .. } => MergeRequestSet::Group(path),
            Self::Group { path, id, inside: false } => MergeRequestSet::OwnOfGroup(path, *id),
            Self::Project(project) => MergeRequestSet::Project(*project),
        }
    }
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry
        .object::<ProjectRecord>("Project")
        .lookup("mergeRequests", |project: Arc<ProjectRecord>, arguments, context| async move {
            match visible(project.grant::<ListMergeRequests>())? {
                Some(grant) => {
                    listed(&context, ListScope::Project(grant.project()), None, &arguments).await
                }
                None => Ok(no_merge_requests()),
            }
        })
        .lookup("mergeRequest", |project: Arc<ProjectRecord>, arguments, context| async move {
            let Some(grant) = visible(project.grant::<ReadMergeRequests>())? else {
                return Ok(Value::Null);
            };
            let Ok(iid) = arguments.text("iid")?.parse::<i64>() else { return Ok(Value::Null) };
            let urls = context.forge.urls.clone();
            let found = context.forge.db.read(move |tx| {
                let row = tx.find_merge_request(grant.project(), iid)?;
                MergeRequestRecord::all(tx, &urls, row.into_iter().collect())
            });
            Ok(found.await.map_err(failure_of)?.pop().map(merge_request).into())
        });
    registry.object::<GroupRecord>("Group").lookup(
        "mergeRequests",
        |group: Arc<GroupRecord>, arguments, context| async move {
            let Some(grant) = visible(group.grant::<ReadGroupMergeRequests>())? else {
                return Ok(no_merge_requests());
            };
            let path = grant.group_facts().full_path.clone();
            let inside = arguments.flag("includeSubgroups");
            listed(&context, ListScope::Group { path, id: grant.group(), inside }, None, &arguments)
                .await
        },
    );
}

/// The merge requests of a user that the caller may read.
///
/// # Errors
/// For arguments that are no values of theirs.
pub async fn of_user(
    context: &Context,
    share: UserRelation,
    user: UserId,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    if context.actor().id.is_none() {
        return Ok(no_merge_requests());
    }
    let id = arguments.maybe_gid("projectId", &["Project"])?;
    let place = match (id, arguments.maybe_text("projectPath")) {
        (Some(id), _) => Some(IdOrPath::Id(id)),
        (None, Some(path)) => Some(IdOrPath::Path(path)),
        (None, None) => None,
    };
    let home = match place {
        None => ListScope::Everywhere,
        Some(place) => {
            let actor = context.actor();
            let located = context.forge.db.read(move |tx| locate_project(tx, actor, &place)).await;
            let Some((project, who)) = visible(located)? else {
                return Ok(no_merge_requests());
            };
            let id = project.0.id;
            match visible(kernel::Grant::<ListMergeRequests>::check(&who, project))? {
                Some(_) => ListScope::Project(id),
                None => return Ok(no_merge_requests()),
            }
        }
    };
    listed(context, home, Some((share, user)), arguments).await
}

async fn listed(
    context: &Context,
    home: ListScope,
    share: Option<(UserRelation, UserId)>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let (mut filter, people) = list_arguments(arguments)?;
    if let Some((share, user)) = share {
        let user = Choice::These(vec![user]);
        match (share, user) {
            (UserRelation::Author, Choice::These(users)) => filter.common.authors.extend(users),
            (UserRelation::Assignee, user) => filter.common.assignees.push(user),
            (UserRelation::Reviewer, user) => filter.reviewers.push(user),
            (UserRelation::Author, _) => {}
        }
    }
    let sorting = sorting(arguments.maybe_enum("sort").as_deref().unwrap_or("CREATED_DESC"));
    let page = ItemPage::new(arguments.page()?, sorting)?;
    let (actor, urls) = (context.actor(), context.forge.urls.clone());
    let (window, counts) = (page.clone(), arguments.counts());
    let measures = arguments.selects("totalTimeToMerge");
    let found = context.forge.db.read(move |tx| {
        let filter = people.fill(tx, filter)?;
        let asked =
            MergeRequestQuery { actor, among: home.among(), archived: true, filter: &filter };
        let rows = window.read(|part| {
            let mut filter = filter.clone();
            filter.common.bounds = part.bounds;
            let asked = MergeRequestQuery { filter: &filter, ..asked.clone() };
            list(tx, &OrgHierarchy, &asked, part.sorting, part.page)
        })?;
        let total = match counts {
            true => Some(count_all_of(tx, &OrgHierarchy, &asked)?),
            false => None,
        };
        let to_merge = match measures {
            true => time_to_merge(tx, &OrgHierarchy, &asked)?,
            false => 0,
        };
        let shown = rows.try_map_all(|rows| MergeRequestRecord::all(tx, &urls, rows))?;
        Ok((shown, total, to_merge))
    });
    let (shown, total, to_merge) = found.await.map_err(failure_of)?;
    let seconds = std::time::Duration::from_micros(u64::try_from(to_merge).unwrap_or(0));
    let seconds = Some(seconds.as_secs_f64()).filter(|_| to_merge > 0);
    let position = |one: &MergeRequestRecord, sorting| one.row.list_position(sorting);
    let connection = page.connection(shown, position, merge_request);
    let connection = connection.field("totalTimeToMerge", seconds);
    Ok(match total {
        Some(total) => connection.count(total),
        None => connection,
    }
    .into())
}

/// People by their names.
#[derive(Clone, Debug)]
struct People {
    author: Option<String>,
    assignee: Option<String>,
    reviewer: Option<String>,
}

impl People {
    fn fill(&self, tx: &mut Tx<'_>, mut filter: MergeRequestFilter) -> Kept<MergeRequestFilter> {
        filter.common.authors.extend(named(tx, self.author.as_ref())?);
        let these = |user: Option<UserId>| user.map(|user| Choice::These(vec![user]));
        filter.common.assignees.extend(these(named(tx, self.assignee.as_ref())?));
        filter.reviewers.extend(these(named(tx, self.reviewer.as_ref())?));
        Ok(filter)
    }
}

fn list_arguments(arguments: &Arguments) -> Result<(MergeRequestFilter, People), Failure> {
    let people = People {
        author: arguments.maybe_text("authorUsername"),
        assignee: arguments.maybe_text("assigneeUsername"),
        reviewer: arguments.maybe_text("reviewerUsername"),
    };
    let not = arguments.object("not");
    for given in [Some(arguments), not.as_ref()].into_iter().flatten() {
        ensure_short(given, &["iids", "labelName", "labels", "sourceBranches", "targetBranches"])?;
    }
    let mut not_labels = not.as_ref().map(|not| not.texts("labels")).unwrap_or_default();
    not_labels.extend(not.as_ref().map(|not| not.texts("labelName")).unwrap_or_default());
    let titled = |of: &Arguments| of.maybe_text("milestoneTitle").into_iter().collect::<Vec<_>>();
    let state = arguments.maybe_enum("state");
    let filter = MergeRequestFilter {
        common: Common {
            created_after: moment(arguments, "createdAfter")?,
            created_before: last_moment(arguments, "createdBefore")?,
            updated_after: moment(arguments, "updatedAfter")?,
            updated_before: last_moment(arguments, "updatedBefore")?,
            iids: iids(arguments).filter(|iids| !iids.is_empty()),
            labels: labels(arguments, "labels").or_else(|| labels(arguments, "labelName")),
            milestone: milestones(titled(arguments)),
            not: NotCommon {
                labels: not_labels,
                milestone: not.as_ref().and_then(|not| {
                    titled(not).first().map(|title| {
                        word(title).unwrap_or(Choice::These(
                            review::item::list::MilestoneChoice::Titled(title.clone()),
                        ))
                    })
                }),
                ..NotCommon::default()
            },
            ..Common::default()
        },
        state: state.as_deref().and_then(MergeRequestState::find),
        draft: arguments.maybe_bool("draft"),
        source_branches: arguments.texts("sourceBranches"),
        target_branches: arguments.texts("targetBranches"),
        merged_after: moment(arguments, "mergedAfter")?,
        merged_before: last_moment(arguments, "mergedBefore")?,
        ..MergeRequestFilter::default()
    };
    Ok((filter, people))
}

/// The order that a value of `MergeRequestSort` names.
fn sorting(name: &str) -> Sorting {
    let name = name.to_uppercase();
    let (what, direction) = match name.strip_suffix("_ASC") {
        Some(what) => (what, Direction::Ascending),
        None => (name.strip_suffix("_DESC").unwrap_or(&name), Direction::Descending),
    };
    let by = match what {
        "UPDATED" => Order::Column("updated_at"),
        "MERGED_AT" => Order::Optional("merged_at"),
        "CLOSED_AT" => Order::Optional("closed_at"),
        "LABEL_PRIORITY" => Order::LabelPriority,
        "MILESTONE_DUE" => Order::MilestoneDue,
        "PRIORITY" => Order::Priority,
        "TITLE" => Order::Title,
        "POPULARITY" => Order::Column("upvotes"),
        _ => Order::Id,
    };
    Sorting { by, direction }
}

/// A list without merge requests.
fn no_merge_requests() -> Value {
    Connection::empty().field("totalTimeToMerge", None::<f64>).into()
}
