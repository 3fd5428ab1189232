//! Push options about merge requests: creates a merge request for each pushed branch, or changes the one that is open.

mod options;

use db::Tx;
use kernel::{
    Ability, Actor, Error, Grant, Result,
    access::Project,
    error::{Kind, Message},
    ids::{MilestoneId, ProjectId, UserId},
    page::PageRequest,
};
use org::{
    access::{IdOrPath, locate_project},
    project::store::ProjectStore as _,
    user::{User, store::UserStore as _},
};
use repo::push::RefChange;
use review::{
    Home,
    item::{ItemStore as _, labels::LabelChange},
    merge_request::{
        MergeRequest, MergeRequestStore as _, actions::NewMergeRequest, change::MergeRequestChange,
        draft::drafted, metadata::Metadata,
    },
    milestone::{MilestoneFilter, MilestoneStore as _},
    policy::{ProposeMergeRequests, ReadMergeRequests, TakePartInMergeRequests},
    ports::GroupHierarchy as _,
};

use self::options::{Options, humanized};
use super::{
    create::{MergeRequestDraft, create_merge_request},
    merge::{self, MergeOptions},
    update::update_merge_request,
};
use crate::{
    Forge, external_authorization::ensure_admitted, ports::directory::Directory,
    push_message::push_message,
};

/// So many branches of one push are proposed.
const MOST_BRANCHES: usize = 10;

/// The person who pushes, and the project.
struct Pusher {
    project: ProjectId,
    actor: Actor,
    user: User,
}

/// Applies the options to the branches that moved. Returns the lines that the pusher reads.
pub async fn apply(
    forge: &Forge,
    (project, actor): (ProjectId, Actor),
    options: &[String],
    moved: &[RefChange],
) -> Vec<String> {
    let Some(options) = Options::parse(options) else { return Vec::new() };
    let Ok(id) = actor.user() else { return Vec::new() };
    let user = match forge.db.read(move |tx| tx.user(id)).await {
        Ok(user) => user,
        Err(error) => return vec![push_message(&error)],
    };
    let pusher = Pusher { project, actor, user };
    let branches: Vec<&RefChange> =
        moved.iter().filter(|change| change.name.is_branch() && change.new.is_some()).collect();
    let mut lines = Vec::new();
    for change in branches.iter().take(MOST_BRANCHES) {
        let branch = change.name.short();
        match propose(forge, &pusher, &options, change).await {
            Ok(address) => lines.extend([
                String::new(),
                format!("View merge request for {branch}:"),
                format!("  {address}"),
                String::new(),
            ]),
            Err(error) => lines.push(format!("No merge request for {branch}: {}", told(&error))),
        }
    }
    if branches.len() > MOST_BRANCHES {
        lines.push(format!("Only {MOST_BRANCHES} branches of one push are proposed."));
    }
    lines
}

/// What the rules of merge requests say, in one line.
fn told(error: &Error) -> String {
    match (error.kind, &error.message) {
        (Kind::BadRequest, Message::Fields(fields)) => {
            let field =
                |(name, texts): &(String, Vec<String>)| format!("{name} {}", texts.join(", "));
            fields.iter().map(field).collect::<Vec<_>>().join("; ")
        }
        (_, Message::Sentences(texts)) => texts.join(", "),
        (Kind::Unprocessable | Kind::Conflict, Message::Whole(text)) => text.clone(),
        _ if error.is_not_found("Branch") => "its target branch is not there.".to_owned(),
        _ => push_message(error),
    }
}

