//! From a repository elsewhere to refs here: objects first, then one push of the server's own for branches and tags,
//! and the refs that keep the commits of merge requests.

use std::collections::{HashMap, HashSet};

use admin::import::ImportStatus;
use db::Tx;
use kernel::{
    AccessLevel, Actor, Error, Result, Standing, TextEnum as _,
    head::Growth,
    ids::{ProjectId, UserId},
    task::spawn_blocking,
};
use org::project::{Project, store::ProjectStore as _};
use repo::{
    git::{
        Oid, RefName, RepoPath, Wiki,
        refs::{self, RefMove},
    },
    push::{InternalMove, NO_PIPELINES, Push, PushSource, RefChange},
    wiki::journal::WikiJournal as _,
};

use super::{Remote, protocol::Advertisement};
use crate::{
    Forge,
    import::SourceError,
    project::create::USUAL_BRANCH,
    wiki::{promise, remeasure},
};

/// The local refs for the refs of a source.
struct RefPlan {
    branches_and_tags: Vec<(RefName, Oid)>,
    /// Of merge requests.
    heads: Vec<(RefName, Oid)>,
}

impl RefPlan {
    fn of(refs: &Advertisement) -> Self {
        let mut places = Self { branches_and_tags: Vec::new(), heads: Vec::new() };
        // A source may name one place twice, as `refs/pull/7` and `refs/pull-requests/7`: the first one counts.
        let mut taken = HashSet::new();
        for (name, id) in &refs.refs {
            if let Some(number) = merge_request(name) {
                let name = RefName::full(format!("refs/merge-requests/{number}/head"));
                let name = name.ok().filter(|name| taken.insert(name.clone()));
                places.heads.extend(name.map(|name| (name, *id)));
            } else if let Ok(name) = RefName::full(name).and_then(RefName::for_new_ref)
                && (name.is_branch() || name.is_tag())
                && taken.insert(name.clone())
            {
                places.branches_and_tags.push((name, *id));
            }
        }
        places
    }

    fn all(&self) -> impl Iterator<Item = &(RefName, Oid)> {
        self.branches_and_tags.iter().chain(&self.heads)
    }
}

/// The number of the pull request whose head a ref of the source is.
fn merge_request(name: &[u8]) -> Option<i64> {
    let name = std::str::from_utf8(name).ok()?;
    let hosted = name.strip_prefix("refs/pull/").and_then(|rest| rest.strip_suffix("/head"));
    let server =
        || name.strip_prefix("refs/pull-requests/").and_then(|rest| rest.strip_suffix("/from"));
    hosted.or_else(server)?.parse().ok().filter(|number| *number > 0)
}

/// Brings the whole repository of a source into that of a project. Done again, it does what is left.
pub(crate) async fn land_repository(
    forge: &Forge,
    remote: &Remote,
    project: ProjectId,
    user: UserId,
) -> Result<(), SourceError> {
    let refs = remote.refs().await?;
    let places = RefPlan::of(&refs);
    let repository = forge.storage.repository(project);
    let bytes = fetch_missing(forge, remote, &refs, &places, &repository).await?;
    // A large repository takes its time: somebody may have canceled the import meanwhile.
    if !is_going_on(forge, project).await? {
        return Ok(());
    }
    let now = refs_now(&repository, &places).await?;
    let moves: Vec<RefMove> = places
        .heads
        .iter()
        .filter(|(name, id)| now.get(name) != Some(id))
        .map(|(name, id)| RefMove {
            name: name.clone(),
            old: now.get(name).copied().into(),
            new: Some(*id),
        })
        .collect();
    if !moves.is_empty() && forge.move_own(project, moves).await? != InternalMove::Done {
        return Err(Error::conflict().whole("the head of a merge request has moved").into());
    }
    let moves = places.branches_and_tags.iter().filter(|(name, id)| now.get(name) != Some(id));
    let changes: Vec<RefChange> = moves
        .map(|(name, id)| RefChange {
            forced: now.contains_key(name),
            ..RefChange::plain(name.clone(), now.get(name).copied(), Some(*id))
        })
        .collect();
    let head = refs.head.filter(|head| changes.iter().any(|change| change.name == *head));
    push(forge, project, user, changes, head, bytes).await?;
    Ok(())
}

/// Makes branches of a project at commits that it has, where they are not there.
pub(crate) async fn land_branches(
    forge: &Forge,
    project: ProjectId,
    user: UserId,
    branches: Vec<(RefName, Oid)>,
) -> Result<()> {
    let repository = forge.storage.repository(project);
    let now = refs::read(&repository, branches.iter().map(|(name, _)| name)).await?;
    let changes = branches
        .into_iter()
        .filter(|(name, _)| !now.contains_key(name))
        .map(|(name, id)| RefChange::plain(name, None, Some(id)))
        .collect();
    push(forge, project, user, changes, None, 0).await
}

async fn is_going_on(forge: &Forge, project: ProjectId) -> Result<bool> {
    let row = forge.db.read(move |tx| tx.find_project(project)).await?;
    Ok(row.is_some_and(|row| row.import_status == ImportStatus::Started.as_str()))
}

