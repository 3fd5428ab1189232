//! The record of one merge request: what several domains know of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use db::Tx;
use deployments::deployment::DeploymentStore as _;
use forge::{
    Forge,
    merge_request::merge::may_merge,
    pipeline::lookup::{shown_pipeline, shown_pipelines},
    urls::Urls,
};
use kernel::{
    Ability, AccessLevel, Actor, Grant, Result, Standing, Ts,
    access::Project,
    ids::{MergeRequestId, ProjectId, UserId},
};
use org::{
    access::{IdOrPath, locate_project, standings_of_one::in_projects},
    user::store::UserStore,
};
use repo::{commit::read::deadline, git::LogQuery, protection::Protection};
use review::{
    item::{details::ItemDetails, subscriptions::is_subscribed},
    merge_request::{MergeRequest, MergeRequestState, MergeRequestStore},
};

use crate::{
    ci::pipeline::FullPipelineEntity,
    review::{
        issue_context,
        merge_request::{MergeRequestEntity, MergeRequestView},
        merge_request_detail::{DetailFacts, MergeRequestDetail},
    },
};

/// What a reader wants beside the usual record.
#[derive(Clone, Copy, Debug, Default)]
pub struct DetailOptions {
    pub render_html: bool,
    pub rebase_in_progress: Option<bool>,
    pub diverged_commits: Option<usize>,
}

/// The record as it is read; what is kept beside the row was read with it.
pub fn read<A: Ability<Scope = Project>>(
    tx: &mut Tx<'_>,
    urls: &Urls,
    grant: &Grant<A>,
    (row, beside): (&MergeRequest, &ItemDetails),
    extras: DetailOptions,
) -> Result<MergeRequestDetail> {
    let known = DetailFacts {
        subscribed: grant.who().signed_in().then_some(beside.subscribed),
        can_merge: may_merge(tx, grant.who(), row)?,
        first_contribution: Some(is_first_contribution(tx, row)?),
        rebase_in_progress: extras.rebase_in_progress,
        diverged_commits: extras.diverged_commits,
        in_production_since: first_production(tx, row)?,
    };
    let view = MergeRequestView { render_html: extras.render_html, ..MergeRequestView::default() };
    let pipeline = pipeline(tx, urls, grant, row)?;
    let around = issue_context::ItemHints { beside, path: &grant.facts().full_path, reader: None };
    let basic = MergeRequestEntity::one_with(tx, urls, row.clone(), &view, &around)?;
    Ok(MergeRequestDetail::new(basic, row, pipeline, known))
}

/// The record as changes answer with it.
pub fn written<A: Ability<Scope = Project>>(
    tx: &mut Tx<'_>,
    urls: &Urls,
    grant: &Grant<A>,
    row: &MergeRequest,
) -> Result<MergeRequestDetail> {
    let known = known(tx, grant.who(), row)?;
    let pipeline = pipeline(tx, urls, grant, row)?;
    detail(tx, urls, row, &MergeRequestView::default(), pipeline, known)
}

/// Records of several that the caller may read, wherever they are, without whether the caller hears of them.
pub fn listed(
    tx: &mut Tx<'_>,
    urls: &Urls,
    actor: Actor,
    rows: &[MergeRequest],
    view: &MergeRequestView,
) -> Result<Vec<MergeRequestDetail>> {
    let basics = MergeRequestEntity::all(tx, urls, rows.to_vec(), view)?;
    let pipelines = pipelines(tx, urls, actor, rows)?;
    let rights = rights(tx, actor, rows)?;
    let ids: Vec<MergeRequestId> = rows.iter().map(|row| row.id).collect();
    let production = tx.first_production(&ids)?;
    let details = basics.into_iter().zip(rows).map(|(basic, row)| {
        let key = row.source_project_id.zip(row.head_sha.clone());
        let pipeline = key.and_then(|key| pipelines.get(&key).cloned());
        let branch = rights.get(&row.project_id).map(|rules| rules.branch(&row.target_branch));
        let can_merge = branch.is_some_and(|branch| branch.may_push() || branch.may_merge());
        let in_production_since = production.get(&row.id).copied();
        let known = DetailFacts { can_merge, in_production_since, ..DetailFacts::default() };
        MergeRequestDetail::new(basic, row, pipeline, known)
    });
    Ok(details.collect())
}

/// What the caller may do with the branches of the projects that these merge requests are for.
fn rights(
    tx: &mut Tx<'_>,
    actor: Actor,
    rows: &[MergeRequest],
) -> Result<HashMap<ProjectId, Protection>> {
    let projects: BTreeSet<ProjectId> = rows.iter().map(|row| row.project_id).collect();
    let projects: Vec<ProjectId> = projects.into_iter().collect();
    let mut all = HashMap::new();
    for (project, who) in in_projects(tx, actor, &projects)? {
        if !who.archived && who.signed_in() {
            all.insert(project, Protection::load(tx, &who, project)?);
        }
    }
    Ok(all)
}

