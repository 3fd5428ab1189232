//! Work items: issues and incidents, under the name that newer clients use.

use std::sync::Arc;

use forge::ports::{directory::Directory, review::OrgHierarchy};
use graphql::{Arguments, Connection, Failure, Payload, Registry, Value};
use kernel::{
    Ability as _, Result as Kept, Standing,
    ids::{IssueId, ProjectId},
};
use review::{
    issue::{
        Issue, IssueState, IssueStep, IssueType,
        actions::{self, IssueChange, NewIssue, may_update_as},
        list::{IssueQuery, IssueSet, count_all_of, list},
    },
    policy::{CreateIssues, DeleteIssues, ManageIssues, ReadIssues},
    quick_action::in_description,
};

use super::{
    issue::{IssueRecord, standing},
    issue_filter::IssueListArguments,
    item_pages::ItemPage,
    loaders::ReviewLoaders,
    scope,
};
use crate::{
    context::Context,
    failure::{done, failure_of},
    groups::GroupRecord,
    people,
    projects::{self, ProjectRecord},
    values::{markdown, maybe_time, path_of, time},
};

/// An issue as a work item; null where the caller may not read it.
///
/// # Errors
/// When the database failed.
pub async fn of_id(context: &Context, id: IssueId) -> Result<Value, Failure> {
    Ok(ReviewLoaders::of(context).issues.load(id).await?.map(work_item).into())
}

fn work_item(record: Arc<IssueRecord>) -> Value {
    Value::object("WorkItem", record)
}

/// The kinds of work items, with their numbers and names.
const TYPES: &[(IssueType, i64, &str, &str)] = &[
    (IssueType::Issue, 1, "Issue", "issue-type-issue"),
    (IssueType::Incident, 2, "Incident", "issue-type-incident"),
    (IssueType::TestCase, 3, "Test Case", "issue-type-test-case"),
];

fn type_value((_, id, name, icon): &(IssueType, i64, &str, &str)) -> Value {
    let fields = [
        ("id", Value::gid("WorkItems::Type", id)),
        ("name", (*name).into()),
        ("iconName", (*icon).into()),
    ];
    Value::fields("WorkItemType", fields)
}

fn type_of(issue: &Issue) -> Value {
    TYPES.iter().find(|(known, ..)| *known == issue.issue_type).map(type_value).into()
}

/// There are no tasks: no type has any.
fn types(arguments: &Arguments) -> Result<Value, Failure> {
    let wanted = |_: &&_| arguments.maybe_bool("taskable") != Some(true);
    let values = TYPES.iter().filter(wanted).map(type_value).collect();
    Ok(Connection::of_list(&arguments.page()?, values).into())
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["WorkItemPermissions", "WorkItemType"]);
    registry.query().lookup("workItem", |_, arguments, context| async move {
        let id = IssueId(arguments.gid("id", &["WorkItem", "Issue"])?);
        of_id(&context, id).await
    });
    registry.object::<ProjectRecord>("Project").lookup(
        "workItems",
        |project: Arc<ProjectRecord>, arguments, context| async move {
            let home = ListScope::Project(project.facts.id, project.who);
            listed(&context, home, &arguments).await
        },
    );
    registry
        .object::<ProjectRecord>("Project")
        .lookup("workItemTypes", |_, arguments, _| async move { types(&arguments) });
    registry
        .object::<GroupRecord>("Group")
        .lookup("workItemTypes", |_, arguments, _| async move { types(&arguments) });
    registry.object::<GroupRecord>("Group").lookup(
        "workItems",
        |group: Arc<GroupRecord>, arguments, context| async move {
            let home = ListScope::Group(group.facts.full_path.clone());
            listed(&context, home, &arguments).await
        },
    );
    register_fields(registry);
    registry
        .mutation("workItemCreate", |input, context| async move { create(&context, &input).await });
    registry
        .mutation("workItemUpdate", |input, context| async move { update(&context, &input).await });
    registry
        .mutation("workItemDelete", |input, context| async move { delete(&context, &input).await });
}

