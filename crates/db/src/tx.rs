//! One unit of work: a transaction, the moment it happens, and the facts it announces.

use std::{collections::VecDeque, sync::Arc};

use diesel::{PgConnection, RunQueryDsl, SqliteConnection};
use kernel::{Result, Ts, event::Event};

use crate::{Origin, error, schema::outbox};

/// The connection of a transaction, on either database.
pub enum Conn<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

/// Runs a query on the connection of a transaction, whichever database that has.
#[macro_export]
macro_rules! each_backend {
    ($tx:expr, |$conn:ident| $query:expr) => {{
        let $conn = &mut $tx.conn;
        $query
    }};
}

/// A transaction. What it announced is heard before it commits.
pub struct Tx<'c> {
    pub conn: Conn<'c>,
    /// The moment of the transaction: every row it writes carries this one.
    pub now: Ts,
    /// What led to it, where that is known of a write: see [`caused_by`](crate::caused_by).
    pub cause: Option<Arc<str>>,
    /// Who asked for it.
    pub origin: Origin,
    pub(crate) facts: VecDeque<Box<dyn Event>>,
    pub(crate) afterwards: CommitHooks,
}

/// Functions to run once a transaction is durable.
pub(crate) type CommitHooks = Vec<Box<dyn FnOnce() + Send>>;

impl<'c> Tx<'c> {
    pub(crate) fn new(conn: Conn<'c>, now: Ts) -> Self {
        Self {
            conn,
            now,
            cause: None,
            origin: Origin::default(),
            facts: VecDeque::new(),
            afterwards: Vec::new(),
        }
    }

    /// Announces a fact in the transaction that made it true.
    pub fn emit(&mut self, event: impl Event) -> Result<()> {
        use diesel::ExpressionMethods;
        let row = (
            outbox::kind.eq(event.kind()),
            outbox::project_id.eq(event.project()),
            outbox::payload.eq(event.payload()),
            outbox::created_at.eq(self.now),
        );
        let insert = diesel::insert_into(outbox::table).values(row);
        each_backend!(self, |conn| insert.execute(conn).map_err(error("Event")))?;
        self.facts.push_back(Box::new(event));
        Ok(())
    }

    /// Does something once the transaction is durable, and nothing where it comes to nothing. It runs on the thread that
    /// commits, so it only tells others; and it is lost when the process ends before.
    pub fn after_commit(&mut self, work: impl FnOnce() + Send + 'static) {
        self.afterwards.push(Box::new(work));
    }

    /// As [`emit`](Self::emit), for those who hear it in this transaction alone: nothing is kept of it.
    pub fn mention(&mut self, fact: impl Event) {
        self.facts.push_back(Box::new(fact));
    }
}

#[diesel::declare_sql_function]
extern "SQL" {
    /// Small letters of every script. SQLite's own function knows only ASCII: each connection replaces it.
    #[sql_name = "lower"]
    fn lower_or_null(
        text: diesel::sql_types::Nullable<diesel::sql_types::Text>,
    ) -> diesel::sql_types::Nullable<diesel::sql_types::Text>;
}
pub(crate) use lower_or_null_utils::register_impl as register_lower;
