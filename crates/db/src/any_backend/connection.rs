//! The connection of a transaction as diesel's: it runs queries of [`AnyBackend`] on the database that it has.

use diesel::{
    Connection, ConnectionError, ConnectionResult, PgConnection, QueryResult, SqliteConnection,
    connection::{
        AnsiTransactionManager, CacheSize, ConnectionSealed, Instrumentation, LoadConnection,
        SimpleConnection,
    },
    expression::QueryMetadata,
    query_builder::{Query, QueryFragment, QueryId},
};

use super::{
    AnyBackend,
    row::{AnyCursor, AnyRow},
    statement::{AnyQuery, Statement},
};
use crate::Conn;

impl Conn<'_> {
    fn backend(&self) -> &'static AnyBackend {
        match self {
            Self::Sqlite(_) => &AnyBackend::Sqlite,
            Self::Postgres(_) => &AnyBackend::Postgres,
        }
    }
}

impl SimpleConnection for Conn<'_> {
    fn batch_execute(&mut self, query: &str) -> QueryResult<()> {
        match self {
            Self::Sqlite(conn) => conn.batch_execute(query),
            Self::Postgres(conn) => conn.batch_execute(query),
        }
    }
}

impl ConnectionSealed for Conn<'_> {}

impl Connection for Conn<'_> {
    type Backend = AnyBackend;
    type TransactionManager = AnsiTransactionManager;

    fn establish(_: &str) -> ConnectionResult<Self> {
        let cause = "a transaction gets its connection from the database";
        Err(ConnectionError::BadConnection(cause.to_owned()))
    }

    fn execute_returning_count<T>(&mut self, source: &T) -> QueryResult<usize>
    where
        T: QueryFragment<AnyBackend> + QueryId,
    {
        let query: &dyn AnyQuery = source;
        let statement = Statement::new(query, T::query_id(), self.backend())?;
        self.execute(&statement)
    }

    fn transaction_state(&mut self) -> &mut AnsiTransactionManager {
        match self {
            Self::Sqlite(conn) => conn.transaction_state(),
            Self::Postgres(conn) => conn.transaction_state(),
        }
    }

    fn instrumentation(&mut self) -> &mut dyn Instrumentation {
        match self {
            Self::Sqlite(conn) => conn.instrumentation(),
            Self::Postgres(conn) => conn.instrumentation(),
        }
    }

    fn set_instrumentation(&mut self, instrumentation: impl Instrumentation) {
        match self {
            Self::Sqlite(conn) => conn.set_instrumentation(instrumentation),
            Self::Postgres(conn) => conn.set_instrumentation(instrumentation),
        }
    }

    fn set_prepared_statement_cache_size(&mut self, size: CacheSize) {
        match self {
            Self::Sqlite(conn) => conn.set_prepared_statement_cache_size(size),
            Self::Postgres(conn) => conn.set_prepared_statement_cache_size(size),
        }
    }
}

impl LoadConnection for Conn<'_> {
    type Cursor<'conn, 'query>
        = AnyCursor<'conn, 'query>
    where
        Self: 'conn;
    type Row<'conn, 'query>
        = AnyRow<'conn, 'query>
    where
        Self: 'conn;

    fn load<'conn, 'query, T>(
        &'conn mut self,
        source: T,
    ) -> QueryResult<Self::Cursor<'conn, 'query>>
    where
        T: Query + QueryFragment<AnyBackend> + QueryId + 'query,
        AnyBackend: QueryMetadata<T::SqlType>,
    {
        self.rows(Box::new(source), T::query_id())
    }
}

/// What each query comes to, compiled once.
impl Conn<'_> {
    fn execute(&mut self, statement: &Statement<&dyn AnyQuery>) -> QueryResult<usize> {
        match self {
            Self::Sqlite(conn) => conn.execute_returning_count(statement),
            Self::Postgres(conn) => conn.execute_returning_count(statement),
        }
    }

    fn rows<'conn, 'query>(
        &'conn mut self,
        query: Box<dyn AnyQuery + 'query>,
        identity: Option<std::any::TypeId>,
    ) -> QueryResult<AnyCursor<'conn, 'query>> {
        let statement = Statement::new(query, identity, self.backend())?;
        Ok(match self {
            Self::Sqlite(conn) => {
                AnyCursor::Sqlite(<SqliteConnection as LoadConnection>::load(conn, statement)?)
            }
            Self::Postgres(conn) => {
                AnyCursor::Postgres(<PgConnection as LoadConnection>::load(conn, statement)?)
            }
        })
    }
}