fn register_fields(registry: &mut Registry<Context>) {
    registry
        .object::<IssueRecord>("WorkItem")
        .plain("id", |one| Value::gid("WorkItem", one.row.id))
        .plain("iid", |one| one.row.iid.to_string().into())
        .plain("title", |one| one.row.title.as_str().into())
        .plain("titleHtml", |one| markup::inline(&one.row.title).into())
        .plain("description", |one| one.row.description.as_deref().into())
        .plain("confidential", |one| one.row.confidential.into())
        .plain("createdAt", |one| time(one.row.created_at))
        .plain("updatedAt", |one| time(one.row.updated_at))
        .plain("closedAt", |one| maybe_time(one.row.closed_at))
        .plain("webUrl", |one| one.shown.web_url.as_str().into())
        .plain("author", |one| one.shown.author.clone().map(people::user).into())
        .plain("workItemType", |one| type_of(&one.row))
        .plain("state", |one| {
            match one.row.state {
                IssueState::Opened => "OPEN",
                IssueState::Closed => "CLOSED",
            }
            .into()
        })
        .lookup("descriptionHtml", |one, _, context| async move {
            let row = &one.row;
            markdown(&context.forge, row.description.as_deref(), Some(row.project_id)).await
        })
        .lookup("webPath", |one, _, context| async move {
            Ok(path_of(&context.forge.urls, &one.shown.web_url).into())
        })
        .lookup("reference", |one, arguments, _| async move {
            let shown = &one.shown.references;
            let text = if arguments.flag("full") { &shown.full } else { &shown.short };
            Ok(text.as_str().into())
        })
        .lookup("project", |one, _, context| async move {
            projects::of_id(&context, one.row.project_id).await
        })
        .lookup(
            "userPermissions",
            |one, _, context| async move { permissions(&context, &one).await },
        );
}

async fn permissions(context: &Context, one: &IssueRecord) -> Result<Value, Failure> {
    let user = context.actor().id;
    let who = standing(context, one.row.project_id).await?.filter(|_| user.is_some());
    let may = |ability: fn(&Standing) -> bool| who.as_ref().is_some_and(ability);
    let assigned = one.shown.assignees.iter().any(|one| Some(one.id) == user.map(|user| user.0));
    let updates = who.as_ref().is_some_and(|who| may_update_as(who, &one.row, assigned));
    Ok(Value::fields(
        "WorkItemPermissions",
        [
            ("adminWorkItem", may(ManageIssues::allows).into()),
            ("deleteWorkItem", may(DeleteIssues::allows).into()),
            ("readWorkItem", true.into()),
            ("updateWorkItem", updates.into()),
        ],
    ))
}

/// The project or group that a list covers.
#[derive(Clone, Debug)]
enum ListScope {
    Project(ProjectId, Standing),
    /// By its full path, with the groups inside.
    Group(String),
}

async fn listed(
    context: &Context,
    home: ListScope,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let wanted = IssueListArguments::read(arguments)?;
    let page = ItemPage::new(arguments.page()?, wanted.sorting)?;
    let is_open = match &home {
        ListScope::Project(_, who) => who.visible && ReadIssues::allows(who),
        ListScope::Group(_) => true,
    };
    if wanted.nothing || !is_open {
        return Ok(Connection::empty().into());
    }
    let only: Option<Vec<i64>> = match arguments.maybe_texts("ids") {
        Some(_) => Some(arguments.gids("ids", &["WorkItem", "Issue"])?),
        None => None,
    };
    let (actor, urls, window) = (context.actor(), context.forge.urls.clone(), page.clone());
    let counts = arguments.counts();
    let found = context.forge.db.read(move |tx| {
        let mut filter = wanted.filter(tx, actor)?;
        filter.ids = only;
        let among = match &home {
            ListScope::Project(project, who) => IssueSet::Project(*project, who),
            ListScope::Group(path) => IssueSet::Group(path),
        };
        let asked = IssueQuery { actor, among, archived: true, filter: &filter };
        let rows = window.read(|part| {
            let mut filter = filter.clone();
            filter.common.bounds = part.bounds;
            let asked = IssueQuery { filter: &filter, ..asked.clone() };
            list(tx, &OrgHierarchy, &asked, part.sorting, part.page)
        })?;
        let total = match counts {
            true => Some(count_all_of(tx, &OrgHierarchy, &asked)?),
            false => None,
        };
        Ok((rows.try_map_all(|rows| IssueRecord::all(tx, &urls, actor, rows))?, total))
    });
    let (rows, total) = found.await.map_err(failure_of)?;
    let position = |one: &IssueRecord, sorting| one.row.list_position(sorting);
    let connection = page.connection(rows, position, |one| work_item(Arc::new(one)));
    Ok(match total {
        Some(total) => connection.count(total),
        None => connection,
    }
    .into())
}

