//! Where the refs of wikis are to be: told in the transaction that decides it, before git follows. A crash in between is
//! finished from there at the next start.

use std::{collections::BTreeMap, time::Duration};

use db::{Conn, Database, Tx, each_backend, error, schema::wiki_refs};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{NamespaceId, ProjectId},
};

use crate::{
    checksum,
    git::{
        GitError, Oid, RefName, RepoPath, Repositories, Storage, Wiki,
        refs::{self, RefMove},
    },
    push::{STALE_LOCK, follow_late},
};

/// The last move of a ref.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = wiki_refs, check_for_backend(db::AnyBackend))]
pub struct WikiRef {
    pub id: i64,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub ref_name: String,
    pub old_sha: Option<String>,
    pub new_sha: Option<String>,
    /// Whether the ref is known to have followed.
    pub settled: bool,
}

impl WikiRef {
    pub fn wiki(&self) -> Option<Wiki> {
        self.project_id.map(Wiki::Project).or(self.namespace_id.map(Wiki::Group))
    }

    /// The move, as git carries it out.
    pub fn step(&self) -> Result<RefMove> {
        let id = |text: &Option<String>| -> Result<Option<Oid>> {
            Ok(text.as_deref().map(str::parse).transpose().map_err(GitError::corrupt)?)
        };
        let name = RefName::full(&self.ref_name)?;
        Ok(RefMove { name, old: id(&self.old_sha)?.into(), new: id(&self.new_sha)? })
    }
}

pub trait WikiJournal {
    /// Notes moves that are decided with this transaction.
    fn save_wiki_moves(&mut self, wiki: Wiki, moves: &[RefMove]) -> Result<()>;
    /// Notes that git has followed. What was decided since stays open.
    fn finish_wiki_moves(&mut self, wiki: Wiki, moves: &[RefMove]) -> Result<()>;
    /// Moves that are not known to have reached git.
    fn open_wiki_moves(&mut self) -> Result<Vec<WikiRef>>;
    /// Every ref that a wiki ever had; those that are gone have no `new_sha`.
    fn wiki_refs(&mut self, wiki: Wiki) -> Result<Vec<WikiRef>>;
    /// Every ref of every wiki.
    fn all_wiki_refs(&mut self) -> Result<Vec<WikiRef>>;
    /// The refs that moved from `moment` on.
    fn wiki_refs_moved_since(&mut self, moment: Ts) -> Result<Vec<WikiRef>>;
}

fn key(wiki: Wiki) -> String {
    match wiki {
        Wiki::Project(id) => format!("project-{id}"),
        Wiki::Group(id) => format!("group-{id}"),
    }
}

fn sha(id: Option<Oid>) -> Option<String> {
    id.map(|id| id.to_string())
}

impl WikiJournal for Tx<'_> {
    fn save_wiki_moves(&mut self, wiki: Wiki, moves: &[RefMove]) -> Result<()> {
        let (project, group) = match wiki {
            Wiki::Project(id) => (Some(id), None),
            Wiki::Group(id) => (None, Some(id)),
        };
        for step in moves {
            let place = (
                wiki_refs::old_sha.eq(sha(step.old.oid())),
                wiki_refs::new_sha.eq(sha(step.new)),
                wiki_refs::settled.eq(false),
                wiki_refs::updated_at.eq(self.now),
            );
            let row = (
                wiki_refs::wiki.eq(key(wiki)),
                wiki_refs::project_id.eq(project),
                wiki_refs::namespace_id.eq(group),
                wiki_refs::ref_name.eq(step.name.as_bstr().to_string()),
                place.clone(),
            );
            let insert = diesel::insert_into(wiki_refs::table)
                .values(row)
                .on_conflict((wiki_refs::wiki, wiki_refs::ref_name))
                .do_update()
                .set(place);
            each_backend!(self, |conn| insert.execute(conn).map_err(error("Wiki")))?;
        }
        checksum::keep(self, checksum::place_of_wiki(wiki), moves)
    }

    fn finish_wiki_moves(&mut self, wiki: Wiki, moves: &[RefMove]) -> Result<()> {
        for step in moves {
            let row = wiki_refs::table
                .filter(wiki_refs::wiki.eq(key(wiki)))
                .filter(wiki_refs::ref_name.eq(step.name.as_bstr().to_string()));
            let settled = wiki_refs::settled.eq(true);
            match sha(step.new) {
                Some(id) => {
                    let row = row.filter(wiki_refs::new_sha.eq(id));
                    each_backend!(self, |conn| diesel::update(row)
                        .set(settled)
                        .execute(conn)
                        .map_err(error("Wiki")))?
                }
                None => {
                    let row = row.filter(wiki_refs::new_sha.is_null());
                    each_backend!(self, |conn| diesel::update(row)
                        .set(settled)
                        .execute(conn)
                        .map_err(error("Wiki")))?
                }
            };
        }
        Ok(())
    }

    fn open_wiki_moves(&mut self) -> Result<Vec<WikiRef>> {
        let query =
            wiki_refs::table.filter(diesel::dsl::not(wiki_refs::settled)).order(wiki_refs::id);
        each_backend!(self, |conn| query
            .select(WikiRef::as_select())
            .load(conn)
            .map_err(error("Wiki")))
    }

    fn wiki_refs(&mut self, wiki: Wiki) -> Result<Vec<WikiRef>> {
        let query = wiki_refs::table.filter(wiki_refs::wiki.eq(key(wiki))).order(wiki_refs::id);
        each_backend!(self, |conn| query
            .select(WikiRef::as_select())
            .load(conn)
            .map_err(error("Wiki")))
    }

    fn all_wiki_refs(&mut self) -> Result<Vec<WikiRef>> {
        let query = wiki_refs::table.order(wiki_refs::id);
        each_backend!(self, |conn| query
            .select(WikiRef::as_select())
            .load(conn)
            .map_err(error("Wiki")))
    }

    fn wiki_refs_moved_since(&mut self, moment: Ts) -> Result<Vec<WikiRef>> {
        let query = wiki_refs::table.filter(wiki_refs::updated_at.ge(moment)).order(wiki_refs::id);
        each_backend!(self, |conn| query
            .select(WikiRef::as_select())
            .load(conn)
            .map_err(error("Wiki")))
    }
}