/// Creates the merge request of a branch, or changes the one that is open; its address.
async fn propose(
    forge: &Forge,
    pusher: &Pusher,
    options: &Options,
    change: &RefChange,
) -> Result<String> {
    let branch = change.name.short().into_owned();
    let ends = find_ends(forge, pusher, options, branch).await?;
    let found = {
        let (source, branch) = (pusher.project, ends.branch.clone());
        let (target, into) = (ends.target, options.target.clone());
        forge.db.read(move |tx| {
            let mut open = tx.open_merge_requests_from(source, &branch)?;
            open.retain(|one| one.project_id == target);
            open.retain(|one| into.as_ref().is_none_or(|into| one.target_branch == *into));
            Ok(open.into_iter().next())
        })
    };
    let row = match found.await? {
        Some(row) => alter(forge, pusher, options, &row).await?,
        None if options.create => create(forge, pusher, options, ends, change).await?,
        None => {
            let text = "merge_request.create is needed to create one.";
            return Err(Error::bad_request().whole(text.to_owned()));
        }
    };
    if options.when_pipeline_succeeds {
        wait_for_pipeline(forge, pusher, &row).await?;
    }
    let project = row.project_id;
    let path = forge.db.read(move |tx| Ok(tx.project(project)?.full_path));
    Ok(forge.urls.at(&format!("{}/-/merge_requests/{}", path.await?, row.iid)))
}

/// From where to where.
struct MergeRequestBranches {
    branch: String,
    target: ProjectId,
    target_branch: String,
}

async fn find_ends(
    forge: &Forge,
    pusher: &Pusher,
    options: &Options,
    branch: String,
) -> Result<MergeRequestBranches> {
    let (project, actor) = (pusher.project, pusher.actor);
    let (named, into) = (options.target_project.clone(), options.target.clone());
    let found = forge
        .db
        .read(move |tx| {
            let target = match named {
                Some(path) => locate_project(tx, actor, &IdOrPath::parse(&path))?.0,
                None => usual_target(tx, actor, project)?,
            };
            let usual = target.0.default_branch.clone();
            let target_branch = into.or(usual).ok_or_else(|| Error::not_found("Branch"))?;
            Ok(MergeRequestBranches { branch, target: target.0.id, target_branch })
        })
        .await?;
    ensure_admitted(forge, actor, found.target).await?;
    Ok(found)
}

/// A fork proposes to where it comes from, as long as the pusher sees that.
fn usual_target(tx: &mut Tx<'_>, actor: Actor, project: ProjectId) -> Result<Project> {
    let origin = tx.project(project)?.forked_from_id;
    if let Some(origin) = origin
        && let Ok((found, _)) = locate_project(tx, actor, &IdOrPath::Id(origin.0))
    {
        return Ok(found);
    }
    Ok(locate_project(tx, actor, &IdOrPath::Id(project.0))?.0)
}

async fn granted<A>(forge: &Forge, pusher: &Pusher, project: ProjectId) -> Result<Grant<A>>
where
    A: Ability<Scope = Project> + Send + 'static,
{
    let actor = pusher.actor;
    forge
        .db
        .read(move |tx| {
            let (project, who) = locate_project(tx, actor, &IdOrPath::Id(project.0))?;
            Grant::check(&who, project)
        })
        .await
}

async fn create(
    forge: &Forge,
    pusher: &Pusher,
    options: &Options,
    ends: MergeRequestBranches,
    change: &RefChange,
) -> Result<MergeRequest> {
    let source: Grant<ProposeMergeRequests> = granted(forge, pusher, pusher.project).await?;
    let title = match (&options.title, &change.commit_title) {
        (Some(title), _) => title.clone(),
        (None, Some(title)) if change.commit_count == 1 => title.clone(),
        (None, _) => humanized(&ends.branch),
    };
    let wishes = resolve_options(forge, pusher, options, ends.target).await?;
    let attributes = NewMergeRequest {
        title: if options.draft { drafted(&title) } else { title },
        description: options.description.clone(),
        labels: LabelChange { add: options.label.clone(), ..LabelChange::default() },
        assignees: Some(wishes.assign).filter(|people| !people.is_empty()),
        milestone: wishes.milestone,
        remove_source_branch: options.remove_source_branch.then_some(true),
        squash: options.squash,
        ..NewMergeRequest::default()
    };
    let MergeRequestBranches { branch, target, target_branch } = ends;
    let draft = MergeRequestDraft { source_branch: branch, target, target_branch, attributes };
    Ok(create_merge_request(forge, &source, &pusher.user, draft).await?.row)
}

