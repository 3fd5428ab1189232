//! Lists of boards, and their issues.

use std::sync::Arc;

use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::page::PageRequest;
use review::{
    board::ListKind,
    issue::list::{IssueQuery, IssueSet, count_all_of, list, weight},
    item::ItemKind,
};

use super::{
    filter::ListedIssues,
    record::{BoardHome, BoardLoaders, ListRecord, board_of_list},
};
use crate::graphql::{
    context::Context,
    failure::failure_of,
    iterations, labels, milestones,
    numbered_list::NumberedList,
    people,
    review::issue::{IssueRecord, issue},
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.query().lookup("boardList", |_, arguments, context| async move {
        let id = arguments.gid("id", &["List"])?;
        let found = board_of_list(&context, ItemKind::Issue, id).await?;
        let wanted = arguments.object("issueFilters");
        let list = |board: super::record::BoardRecord| {
            let list = board.whole.list(id)?.clone();
            Some(board.list(&list, wanted.clone()))
        };
        Ok(found.and_then(list).into())
    });
    registry
        .object::<ListRecord>("BoardList")
        .plain("id", |one| Value::gid("List", one.list.id))
        .plain("listType", |one| one.list.kind.to_string().into())
        .plain("limitMetric", |one| one.list.limit_metric.map(|one| one.to_string()).into())
        .plain("maxIssueCount", |one| one.list.max_issue_count.into())
        .plain("maxIssueWeight", |one| one.list.max_issue_weight.into())
        .plain("position", position)
        .lookup("assignee", |one: Arc<ListRecord>, _, context| async move {
            match one.list.user_id {
                Some(user) => people::of_id(&context, user).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("iteration", |one, _, context| async move {
            match one.list.iteration_id {
                Some(iteration) => iterations::of_id(&context, iteration).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("label", |one, _, context| async move { label(&context, &one).await })
        .lookup("milestone", |one, _, context| async move {
            match one.list.milestone_id {
                Some(milestone) => milestones::of_id(&context, milestone).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("collapsed", |one, _, context| async move { collapsed(&context, &one).await })
        .lookup("title", |one, _, context| async move { title(&context, &one).await });
    register_issues(registry);
}

fn register_issues(registry: &mut Registry<Context>) {
    registry
        .object::<ListRecord>("BoardList")
        .lookup("issues", |one: Arc<ListRecord>, arguments, context| async move {
            issues(&context, one, &arguments).await
        })
        .lookup("issuesCount", |one, _, context| async move {
            let (count, _) = figures(&context, one).await?;
            Ok(count.into())
        })
        .lookup("totalWeight", |one, _, context| async move {
            let (_, weight) = figures(&context, one).await?;
            Ok(weight.into())
        });
}

/// The two lists that every board has have no place among the others.
pub(super) fn position(one: &ListRecord) -> Value {
    one.list.kind.is_movable().then_some(one.list.position).into()
}

pub(super) async fn label(context: &Context, one: &ListRecord) -> Result<Value, Failure> {
    let Some(id) = one.list.label_id else { return Ok(Value::Null) };
    let found = BoardLoaders::of(context).labels.load(id).await?;
    Ok(found.map(|found| labels::label((*found).clone())).into())
}

pub(super) async fn collapsed(context: &Context, one: &ListRecord) -> Result<Value, Failure> {
    let folded = BoardLoaders::of(context).collapsed.load(one.list.id).await?;
    Ok(folded.unwrap_or_default().into())
}

/// What a list is called: as what puts items into it.
pub(super) async fn title(context: &Context, one: &ListRecord) -> Result<Value, Failure> {
    Ok(match one.list.kind {
        ListKind::Backlog => "Open".into(),
        ListKind::Closed => "Closed".into(),
        ListKind::Label => {
            let Some(id) = one.list.label_id else { return Ok("".into()) };
            let found = BoardLoaders::of(context).labels.load(id).await?;
            found.map(|label| label.name.clone()).unwrap_or_default().into()
        }
        ListKind::Assignee => {
            let Some(id) = one.list.user_id else { return Ok("".into()) };
            let found = context.loaders.users.load(id).await?;
            found.map(|user| user.name.clone()).unwrap_or_default().into()
        }
        ListKind::Milestone => {
            let Some(id) = one.list.milestone_id else { return Ok("".into()) };
            let found = context.loaders.milestones.load(id).await?;
            found.map(|milestone| milestone.title.clone()).unwrap_or_default().into()
        }
        ListKind::Iteration => {
            let Some(id) = one.list.iteration_id else { return Ok("".into()) };
            let found = iterations::record_of(context, id).await?;
            let dates = |one: &crate::entities::review::iteration::IterationEntity| {
                format!("{} - {}", one.start_date, one.due_date)
            };
            let title = found.map(|one| one.title.clone().unwrap_or_else(|| dates(&one)));
            title.unwrap_or_default().into()
        }
    })
}

fn among(one: &ListRecord) -> IssueSet<'_> {
    match &one.board.place {
        BoardHome::Project(project) => IssueSet::Project(project.id(), &project.who),
        BoardHome::Group(group) => IssueSet::Group(&group.facts.full_path),
    }
}

async fn issues(
    context: &Context,
    one: Arc<ListRecord>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let wanted = ListedIssues::read(&one, arguments.object("filters").as_ref())?;
    if wanted.is_empty() {
        return Ok(Connection::empty().field("weight", 0_i64).into());
    }
    let (actor, urls, window) = (context.actor(), context.app.urls.clone(), page.clone());
    let (weighs, counts) = (arguments.selects("weight"), arguments.counts());
    let found = context.app.db.read(move |tx| {
        let filter = wanted.filter(tx, actor, &one)?;
        let asked = IssueQuery { actor, among: among(&one), archived: false, filter: &filter };
        let rows = NumberedList::read(&window, |request: PageRequest| {
            list(tx, &OrgHierarchy, &asked, wanted.sorting, request)
        })?;
        let shown = rows.try_map_all(|rows| IssueRecord::all(tx, &urls, actor, rows))?;
        let total = match counts {
            true => Some(count_all_of(tx, &OrgHierarchy, &asked)?),
            false => None,
        };
        let weight = if weighs { weight(tx, &OrgHierarchy, &asked)? } else { 0 };
        Ok((shown, total, weight))
    });
    let (shown, total, weight) = found.await.map_err(failure_of)?;
    let connection = shown.connection(&page, issue).field("weight", weight);
    Ok(match total {
        Some(total) => connection.count(total),
        None => connection,
    }
    .into())
}

/// How many issues a list has, and the sum of their weights.
async fn figures(context: &Context, one: Arc<ListRecord>) -> Result<(i64, i64), Failure> {
    let wanted = ListedIssues::read(&one, None)?;
    if wanted.is_empty() {
        return Ok((0, 0));
    }
    let actor = context.actor();
    let found = context.app.db.read(move |tx| {
        let filter = wanted.filter(tx, actor, &one)?;
        let asked = IssueQuery { actor, among: among(&one), archived: false, filter: &filter };
        let count = count_all_of(tx, &OrgHierarchy, &asked)?;
        Ok((count, weight(tx, &OrgHierarchy, &asked)?))
    });
    found.await.map_err(failure_of)
}