async fn fetch_missing(
    forge: &Forge,
    remote: &Remote,
    refs: &Advertisement,
    places: &RefPlan,
    into: &RepoPath,
) -> Result<u64, SourceError> {
    let wanted: HashSet<Oid> = places.all().map(|(_, id)| *id).collect();
    let (repositories, at) = (forge.repositories.clone(), into.clone());
    // A pack becomes visible whole: what is there has its history.
    let missing = spawn_blocking(move || -> Result<Vec<Oid>> {
        let reader = repositories.open(&at)?;
        Ok(wanted.into_iter().filter(|id| !reader.has(*id)).collect())
    });
    let missing = missing.await.map_err(Error::internal)??;
    let bytes = remote.fetch(forge, refs, &missing, into).await?;
    forge.repositories.forget(into);
    Ok(bytes)
}

async fn refs_now(
    repository: &RepoPath,
    places: &RefPlan,
) -> Result<HashMap<RefName, Oid>, SourceError> {
    let names = places.all().map(|(name, _)| name);
    Ok(refs::read(repository, names).await.map_err(Error::from)?)
}

/// One push of the server's own, for which nothing runs.
pub(crate) async fn push(
    forge: &Forge,
    project: ProjectId,
    user: UserId,
    changes: Vec<RefChange>,
    head: Option<RefName>,
    bytes: u64,
) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let project: Project = forge.db.read(move |tx| tx.project(project)).await?;
    let facts = project.facts();
    let actor = Actor { id: Some(user), ..Actor::ANONYMOUS };
    let who = Standing::in_project(actor, AccessLevel::Owner, &facts);
    let is_first = facts.default_branch.is_none();
    let mut push = Push::new(facts.into(), who, PushSource::Api, changes)
        .by_server()
        .with_options(vec![NO_PIPELINES.to_owned()]);
    push.growth = Growth::By(i64::try_from(bytes).unwrap_or(i64::MAX));
    if is_first && head.is_some() {
        push.becomes_default = head;
    }
    forge.push(push).await
}

/// Brings a wiki along; nothing where the source has none.
pub(crate) async fn land_wiki(
    forge: &Forge,
    remote: &Remote,
    project: ProjectId,
) -> Result<bool, SourceError> {
    let refs = match remote.refs().await {
        // Hosts offer wikis that nobody has ever written to.
        Err(SourceError::Missing | SourceError::Denied(_) | SourceError::Unusable(_)) => {
            return Ok(false);
        }
        refs => refs?,
    };
    let mut places = RefPlan::of(&refs);
    places.heads.clear();
    places.branches_and_tags.retain(|(name, _)| name.is_branch());
    if places.branches_and_tags.is_empty() {
        return Ok(false);
    }
    let wiki = Wiki::Project(project);
    let usual = RefName::branch(USUAL_BRANCH).map_err(Error::from)?;
    let first = places.branches_and_tags.first().map(|(name, _)| name.clone());
    let head = refs.head.clone().or(first).unwrap_or(usual);
    let (storage, named) = (forge.storage.clone(), head.clone());
    let made = spawn_blocking(move || match storage.wiki_exists(wiki) {
        true => Ok(()),
        false => storage.create_wiki(wiki, &named).map(drop),
    });
    made.await.map_err(Error::internal)?.map_err(Error::from)?;
    let repository = forge.storage.wiki(wiki);
    fetch_missing(forge, remote, &refs, &places, &repository).await?;
    let now = refs_now(&repository, &places).await?;
    let moves: Vec<RefMove> = places
        .branches_and_tags
        .iter()
        .filter(|(name, id)| now.get(name) != Some(id))
        .map(|(name, id)| RefMove {
            name: name.clone(),
            old: now.get(name).copied().into(),
            new: Some(*id),
        })
        .collect();
    if !moves.is_empty() {
        let prepared = refs::prepare(&repository, &moves).await.map_err(Error::from)?;
        let noted = moves.clone();
        let decided = forge.db.write(move |tx: &mut Tx<'_>| {
            tx.save_wiki_moves(wiki, &noted)?;
            promise(tx, wiki)
        });
        if let Err(refusal) = decided.await {
            if let Err(cause) = prepared.abort().await {
                tracing::warn!(error = %cause, "a wiki was not given back cleanly");
            }
            return Err(refusal.into());
        }
        prepared.commit().await.map_err(Error::from)?;
        refs::set_head(&repository, &head).await.map_err(Error::from)?;
        remeasure(forge, wiki, moves).await?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::merge_request;

    #[test]
    fn heads_of_pull_requests_are_told_from_other_refs() {
        for (name, number) in [
            ("refs/pull/7/head", Some(7)),
            ("refs/pull-requests/12/from", Some(12)),
            ("refs/pull/7/merge", None),
            ("refs/pull/-1/head", None),
            ("refs/pull/x/head", None),
            ("refs/heads/pull/7/head", None),
        ] {
            assert_eq!(merge_request(name.as_bytes()), number, "{name}");
        }
    }
}
