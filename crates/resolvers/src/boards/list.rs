//! Lists of boards, and their issues.

use std::sync::Arc;

use graphql::{Arguments, Connection, Failure, Registry, Value};
use review::{
    board::ListKind,
    item::{ItemKind, list::ListFigures},
};

use super::{
    filter::ListedIssues,
    issue_loader::{ListHeadKey, ListKey, ListLoaders},
    record::{BoardLoaders, ListRecord, board_of_list},
};
use crate::{
    context::Context,
    iterations, labels, milestones, people,
    review::{
        issue::{IssueRecord, issue},
        item_pages::ItemPage,
    },
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
            Ok(figures(&context, one).await?.count.into())
        })
        .lookup("totalWeight", |one, _, context| async move {
            Ok(figures(&context, one).await?.sum.into())
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
            let dates = |one: &entities::review::iteration::IterationEntity| {
                format!("{} - {}", one.start_date, one.due_date)
            };
            let title = found.map(|one| one.title.clone().unwrap_or_else(|| dates(&one)));
            title.unwrap_or_default().into()
        }
    })
}

/// What is asked of the issues of a list; nothing where none can fit.
fn question(one: Arc<ListRecord>, filters: Option<&Arguments>) -> Result<Option<ListKey>, Failure> {
    let wanted = ListedIssues::read(&one, filters)?;
    if wanted.is_empty() {
        return Ok(None);
    }
    let given = format!("{:?}", filters.or(one.wanted.as_ref()));
    Ok(Some(ListKey { one, wanted, given }))
}

async fn issues(
    context: &Context,
    one: Arc<ListRecord>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let filters = arguments.object("filters");
    let Some(question) = question(one, filters.as_ref())? else {
        return Ok(Connection::empty().field("weight", 0_i64).into());
    };
    let page = ItemPage::new(arguments.page()?, question.wanted.sorting)?;
    let position = |one: &IssueRecord, sorting| one.row.list_position(sorting);
    // Lists of boards are in orders that have positions.
    let Some(head) = page.head() else { return Ok(Connection::empty().into()) };
    let head = ListHeadKey { list: question.clone(), head };
    let found = ListLoaders::of(context).heads.load(head).await?.unwrap_or_default();
    let connection = page.connection_of_head(found.to_vec(), position, issue);
    let figures = match arguments.counts() || arguments.selects("weight") {
        true => ListLoaders::of(context).figures.load(question).await?,
        false => None,
    };
    let figures = figures.unwrap_or_default();
    Ok(connection.count(figures.count).field("weight", figures.sum).into())
}

/// How many issues a list has, and the sum of their weights.
async fn figures(context: &Context, one: Arc<ListRecord>) -> Result<ListFigures, Failure> {
    match question(one, None)? {
        Some(question) => {
            let found = ListLoaders::of(context).figures.load(question).await?;
            Ok(found.unwrap_or_default())
        }
        None => Ok(ListFigures::default()),
    }
}
