//! Loaders of issues, merge requests, epics and notes.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use ci::pipeline::PipelineStore as _;
use db::Tx;
use entities::review::award_emoji::AwardEntity;
use forge::{
    ports::{directory::Directory, review::OrgHierarchy},
    urls::Urls,
};
use kernel::{
    Actor, Result, Standing,
    ids::{IssueId, MergeRequestId, NamespaceId, NoteId, ProjectId, UserId},
};
use org::{
    access::standings_of_one::in_projects,
    project::settings::{Settings, SettingsStore as _},
};
use repo::protection::Protection;
use review::{
    Home,
    approval::ApprovalStore as _,
    emoji::{AwardStore as _, AwardTarget},
    epic,
    issue::link::LinkStore as _,
    item::{
        Item, ItemId, ItemKind, ItemStore as _,
        edit::updaters_of_issues,
        subscriptions::{participants_of_all, subscribed_among},
        time::timelog::{Timelog, TimelogStore as _},
    },
    merge_request::{Reviewer, ReviewerStore as _, merge::rebase},
    note::{Head, Note, NoteStore as _, reading::heads_seen},
    todo,
};

use super::{
    records::{EpicRecord, IssueRecord, ItemKey, MergeRequestRecord, TodoRecord},
    scope,
};
use crate::{context::Context, loaders::BatchLoader};

/// The loaders of one request.
pub struct ReviewLoaders {
    /// Issues that the caller may read.
    pub issues: BatchLoader<IssueId, Arc<IssueRecord>>,
    /// Merge requests that the caller may read.
    pub merge_requests: BatchLoader<MergeRequestId, Arc<MergeRequestRecord>>,
    /// Epics that the caller may read.
    pub epics: BatchLoader<i64, Arc<EpicRecord>>,
    /// How the caller stands in projects that they may know of.
    pub standings: BatchLoader<ProjectId, Standing>,
    /// How the caller stands in the groups of epics.
    pub group_standings: BatchLoader<NamespaceId, Standing>,
    /// Open issues that block an issue.
    pub blockers: BatchLoader<IssueId, Arc<Vec<IssueId>>>,
    pub subscribed: BatchLoader<ItemKey, bool>,
    pub participants: BatchLoader<ItemKey, Arc<Vec<UserId>>>,
    /// The notes of an item that the caller sees, without their texts.
    pub note_heads: BatchLoader<ItemKey, Arc<Vec<Head>>>,
    /// Notes by their ids; who may read them is known by their heads.
    pub notes: BatchLoader<NoteId, Arc<Note>>,
    pub awards: BatchLoader<AwardTarget, Arc<Vec<Arc<AwardEntity>>>>,
    /// To-dos of the caller about an item.
    pub todos: BatchLoader<ItemKey, Arc<Vec<Arc<TodoRecord>>>>,
    pub timelogs: BatchLoader<ItemId, Arc<Vec<Arc<Timelog>>>>,
    pub reviewers: BatchLoader<MergeRequestId, Arc<Vec<Reviewer>>>,
    pub committers: BatchLoader<MergeRequestId, Arc<Vec<UserId>>>,
    pub approvals: BatchLoader<MergeRequestId, Arc<super::approval_records::Approvals>>,
    pub rebasing: BatchLoader<MergeRequestId, bool>,
    /// Whether there is a pipeline for a commit of a project.
    pub piped: BatchLoader<(ProjectId, String), bool>,
    /// What the caller may do with the branches of a project.
    pub protections: BatchLoader<ProjectId, Arc<Protection>>,
    /// Who changed an issue last.
    pub updaters: BatchLoader<IssueId, UserId>,
    pub items: BatchLoader<ItemId, Arc<Item>>,
    pub settings: BatchLoader<ProjectId, Arc<Settings>>,
}