async fn answer(context: &Context, kept: Kept<Issue>) -> Result<Payload, Failure> {
    let (actor, urls) = (context.actor(), context.forge.urls.clone());
    let issue = match done(kept)? {
        Ok(issue) => issue,
        Err(errors) => return Ok(Payload::errors(errors)),
    };
    let found =
        context.forge.db.read(move |tx| IssueRecord::all(tx, &urls, actor, vec![issue])).await;
    let shown: Value = found.map_err(failure_of)?.pop().map(|one| work_item(Arc::new(one))).into();
    Ok(Payload::new().field("workItem", shown))
}

async fn create(context: &Context, input: &Arguments) -> Result<Payload, Failure> {
    let grant = scope::grant_at::<CreateIssues>(context, input.text("projectPath")?).await?;
    context.rates.check_issue(grant.user().map_err(failure_of)?).map_err(failure_of)?;
    let number = input.gid("workItemTypeId", &["WorkItems::Type"])?;
    let Some((kind, ..)) = TYPES.iter().find(|(_, id, ..)| *id == number) else {
        return Ok(Payload::errors(vec!["Work item type is not allowed".to_owned()]));
    };
    let new = NewIssue {
        title: input.text("title")?,
        description: input.maybe_text("description"),
        issue_type: Some(*kind),
        confidential: input.flag("confidential"),
        ..NewIssue::default()
    };
    let directory = Directory::new(&context.forge.urls);
    let made = context.forge.db.write(move |tx| {
        in_description::create_issue(tx, &grant, &directory, new).map(|(issue, _)| issue)
    });
    answer(context, made.await).await
}

/// The issue that the input names, where the caller may read it.
async fn named(context: &Context, input: &Arguments) -> Result<Arc<IssueRecord>, Failure> {
    context.signed_in()?;
    let id = IssueId(input.gid("id", &["WorkItem", "Issue"])?);
    let found = ReviewLoaders::of(context).issues.load(id).await?;
    found.ok_or(Failure::NotFoundOrForbidden)
}

async fn update(context: &Context, input: &Arguments) -> Result<Payload, Failure> {
    let found = named(context, input).await?;
    let grant = scope::grant_in::<CreateIssues>(context, found.row.project_id).await?;
    let change = IssueChange {
        title: input.maybe_text("title"),
        confidential: input.maybe_bool("confidential"),
        step: match input.maybe_enum("stateEvent").as_deref() {
            Some("CLOSE") => Some(IssueStep::Close),
            Some("REOPEN") => Some(IssueStep::Reopen),
            _ => None,
        },
        ..IssueChange::default()
    };
    let (iid, directory) = (found.row.iid, Directory::new(&context.forge.urls));
    let kept = context
        .forge
        .db
        .write(move |tx| actions::update(tx, &grant, &directory, iid, change))
        .await;
    answer(context, kept).await
}

async fn delete(context: &Context, input: &Arguments) -> Result<Payload, Failure> {
    let found = named(context, input).await?;
    let project = found.row.project_id;
    let grant = scope::grant_in::<DeleteIssues>(context, project).await?;
    let iid = found.row.iid;
    let gone: Kept<()> =
        context.forge.db.write(move |tx| actions::remove(tx, &grant, iid, None)).await;
    match done(gone)? {
        Ok(()) => {
            let shown = projects::of_id(context, project).await?;
            Ok(Payload::new().field("project", shown))
        }
        Err(errors) => Ok(Payload::errors(errors)),
    }
}