async fn alter(
    forge: &Forge,
    pusher: &Pusher,
    options: &Options,
    row: &MergeRequest,
) -> Result<MergeRequest> {
    let grant: Grant<TakePartInMergeRequests> = granted(forge, pusher, row.project_id).await?;
    let wishes = resolve_options(forge, pusher, options, row.project_id).await?;
    let item = row.item();
    let people = forge.db.read(move |tx| {
        let mut known = tx.assignees_of(item.id.kind, &[item.id.id])?;
        Ok(known.remove(&item.id.id).unwrap_or_default())
    });
    let mut people = people.await?;
    people.retain(|person| !wishes.unassign.contains(person));
    people.extend(wishes.assign);
    let reassigns = !options.assign.is_empty() || !options.unassign.is_empty();
    let title = options.title.clone().or_else(|| options.draft.then(|| row.title.clone()));
    let change = MergeRequestChange {
        title: title.map(|title| if options.draft { drafted(&title) } else { title }),
        description: options.description.clone().map(Some),
        metadata: Metadata {
            labels: LabelChange {
                add: options.label.clone(),
                remove: options.unlabel.clone(),
                ..LabelChange::default()
            },
            assignees: reassigns.then_some(people),
            milestone: wishes.milestone.map(Some),
            ..Metadata::default()
        },
        remove_source_branch: options.remove_source_branch.then_some(true),
        squash: options.squash.then_some(true),
        ..MergeRequestChange::default()
    };
    update_merge_request(forge, &grant, &pusher.user, row.iid, change).await
}

/// The objects that push options name; unknown names are ignored.
struct OptionTargets {
    milestone: Option<MilestoneId>,
    assign: Vec<UserId>,
    unassign: Vec<UserId>,
}

async fn resolve_options(
    forge: &Forge,
    pusher: &Pusher,
    options: &Options,
    target: ProjectId,
) -> Result<OptionTargets> {
    let (options, me, directory) = (options.clone(), pusher.user.id, Directory::new(&forge.urls));
    forge
        .db
        .read(move |tx| {
            let milestone = match &options.milestone {
                Some(title) => milestone(tx, &directory, target, title)?,
                None => None,
            };
            let assign = people(tx, me, &options.assign)?;
            Ok(OptionTargets { milestone, assign, unassign: people(tx, me, &options.unassign)? })
        })
        .await
}

fn milestone(
    tx: &mut Tx<'_>,
    directory: &Directory,
    project: ProjectId,
    title: &str,
) -> Result<Option<MilestoneId>> {
    let home = Home::Project(project);
    let mut filter = MilestoneFilter::of(home);
    filter.groups = directory.above(tx, home)?;
    filter.title = Some(title.to_owned());
    let found = tx.milestones(&filter, PageRequest { page: 1, per_page: 1 })?.items;
    Ok(found.into_iter().next().map(|milestone| milestone.id))
}

fn people(tx: &mut Tx<'_>, me: UserId, names: &[String]) -> Result<Vec<UserId>> {
    let mut found = Vec::new();
    for name in names {
        let user = match (name.trim_start_matches('@'), name.parse()) {
            ("me", _) => Some(me),
            (_, Ok(id)) => tx.find_user(UserId(id))?.map(|user| user.id),
            (name, Err(_)) => tx.find_user_named(name)?.map(|user| user.id),
        };
        found.extend(user);
    }
    Ok(found)
}

/// Where there is no pipeline that it could wait for, it waits for nothing.
async fn wait_for_pipeline(forge: &Forge, pusher: &Pusher, row: &MergeRequest) -> Result<()> {
    let grant: Grant<ReadMergeRequests> = granted(forge, pusher, row.project_id).await?;
    let wish = MergeOptions { when_pipeline_succeeds: true, ..MergeOptions::default() };
    if let Err(refusal) = merge::accept(forge, &grant, &pusher.user, row.iid, wish).await {
        tracing::debug!(%refusal, "a merge request waits for no pipeline");
    }
    Ok(())
}