impl ReviewLoaders {
    /// The loaders of the request.
    pub fn of(context: &Context) -> Arc<Self> {
        let (actor, urls) = (context.actor(), context.forge.urls.clone());
        context.loaders.of(move |db| Self {
            issues: {
                let urls = urls.clone();
                BatchLoader::new(db, move |tx, ids| {
                    keyed(IssueRecord::readable(tx, &urls, actor, ids)?, |one| one.row.id)
                })
            },
            merge_requests: {
                let urls = urls.clone();
                BatchLoader::new(db, move |tx, ids| {
                    keyed(MergeRequestRecord::readable(tx, &urls, actor, ids)?, |one| one.row.id)
                })
            },
            epics: {
                let urls = urls.clone();
                BatchLoader::new(db, move |tx, ids| {
                    let found = epic::readable(tx, &OrgHierarchy, actor, ids)?;
                    keyed(EpicRecord::all(tx, &urls, actor, found)?, |one| one.row.id)
                })
            },
            standings: BatchLoader::new(db, move |tx, ids| in_projects(tx, actor, ids)),
            group_standings: BatchLoader::new(db, move |tx, ids| in_groups(tx, actor, ids)),
            blockers: BatchLoader::new(db, |tx, ids| shared(tx.open_blockers_of(ids)?)),
            subscribed: BatchLoader::new(db, move |tx, keys| subscribed(tx, actor, keys)),
            participants: BatchLoader::new(db, participants),
            note_heads: {
                let directory = Directory::new(&urls);
                BatchLoader::new(db, move |tx, keys| note_heads(tx, &directory, actor, keys))
            },
            notes: BatchLoader::new(db, |tx, ids| keyed(tx.notes_by_id(ids)?, |note| note.id)),
            awards: {
                let urls = urls.clone();
                BatchLoader::new(db, move |tx, targets| awards(tx, &urls, targets))
            },
            todos: {
                let urls = urls.clone();
                BatchLoader::new(db, move |tx, keys| todos(tx, &urls, actor, keys))
            },
            timelogs: BatchLoader::new(db, timelogs),
            reviewers: BatchLoader::new(db, |tx, ids| shared(tx.reviewers_of(ids)?)),
            committers: BatchLoader::new(db, committers),
            approvals: {
                let urls = urls.clone();
                BatchLoader::new(db, move |tx, ids| {
                    super::approval_records::all(tx, &urls, actor, ids)
                })
            },
            rebasing: BatchLoader::new(db, rebase::under_way),
            updaters: BatchLoader::new(db, updaters_of_issues),
            piped: BatchLoader::new(db, piped),
            protections: BatchLoader::new(db, move |tx, ids| protections(tx, actor, ids)),
            items: BatchLoader::new(db, items),
            settings: BatchLoader::new(db, |tx, ids| {
                shared(tx.settings_by_project(ids)?.into_iter().collect())
            }),
        })
    }
}

fn in_groups(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[NamespaceId],
) -> Result<HashMap<NamespaceId, Standing>> {
    let homes: Vec<_> = ids.iter().map(|id| (id.0, Home::Group(*id))).collect();
    let found = scope::standings(tx, actor, &homes)?.into_iter();
    Ok(found.map(|(id, who)| (NamespaceId(id), who)).collect())
}

fn committers(
    tx: &mut Tx<'_>,
    ids: &[MergeRequestId],
) -> Result<HashMap<MergeRequestId, Arc<Vec<UserId>>>> {
    let found = tx.committers_of(ids)?.into_iter();
    let sorted = found.map(|(id, people)| {
        let mut people: Vec<UserId> = people.into_iter().collect();
        people.sort_unstable();
        (id, Arc::new(people))
    });
    Ok(sorted.collect())
}

fn protections(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[ProjectId],
) -> Result<HashMap<ProjectId, Arc<Protection>>> {
    let mut all = HashMap::new();
    for (project, who) in in_projects(tx, actor, ids)? {
        all.insert(project, Arc::new(Protection::load(tx, &who, project)?));
    }
    Ok(all)
}

fn items(tx: &mut Tx<'_>, ids: &[ItemId]) -> Result<HashMap<ItemId, Arc<Item>>> {
    let mut all = HashMap::new();
    for (kind, ids) in by_kind(ids.iter().map(|id| (id.kind, id.id))) {
        for (id, item) in tx.items_by_id(kind, &ids)? {
            all.insert(ItemId { kind, id }, Arc::new(item));
        }
    }
    Ok(all)
}

fn keyed<K: Eq + Hash, T>(rows: Vec<T>, key: fn(&T) -> K) -> Result<HashMap<K, Arc<T>>> {
    Ok(rows.into_iter().map(|row| (key(&row), Arc::new(row))).collect())
}

fn shared<K: Eq + Hash, V>(found: HashMap<K, V>) -> Result<HashMap<K, Arc<V>>> {
    Ok(found.into_iter().map(|(key, value)| (key, Arc::new(value))).collect())
}

fn by_kind<T>(all: impl Iterator<Item = (ItemKind, T)>) -> HashMap<ItemKind, Vec<T>> {
    let mut kinds: HashMap<ItemKind, Vec<T>> = HashMap::new();
    for (kind, one) in all {
        kinds.entry(kind).or_default().push(one);
    }
    kinds
}

fn keys_by_kind(keys: &[ItemKey]) -> HashMap<ItemKind, Vec<ItemKey>> {
    by_kind(keys.iter().map(|key| (key.kind, *key)))
}

