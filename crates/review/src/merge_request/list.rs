//! Lists of merge requests: what can be asked of them.

use db::{Tx, listing::list_of};
use kernel::{
    Actor, Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
    page::{Page, PageRequest},
};

use super::{MergeRequest, MergeRequestState, MergeRequestStore as _};
use crate::{
    approval::filter::{approved_by, approvers},
    item::{
        ItemKind,
        list::{
            Choice, Common, Conditions, IndexedFilter, ListScope, Part, Query, Sorting, count_all,
            page_of, sum_of,
        },
    },
    ports::{DeploymentCondition, Deployments, Projects},
};

/// Which merge requests are wanted. Filters act only when they are set.
#[derive(Clone, Debug, Default)]
pub struct MergeRequestFilter {
    /// As of other items.
    pub common: Common,
    pub state: Option<MergeRequestState>,
    /// All of these must hold.
    pub reviewers: Vec<Choice<Vec<UserId>>>,
    pub merged_by: Option<UserId>,
    pub source_project: Option<ProjectId>,
    /// One of these; any where it is empty.
    pub source_branches: Vec<String>,
    pub target_branches: Vec<String>,
    pub merged_after: Option<Ts>,
    pub merged_before: Option<Ts>,
    pub draft: Option<bool>,
    pub approved: Option<bool>,
    pub approved_by: Option<Choice<Vec<UserId>>>,
    /// Who is to approve.
    pub approvers: Option<Choice<Vec<UserId>>>,
    pub deployed: Option<DeploymentCondition>,
    pub not: NotFilter,
}

/// Which merge requests are left out.
#[derive(Clone, Debug, Default)]
pub struct NotFilter {
    pub reviewer: Option<Choice<Vec<UserId>>>,
    /// What the caller reacted to.
    pub reaction: Option<Choice<String>>,
}

/// The projects that a list covers.
#[derive(Clone, Debug)]
pub enum MergeRequestSet<'a> {
    Project(ProjectId),
    /// In a group and those inside it, by its full path.
    Group(&'a str),
    /// In a group's own projects, by its full path and its id.
    OwnOfGroup(&'a str, NamespaceId),
    Everywhere,
}

/// The query of a merge request list.
#[derive(Clone, Debug)]
pub struct MergeRequestQuery<'a> {
    pub actor: Actor,
    pub among: MergeRequestSet<'a>,
    /// Also in archived projects; a project is always looked into that was named itself.
    pub archived: bool,
    pub filter: &'a MergeRequestFilter,
}

/// A page of the merge requests that somebody may read.
pub fn list(
    tx: &mut Tx<'_>,
    around: &(impl Projects + Deployments),
    asked: &MergeRequestQuery<'_>,
    sorting: Sorting,
    page: PageRequest,
) -> Result<Page<MergeRequest>> {
    let query = query(tx, around, asked)?;
    let found = page_of(tx, &query, sorting, page)?;
    Ok(Page { items: tx.merge_requests_in_order(&found.items)?, total: found.total })
}

/// How long it took, in microseconds all together, until those were merged that somebody may read.
pub fn time_to_merge(
    tx: &mut Tx<'_>,
    around: &(impl Projects + Deployments),
    asked: &MergeRequestQuery<'_>,
) -> Result<i64> {
    let query = query(tx, around, asked)?;
    sum_of(tx, &query, "i.merged_at - i.created_at")
}

/// How many there are of the merge requests that somebody may read.
pub fn count_all_of(
    tx: &mut Tx<'_>,
    around: &(impl Projects + Deployments),
    asked: &MergeRequestQuery<'_>,
) -> Result<i64> {
    let query = query(tx, around, asked)?;
    count_all(tx, &query)
}

