//! The rows of a push: the journal that outlives a crash, and the events that people see.

use std::sync::{Arc, Mutex, PoisonError};

use db::{
    Conn, Tx, each_backend, error,
    schema::{push_events, ref_journal},
};
use diesel::{
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};
use kernel::{
    Result, Ts,
    ids::{ProjectId, PushEventId, UserId},
};

use super::{Push, RefChange};
use crate::git::{Oid, refs::RefMove};

kernel::text_enum! {
    /// The action of a push on a ref.
    pub enum PushAction { Created = "created", Pushed = "pushed", Removed = "removed" }
}

impl PushAction {
    pub fn of(change: &RefChange) -> Self {
        match (change.old, change.new) {
            (_, None) => Self::Removed,
            (None, Some(_)) => Self::Created,
            (Some(_), Some(_)) => Self::Pushed,
        }
    }
}

/// Below what a statement may have parameters, on both databases.
const ROWS_AT_ONCE: usize = 500;

/// There is no index on refs: nobody asks for a push that is older than so many others of its project.
const PUSHES_SEARCHED: i64 = 1_000;

#[derive(QueryableByName)]
struct PusherRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    user_id: Option<UserId>,
}

/// A ref move that was decided.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = ref_journal, check_for_backend(db::AnyBackend))]
pub struct JournalRow {
    pub id: i64,
    pub project_id: ProjectId,
    pub batch: String,
    pub ref_name: String,
    pub old_sha: Option<String>,
    pub new_sha: Option<String>,
    pub created_at: Ts,
}

/// A ref move that happened.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = push_events, check_for_backend(db::AnyBackend))]
pub struct PushEvent {
    pub id: PushEventId,
    pub project_id: ProjectId,
    pub user_id: Option<UserId>,
    pub action: PushAction,
    pub ref_name: String,
    pub before_sha: Option<String>,
    pub after_sha: Option<String>,
    pub commit_count: i64,
    pub commit_title: Option<String>,
    pub created_at: Ts,
}

pub trait JournalStore {
    /// Notes moves as decided, in the name of a batch.
    fn insert_moves(&mut self, project: ProjectId, batch: &str, moves: &[RefMove]) -> Result<()>;
    /// Notes every move of a push, and its event.
    fn insert_push(&mut self, push: &Push) -> Result<()>;
    /// Every move not known to have reached git, oldest first.
    fn journal(&mut self) -> Result<Vec<JournalRow>>;
    /// The same of one project.
    fn journal_of(&mut self, project: ProjectId) -> Result<Vec<JournalRow>>;
    /// The last move of a ref that the journal holds.
    fn last_move(&mut self, project: ProjectId, ref_name: &str) -> Result<Option<JournalRow>>;
    /// The same once every push that is being decided has ended: PostgreSQL may still carry out the commit of a server
    /// that was killed. Only in a transaction that may write.
    fn settled_journal(&mut self) -> Result<Vec<JournalRow>>;
    fn delete_journal_batches(&mut self, batches: &[String]) -> Result<()>;
    /// Everything that was pushed to a project, oldest first.
    fn push_events(&mut self, project: ProjectId) -> Result<Vec<PushEvent>>;
    /// Who moved a ref to this commit, as far as the last 1,000 pushed refs of the project tell.
    fn find_pusher(
        &mut self,
        project: ProjectId,
        ref_name: &str,
        sha: &str,
    ) -> Result<Option<UserId>>;
    /// The refs with pushes from `moment` on, each once.
    fn refs_pushed_since(&mut self, moment: Ts) -> Result<Vec<(ProjectId, String)>>;
    /// Every project that was ever pushed to.
    fn projects_with_pushes(&mut self) -> Result<Vec<ProjectId>>;
    /// Forgets all pushes to a project whose repository is taken away.
    fn forget_pushes(&mut self, project: ProjectId) -> Result<()>;
}

fn sha(id: Option<Oid>) -> Option<String> {
    id.map(|id| id.to_string())
}