fn subscribed(tx: &mut Tx<'_>, actor: Actor, keys: &[ItemKey]) -> Result<HashMap<ItemKey, bool>> {
    let Some(user) = actor.id else { return Ok(HashMap::new()) };
    let mut all = HashMap::new();
    for (kind, keys) in keys_by_kind(keys) {
        let items: Vec<(i64, UserId)> = keys.iter().map(|key| (key.id, key.author)).collect();
        let hears = subscribed_among(tx, kind, &items, user)?;
        all.extend(keys.into_iter().map(|key| (key, hears.contains(&key.id))));
    }
    Ok(all)
}

fn participants(tx: &mut Tx<'_>, keys: &[ItemKey]) -> Result<HashMap<ItemKey, Arc<Vec<UserId>>>> {
    let mut all = HashMap::new();
    for (kind, keys) in keys_by_kind(keys) {
        let items: Vec<(i64, UserId)> = keys.iter().map(|key| (key.id, key.author)).collect();
        let mut found = participants_of_all(tx, kind, &items)?;
        for key in keys {
            all.insert(key, Arc::new(found.remove(&key.id).unwrap_or_default()));
        }
    }
    Ok(all)
}

fn note_heads(
    tx: &mut Tx<'_>,
    directory: &Directory,
    actor: Actor,
    keys: &[ItemKey],
) -> Result<HashMap<ItemKey, Arc<Vec<Head>>>> {
    let mut all = HashMap::new();
    for (kind, keys) in keys_by_kind(keys) {
        let homes: Vec<(i64, Home)> = keys.iter().map(|key| (key.id, key.place())).collect();
        let standings: Vec<(i64, Standing)> =
            scope::standings(tx, actor, &homes)?.into_iter().collect();
        let mut found = heads_seen(tx, directory, actor, kind, &standings)?;
        for key in keys {
            if standings.iter().any(|(id, _)| *id == key.id) {
                all.insert(key, Arc::new(found.remove(&key.id).unwrap_or_default()));
            }
        }
    }
    Ok(all)
}

fn awards(
    tx: &mut Tx<'_>,
    urls: &Urls,
    targets: &[AwardTarget],
) -> Result<HashMap<AwardTarget, Arc<Vec<Arc<AwardEntity>>>>> {
    let rows = tx.awards_of(targets)?;
    let mut all: HashMap<AwardTarget, Vec<Arc<AwardEntity>>> = HashMap::new();
    for award in AwardEntity::all(tx, urls, rows)? {
        let target = AwardTarget { kind: award.awardable_type, id: award.awardable_id };
        all.entry(target).or_default().push(Arc::new(award));
    }
    shared(all)
}

fn todos(
    tx: &mut Tx<'_>,
    urls: &Urls,
    actor: Actor,
    keys: &[ItemKey],
) -> Result<HashMap<ItemKey, Arc<Vec<Arc<TodoRecord>>>>> {
    if actor.id.is_none() {
        return Ok(HashMap::new());
    }
    let directory = Directory::new(urls);
    let mut all = HashMap::new();
    for (kind, keys) in keys_by_kind(keys) {
        let ids: Vec<i64> = keys.iter().map(|key| key.id).collect();
        let found = todo::actions::about(tx, &directory, actor, kind, &ids)?;
        let found = TodoRecord::all(tx, urls, actor, found)?;
        for record in found {
            if let Some(key) = keys.iter().find(|key| key.id == record.row.item_id) {
                all.entry(*key).or_insert_with(Vec::new).push(Arc::new(record));
            }
        }
    }
    shared(all)
}

fn timelogs(tx: &mut Tx<'_>, ids: &[ItemId]) -> Result<HashMap<ItemId, Arc<Vec<Arc<Timelog>>>>> {
    let mut all: HashMap<ItemId, Vec<Arc<Timelog>>> = HashMap::new();
    for (kind, ids) in by_kind(ids.iter().map(|id| (id.kind, id.id))) {
        for entry in tx.timelogs_of(kind, &ids)? {
            all.entry(entry.item()).or_default().push(Arc::new(entry));
        }
    }
    shared(all)
}

fn piped(
    tx: &mut Tx<'_>,
    heads: &[(ProjectId, String)],
) -> Result<HashMap<(ProjectId, String), bool>> {
    let mut projects: HashMap<ProjectId, Vec<String>> = HashMap::new();
    for (project, head) in heads {
        projects.entry(*project).or_default().push(head.clone());
    }
    let mut all = HashMap::new();
    for (project, heads) in projects {
        let found = tx.newest_pipelines(project, &heads)?;
        all.extend(found.into_keys().map(|head| ((project, head), true)));
    }
    Ok(all)
}