fn query(
    tx: &mut Tx<'_>,
    around: &(impl Projects + Deployments),
    asked: &MergeRequestQuery<'_>,
) -> Result<Query> {
    let kind = ItemKind::MergeRequest;
    let group = match asked.among {
        MergeRequestSet::Group(path) | MergeRequestSet::OwnOfGroup(path, _) => Some(path),
        MergeRequestSet::Project(_) | MergeRequestSet::Everywhere => None,
    };
    let scope = match asked.among {
        MergeRequestSet::Project(project) => ListScope::Project(project),
        MergeRequestSet::Group(_)
        | MergeRequestSet::OwnOfGroup(..)
        | MergeRequestSet::Everywhere => {
            ListScope::Projects(around.readable(tx, asked.actor, kind, group, asked.archived)?)
        }
    };
    let mut conditions = Conditions::of(kind);
    if let MergeRequestSet::OwnOfGroup(_, group) = asked.among {
        conditions.plain(format!("i.project_id IN ({})", around.own_projects(group).ids()));
    }
    asked.filter.common.ask(tx, &mut conditions, asked.actor.id);
    add_filters(&mut conditions, asked.filter);
    if let Some(deployed) = &asked.filter.deployed {
        conditions.indexed_filter(around.deployed(tx, deployed)?);
    }
    not_wanted(&mut conditions, &asked.filter.not, asked.actor.id);
    Ok(Query { scope, conditions })
}

fn add_filters(all: &mut Conditions, filter: &MergeRequestFilter) {
    if let Some(state) = filter.state {
        all.plain(format!("i.state = '{state}'"));
    }
    filter.reviewers.iter().for_each(|choice| people(all, REVIEWERS, choice));
    if let Some(user) = filter.merged_by {
        all.plain(format!("i.state = 'merged' AND i.merge_user_id = {user}"));
    }
    if let Some(project) = filter.source_project {
        all.column("source_project_id", project.0);
    }
    branch_named(all, "source_branch", &filter.source_branches);
    branch_named(all, "target_branch", &filter.target_branches);
    all.between("merged_at", filter.merged_after, filter.merged_before);
    flag(all, "draft", filter.draft);
    flag(all, "approved", filter.approved);
    if let Some(choice) = &filter.approved_by {
        approved_by(all, choice);
    }
    if let Some(choice) = &filter.approvers {
        approvers(all, choice);
    }
}

fn not_wanted(all: &mut Conditions, not: &NotFilter, reader: Option<UserId>) {
    if let Some(choice) = &not.reviewer {
        not_people(all, REVIEWERS, choice);
    }
    match &not.reaction {
        Some(Choice::Nothing) => all.reacted(reader, &Choice::Anything),
        Some(Choice::Anything) => all.reacted(reader, &Choice::Nothing),
        Some(Choice::These(name)) => all.not_reacted(reader, name),
        None => {}
    }
}

fn flag(all: &mut Conditions, column: &str, wanted: Option<bool>) {
    match wanted {
        Some(true) => all.plain(format!("i.{column}")),
        Some(false) => all.plain(format!("NOT i.{column}")),
        None => {}
    }
}

/// One of these branches, that an index leads to.
fn branch_named(all: &mut Conditions, column: &str, names: &[String]) {
    if names.is_empty() {
        return;
    }
    let binds = || names.iter().cloned().map(db::listing::Bind::Word).collect();
    let places = vec!["{}"; names.len()].join(", ");
    let set = format!("SELECT y.id FROM merge_requests y WHERE y.{column} IN ({places})");
    let check = format!("i.{column} IN ({places})");
    all.indexed_filter(IndexedFilter::new(Part::with(set, binds()), Part::with(check, binds())));
}

const REVIEWERS: &str = "merge_request_reviewers";

/// Each of these people has a row in a table about merge requests.
fn people(all: &mut Conditions, table: &str, choice: &Choice<Vec<UserId>>) {
    let any = format!("EXISTS (SELECT 1 FROM {table} x WHERE x.merge_request_id = i.id");
    match choice {
        Choice::Nothing => all.plain(format!("NOT {any})")),
        Choice::Anything => all.plain(format!("{any})")),
        Choice::These(people) => {
            for person in people {
                let set =
                    format!("SELECT x.merge_request_id FROM {table} x WHERE x.user_id = {person}");
                let check = format!("{any} AND x.user_id = {person})");
                all.indexed_filter(IndexedFilter::new(Part::new(set), Part::new(check)));
            }
        }
    }
}

fn not_people(all: &mut Conditions, table: &str, choice: &Choice<Vec<UserId>>) {
    let any = format!("EXISTS (SELECT 1 FROM {table} x WHERE x.merge_request_id = i.id");
    match choice {
        Choice::Nothing => all.plain(format!("{any})")),
        Choice::Anything => all.plain(format!("NOT {any})")),
        Choice::These(people) => {
            let ids: Vec<i64> = people.iter().map(|person| person.0).collect();
            all.plain(format!("NOT {any} AND x.user_id IN ({}))", list_of(&ids)));
        }
    }
}