impl JournalStore for Tx<'_> {
    fn insert_moves(&mut self, project: ProjectId, batch: &str, moves: &[RefMove]) -> Result<()> {
        let now = self.now;
        for some in moves.chunks(ROWS_AT_ONCE) {
            let entry = |step: &RefMove| {
                (
                    ref_journal::project_id.eq(project),
                    ref_journal::batch.eq(batch.to_owned()),
                    ref_journal::ref_name.eq(step.name.as_bstr().to_string()),
                    ref_journal::old_sha.eq(sha(step.old.oid())),
                    ref_journal::new_sha.eq(sha(step.new)),
                    ref_journal::created_at.eq(now),
                )
            };
            let entries: Vec<_> = some.iter().map(entry).collect();
            each_backend!(self, |conn| diesel::insert_into(ref_journal::table)
                .values(&entries)
                .execute(conn)
                .map_err(error("Push")))?;
        }
        Ok(())
    }

    fn insert_push(&mut self, push: &Push) -> Result<()> {
        let now = self.now;
        self.insert_moves(push.project.id, &push.batch, &push.moves())?;
        for some in push.changes.chunks(ROWS_AT_ONCE) {
            let event = |change: &RefChange| {
                (
                    push_events::project_id.eq(push.project.id),
                    push_events::user_id.eq(push.who.actor.id),
                    push_events::action.eq(PushAction::of(change)),
                    push_events::ref_name.eq(change.name.as_bstr().to_string()),
                    push_events::before_sha.eq(sha(change.old)),
                    push_events::after_sha.eq(sha(change.new)),
                    push_events::commit_count.eq(change.commit_count),
                    push_events::commit_title.eq(change.commit_title.clone()),
                    push_events::created_at.eq(now),
                )
            };
            let events: Vec<_> = some.iter().map(event).collect();
            each_backend!(self, |conn| diesel::insert_into(push_events::table)
                .values(&events)
                .execute(conn)
                .map_err(error("Push")))?;
        }
        Ok(())
    }

    fn journal(&mut self) -> Result<Vec<JournalRow>> {
        each_backend!(self, |conn| ref_journal::table
            .order(ref_journal::id)
            .select(JournalRow::as_select())
            .load(conn)
            .map_err(error("Push")))
    }

    fn journal_of(&mut self, project: ProjectId) -> Result<Vec<JournalRow>> {
        each_backend!(self, |conn| ref_journal::table
            .filter(ref_journal::project_id.eq(project))
            .order(ref_journal::id)
            .select(JournalRow::as_select())
            .load(conn)
            .map_err(error("Push")))
    }

    fn last_move(&mut self, project: ProjectId, ref_name: &str) -> Result<Option<JournalRow>> {
        each_backend!(self, |conn| ref_journal::table
            .filter(ref_journal::project_id.eq(project))
            .filter(ref_journal::ref_name.eq(ref_name))
            .order(ref_journal::id.desc())
            .select(JournalRow::as_select())
            .first(conn)
            .optional()
            .map_err(error("Push")))
    }

    fn settled_journal(&mut self) -> Result<Vec<JournalRow>> {
        if let Conn::Postgres(conn) = &mut self.conn {
            let wait = diesel::sql_query("LOCK TABLE ref_journal IN SHARE MODE");
            wait.execute(&mut **conn).map_err(error("Push"))?;
        }
        self.journal()
    }

    fn delete_journal_batches(&mut self, batches: &[String]) -> Result<()> {
        for some in batches.chunks(ROWS_AT_ONCE) {
            let rows = ref_journal::table.filter(ref_journal::batch.eq_any(some));
            each_backend!(self, |conn| diesel::delete(rows).execute(conn).map_err(error("Push")))?;
        }
        Ok(())
    }

    fn push_events(&mut self, project: ProjectId) -> Result<Vec<PushEvent>> {
        each_backend!(self, |conn| push_events::table
            .filter(push_events::project_id.eq(project))
            .order(push_events::id)
            .select(PushEvent::as_select())
            .load(conn)
            .map_err(error("Push")))
    }

    fn find_pusher(
        &mut self,
        project: ProjectId,
        ref_name: &str,
        sha: &str,
    ) -> Result<Option<UserId>> {
        let text = format!(
            "SELECT user_id FROM (SELECT id, user_id, ref_name, after_sha FROM push_events \
             WHERE project_id = $1 ORDER BY id DESC LIMIT {PUSHES_SEARCHED}) AS newest \
             WHERE ref_name = $2 AND after_sha = $3 ORDER BY id DESC LIMIT 1"
        );
        let query = diesel::sql_query(text)
            .bind::<BigInt, _>(project)
            .bind::<Text, _>(ref_name)
            .bind::<Text, _>(sha);
        let found: Option<PusherRow> =
            each_backend!(self, |conn| query.get_result(conn).optional().map_err(error("Push")))?;
        Ok(found.and_then(|row| row.user_id))
    }

    fn refs_pushed_since(&mut self, moment: Ts) -> Result<Vec<(ProjectId, String)>> {
        let query = push_events::table
            .filter(push_events::created_at.ge(moment))
            .select((push_events::project_id, push_events::ref_name))
            .distinct();
        each_backend!(self, |conn| query.load(conn).map_err(error("Push")))
    }

    fn forget_pushes(&mut self, project: ProjectId) -> Result<()> {
        let moves = diesel::delete(ref_journal::table.filter(ref_journal::project_id.eq(project)));
        each_backend!(self, |conn| moves.execute(conn).map_err(error("Push")))?;
        let pushes = diesel::delete(push_events::table.filter(push_events::project_id.eq(project)));
        each_backend!(self, |conn| pushes.execute(conn).map_err(error("Push")))?;
        Ok(())
    }

    fn projects_with_pushes(&mut self) -> Result<Vec<ProjectId>> {
        let query = push_events::table
            .select(push_events::project_id)
            .distinct()
            .order(push_events::project_id);
        each_backend!(self, |conn| query.load(conn).map_err(error("Push")))
    }
}

/// Remembers which pushes have reached git, so that the next one takes their rows away: no write of its own.
#[derive(Clone, Debug, Default)]
pub struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    pub(super) fn record_finished(&self, batch: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(batch);
    }

    pub(super) fn take_finished(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn give_back(&self, batches: Vec<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(batches);
    }
}