/// The newest pipelines of the newest commits, by where they are, as far as the caller may know of them.
fn pipelines(
    tx: &mut Tx<'_>,
    urls: &Urls,
    actor: Actor,
    rows: &[MergeRequest],
) -> Result<HashMap<(ProjectId, String), FullPipelineEntity>> {
    let mut heads: BTreeMap<ProjectId, Vec<String>> = BTreeMap::new();
    for (source, head) in
        rows.iter().filter_map(|row| row.source_project_id.zip(row.head_sha.clone()))
    {
        heads.entry(source).or_default().push(head);
    }
    let mut all = HashMap::new();
    for (source, shas) in heads {
        let Ok((project, who)) = locate_project(tx, actor, &IdOrPath::Id(source.0)) else {
            continue;
        };
        let found = shown_pipelines(tx, &who, source, &shas)?;
        let people: Vec<UserId> = found.values().filter_map(|pipeline| pipeline.user_id).collect();
        let people = tx.users_by_id(&people)?;
        for (sha, pipeline) in found {
            let user = pipeline.user_id.and_then(|user| people.get(&user));
            let shown = FullPipelineEntity::new(urls, &project.0, &pipeline, user);
            all.insert((source, sha), shown);
        }
    }
    Ok(all)
}

fn detail(
    tx: &mut Tx<'_>,
    urls: &Urls,
    row: &MergeRequest,
    view: &MergeRequestView,
    pipeline: Option<FullPipelineEntity>,
    known: DetailFacts,
) -> Result<MergeRequestDetail> {
    let basic = MergeRequestEntity::all(tx, urls, vec![row.clone()], view)?.pop();
    let basic = basic.ok_or_else(kernel::Error::missing)?;
    Ok(MergeRequestDetail::new(basic, row, pipeline, known))
}

/// The newest pipeline of the newest commit, where the caller may know of it in the project that it comes from.
fn pipeline<A: Ability<Scope = Project>>(
    tx: &mut Tx<'_>,
    urls: &Urls,
    grant: &Grant<A>,
    row: &MergeRequest,
) -> Result<Option<FullPipelineEntity>> {
    let (Some(source), Some(head)) = (row.source_project_id, &row.head_sha) else {
        return Ok(None);
    };
    let (project, who) = match source == grant.project() {
        true => (Project(grant.facts().clone()), *grant.who()),
        false => match locate_project(tx, grant.actor(), &IdOrPath::Id(source.0)) {
            Ok(located) => located,
            Err(gone) if gone.is_gone() => return Ok(None),
            Err(failure) => return Err(failure),
        },
    };
    let Some(found) = shown_pipeline(tx, &who, source, head)? else { return Ok(None) };
    FullPipelineEntity::load(tx, urls, &project.0, &found).map(Some)
}

fn known(tx: &mut Tx<'_>, who: &Standing, row: &MergeRequest) -> Result<DetailFacts> {
    let subscribed = match who.actor.id {
        Some(user) => Some(is_subscribed(tx, &row.item(), user)?),
        None => None,
    };
    let in_production_since = first_production(tx, row)?;
    let can_merge = may_merge(tx, who, row)?;
    Ok(DetailFacts { subscribed, can_merge, in_production_since, ..DetailFacts::default() })
}

/// Whether its author is no member of the project and never had anything merged there.
fn is_first_contribution(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<bool> {
    if row.state == MergeRequestState::Merged {
        return Ok(false);
    }
    let author = Actor { id: Some(row.author_id), ..Actor::ANONYMOUS };
    let level = org::access::level_in_project(tx, author, row.project_id)?;
    Ok(level == AccessLevel::NoAccess && !tx.has_merged_into(row.project_id, row.author_id)?)
}

/// How many commits the target has that the source lacks.
pub async fn diverged_commits(forge: &Forge, row: &MergeRequest) -> Result<usize> {
    let parse = |sha: &Option<String>| sha.as_deref().and_then(|sha| sha.parse().ok());
    let (Some(head), Ok(target)) =
        (parse(&row.head_sha), repo::git::RefName::branch(&row.target_branch))
    else {
        return Ok(0);
    };
    let answers = forge.answers.clone();
    forge
        .git_read(row.project_id, move |reader| {
            let Some(tip) = reader.find_reference(&target)?.and_then(|found| found.commit) else {
                return Ok(0);
            };
            if !reader.has(head) {
                return Ok(0);
            }
            let query = LogQuery { exclude: vec![head], ..LogQuery::of(tip) };
            Ok(answers.log(reader, &query, deadline())?.len())
        })
        .await
}

/// When a merge request first reached production; only what is merged can have.
fn first_production(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<Option<Ts>> {
    match row.merged_at {
        Some(_) => Ok(tx.first_production(&[row.id])?.remove(&row.id)),
        None => Ok(None),
    }
}
