//! Where the refs of wikis are to be: told in the transaction that decides it, before git follows. A crash in between is
//! finished from there at the next start.

use std::time::Duration;

use db::{Conn, Database, Tx, each_backend, error, schema::wiki_refs};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{NamespaceId, ProjectId},
};

use crate::{
    git::{
        Git, GitError, Oid, RefName, Repositories, Storage, Wiki,
        refs::{self, RefMove},
    },
    push::{STALE_LOCK, follow_late},
};

/// The last move of a ref.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = wiki_refs, check_for_backend(diesel::sqlite::Sqlite, diesel::pg::Pg))]
pub struct WikiRef {
    pub id: i64,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub ref_name: String,
    pub old_sha: Option<String>,
    pub new_sha: Option<String>,
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
    fn keep_wiki_moves(&mut self, wiki: Wiki, moves: &[RefMove]) -> Result<()>;
    /// Notes that git has followed. What was decided since stays open.
    fn settle_wiki_moves(&mut self, wiki: Wiki, moves: &[RefMove]) -> Result<()>;
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
    fn keep_wiki_moves(&mut self, wiki: Wiki, moves: &[RefMove]) -> Result<()> {
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
        Ok(())
    }

    fn settle_wiki_moves(&mut self, wiki: Wiki, moves: &[RefMove]) -> Result<()> {
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
    git: &Git,
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
    finish(db, git, storage, repositories, rows.await?, Duration::ZERO).await
}

/// The same while the server runs, for moves that were decided before a moment and then failed.
pub async fn settle(
    db: &Database,
    git: &Git,
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
    finish(db, git, storage, repositories, open.await?, STALE_LOCK).await
}

async fn finish(
    db: &Database,
    git: &Git,
    storage: &Storage,
    repositories: &Repositories,
    rows: Vec<WikiRef>,
    stale_after: Duration,
) -> Result<usize> {
    let mut finished = 0;
    for row in rows {
        let Some(wiki) = row.wiki() else { continue };
        let step = row.step()?;
        if storage.wiki_exists(wiki) {
            let repo = storage.wiki(wiki);
            let late = follow_late(git, &repo, &step, stale_after).await?;
            finished += usize::from(late);
            let reader = repositories.open(&repo)?;
            let lost = match reader.head_branch()? {
                Some(head) => reader.find_reference(&head)?.is_none(),
                None => true,
            };
            if late && lost && step.new.is_some() {
                refs::set_head(&repo, &step.name).await?;
            }
        }
        db.write(move |tx| tx.settle_wiki_moves(wiki, &[step])).await?;
    }
    Ok(finished)
}

/// Moves that were decided and that git has not carried out.
pub async fn unsettled(db: &Database, git: &Git, storage: &Storage) -> Result<Vec<WikiRef>> {
    let mut open = Vec::new();
    for row in db.read(|tx| tx.open_wiki_moves()).await? {
        let Some(wiki) = row.wiki().filter(|wiki| storage.wiki_exists(*wiki)) else { continue };
        let step = row.step()?;
        let now = refs::read(git, &storage.wiki(wiki), [&step.name]).await?;
        if now.get(&step.name).copied() != step.new {
            open.push(row);
        }
    }
    Ok(open)
}
