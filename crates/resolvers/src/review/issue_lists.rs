//! Lists of issues: everywhere, of a project, of a group; and how many there are.

use std::sync::Arc;

use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::{
    Ability as _, Standing,
    ids::{NamespaceId, ProjectId},
    page::PageRequest,
};
use review::{
    issue::list::{IssueFilter, IssueQuery, IssueSet, count, count_all_of, list},
    policy::ReadIssues,
};

use super::{
    issue::{IssueRecord, issue},
    issue_filter::{IssueListArguments, is_filtered},
    item_pages::ItemPage,
};
use crate::{context::Context, failure::failure_of, groups::GroupRecord, projects::ProjectRecord};

/// The projects or group that a list covers.
#[derive(Clone, Debug)]
enum ListScope {
    Everywhere,
    /// By its full path; with the groups inside, or only its own projects.
    Group {
        path: String,
        id: NamespaceId,
        inside: bool,
    },
    Project(ProjectId, Standing),
}

impl ListScope {
    fn among(&self) -> IssueSet<'_> {
        match self {
            Self::Everywhere => IssueSet::Everywhere,
            Self::Group { path, inside: true, .. } => IssueSet::Group(path),
            Self::Group { path, id, inside: false } => IssueSet::OwnOfGroup(path, *id),
            Self::Project(project, who) => IssueSet::Project(*project, who),
        }
    }

    /// Whether the caller may read issues there at all.
    fn is_open(&self) -> bool {
        match self {
            Self::Project(_, who) => who.visible && ReadIssues::allows(who),
            Self::Everywhere | Self::Group { .. } => true,
        }
    }
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.query().lookup("issues", |_, arguments, context| async move {
        if !is_filtered(&arguments) {
            return Err(Failure::message(
                "You must provide at least one filter argument for this query",
            ));
        }
        listed(&context, ListScope::Everywhere, false, &arguments).await
    });
    registry
        .object::<ProjectRecord>("Project")
        .lookup("issues", |project: Arc<ProjectRecord>, arguments, context| async move {
            listed(&context, of_project(&project), true, &arguments).await
        })
        .lookup("issue", |project: Arc<ProjectRecord>, arguments, context| async move {
            first(&context, of_project(&project), &arguments).await
        })
        .lookup(
            "issueStatusCounts",
            |project: Arc<ProjectRecord>, arguments, context| async move {
                counted(&context, of_project(&project), &arguments).await
            },
        );
    registry.object::<GroupRecord>("Group").lookup(
        "issues",
        |group: Arc<GroupRecord>, arguments, context| async move {
            let path = group.facts.full_path.clone();
            let (id, inside) = (group.facts.id, arguments.flag("includeSubgroups"));
            let home = ListScope::Group { path, id, inside };
            listed(&context, home, arguments.flag("includeArchived"), &arguments).await
        },
    );
}

fn of_project(project: &ProjectRecord) -> ListScope {
    ListScope::Project(project.facts.id, project.who)
}

async fn listed(
    context: &Context,
    home: ListScope,
    archived: bool,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let wanted = IssueListArguments::read(arguments)?;
    let page = ItemPage::new(arguments.page()?, wanted.sorting)?;
    if wanted.nothing || !home.is_open() {
        return Ok(Connection::empty().field("weight", 0_i64).into());
    }
    let (actor, urls, window) = (context.actor(), context.forge.urls.clone(), page.clone());
    let (weighs, counts) = (arguments.selects("weight"), arguments.counts());
    let found = context.forge.db.read(move |tx| {
        let filter: IssueFilter = wanted.filter(tx, actor)?;
        let asked = IssueQuery { actor, among: home.among(), archived, filter: &filter };
        let rows = window.read(|part| {
            let mut filter = filter.clone();
            filter.common.bounds = part.bounds;
            let asked = IssueQuery { filter: &filter, ..asked.clone() };
            list(tx, &OrgHierarchy, &asked, part.sorting, part.page)
        })?;
        let shown = rows.try_map_all(|rows| IssueRecord::all(tx, &urls, actor, rows))?;
        let total = match counts {
            true => Some(count_all_of(tx, &OrgHierarchy, &asked)?),
            false => None,
        };
        let weight = match weighs {
            true => review::issue::list::weight(tx, &OrgHierarchy, &asked)?,
            false => 0,
        };
        Ok((shown, total, weight))
    });
    let (shown, total, weight) = found.await.map_err(failure_of)?;
    let position = |one: &IssueRecord, sorting| one.row.list_position(sorting);
    let connection = page.connection(shown, position, issue).field("weight", weight);
    Ok(match total {
        Some(total) => connection.count(total),
        None => connection,
    }
    .into())
}

async fn first(
    context: &Context,
    home: ListScope,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let wanted = IssueListArguments::read(arguments)?;
    if wanted.nothing || !home.is_open() {
        return Ok(Value::Null);
    }
    let (actor, urls) = (context.actor(), context.forge.urls.clone());
    let found = context.forge.db.read(move |tx| {
        let filter = wanted.filter(tx, actor)?;
        let asked = IssueQuery { actor, among: home.among(), archived: true, filter: &filter };
        let page = PageRequest { page: 1, per_page: 1 };
        let rows = list(tx, &OrgHierarchy, &asked, wanted.sorting, page)?.items;
        IssueRecord::all(tx, &urls, actor, rows)
    });
    Ok(found.await.map_err(failure_of)?.pop().map(issue).into())
}

async fn counted(
    context: &Context,
    home: ListScope,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let wanted = IssueListArguments::read(arguments)?;
    let (opened, closed) = if wanted.nothing || !home.is_open() {
        (0, 0)
    } else {
        let actor = context.actor();
        let found = context.forge.db.read(move |tx| {
            let filter = IssueFilter { state: None, ..wanted.filter(tx, actor)? };
            let asked = IssueQuery { actor, among: home.among(), archived: true, filter: &filter };
            count(tx, &OrgHierarchy, &asked)
        });
        found.await.map_err(failure_of)?
    };
    let fields =
        [("all", (opened + closed).into()), ("closed", closed.into()), ("opened", opened.into())];
    Ok(Value::fields("IssueStatusCountsType", fields))
}