/// Finishes what a crash interrupted, at the start: every move that was decided and that git has not carried out.
/// Returns how many.
pub async fn recover(
    db: &Database,
    storage: &Storage,
    repositories: &Repositories,
) -> Result<usize> {
    let rows = db.write(|tx| {
        // PostgreSQL may still carry out the commit of a server that was killed.
        if let Conn::Postgres(conn) = &mut tx.conn {
            let wait = diesel::sql_query("LOCK TABLE wiki_refs IN SHARE MODE");
            wait.execute(&mut **conn).map_err(error("Wiki"))?;
        }
        tx.open_wiki_moves()
    });
    finish(db, storage, repositories, rows.await?, Duration::ZERO).await
}

/// The same while the server runs, for moves that were decided before a moment and then failed.
pub async fn replay(
    db: &Database,
    storage: &Storage,
    repositories: &Repositories,
    before: Ts,
) -> Result<usize> {
    let open = db.read(move |tx| {
        let recent: Vec<i64> =
            tx.wiki_refs_moved_since(before)?.into_iter().map(|row| row.id).collect();
        let mut open = tx.open_wiki_moves()?;
        open.retain(|row| !recent.contains(&row.id));
        Ok(open)
    });
    finish(db, storage, repositories, open.await?, STALE_LOCK).await
}

async fn finish(
    db: &Database,
    storage: &Storage,
    repositories: &Repositories,
    rows: Vec<WikiRef>,
    stale_after: Duration,
) -> Result<usize> {
    let (mut finished, mut failure) = (0, None);
    for (wiki, rows) in by_wiki(rows) {
        let mut moves = rows.iter().map(WikiRef::step).collect::<Result<Vec<RefMove>>>()?;
        if storage.wiki_exists(wiki) {
            let repo = storage.wiki(wiki);
            let late = follow_late(&repo, moves.clone(), stale_after).await;
            finished += late.moved.len();
            restore_head(repositories, &repo, &late.moved).await?;
            for (stuck, cause) in late.failed {
                moves.retain(|step| !stuck.contains(step));
                failure = failure.or(Some(cause));
            }
        }
        db.write(move |tx| tx.finish_wiki_moves(wiki, &moves)).await?;
    }
    failure.map_or(Ok(finished), Err)
}

fn by_wiki(rows: Vec<WikiRef>) -> Vec<(Wiki, Vec<WikiRef>)> {
    let mut wikis: BTreeMap<String, (Wiki, Vec<WikiRef>)> = BTreeMap::new();
    for row in rows {
        let Some(wiki) = row.wiki() else { continue };
        wikis.entry(key(wiki)).or_insert((wiki, Vec::new())).1.push(row);
    }
    wikis.into_values().collect()
}

/// The first branch of a wiki is what it shows.
async fn restore_head(
    repositories: &Repositories,
    repo: &RepoPath,
    moved: &[RefMove],
) -> Result<()> {
    let Some(made) = moved.iter().find(|step| step.new.is_some()) else { return Ok(()) };
    let reader = repositories.open(repo)?;
    let lost = match reader.head_branch()? {
        Some(head) => reader.find_reference(&head)?.is_none(),
        None => true,
    };
    if lost {
        refs::set_head(repo, &made.name).await?;
    }
    Ok(())
}

/// Moves that were decided and that git has not carried out.
pub async fn unsettled(db: &Database, storage: &Storage) -> Result<Vec<WikiRef>> {
    let mut open = Vec::new();
    for (wiki, rows) in by_wiki(db.read(|tx| tx.open_wiki_moves()).await?) {
        if !storage.wiki_exists(wiki) {
            continue;
        }
        let moves = rows.iter().map(WikiRef::step).collect::<Result<Vec<RefMove>>>()?;
        let now = refs::read(&storage.wiki(wiki), moves.iter().map(|step| &step.name)).await?;
        let rows = rows.into_iter().zip(&moves);
        let ahead = rows.filter(|(_, step)| now.get(&step.name).copied() != step.new);
        open.extend(ahead.map(|(row, _)| row));
    }
    Ok(open)
}
