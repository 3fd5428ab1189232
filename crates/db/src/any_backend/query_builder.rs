//! The text of a query, as the database that runs it writes names and places for values.

use diesel::{
    QueryResult, pg::PgQueryBuilder, query_builder::QueryBuilder,
    sqlite::query_builder::SqliteQueryBuilder,
};

use super::AnyBackend;

/// Writes the text of a query.
#[expect(missing_debug_implementations, reason = "diesel's builders have none")]
pub enum AnyQueryBuilder {
    Sqlite(SqliteQueryBuilder),
    Postgres(PgQueryBuilder),
}

impl AnyQueryBuilder {
    pub(super) fn new(backend: AnyBackend) -> Self {
        match backend {
            AnyBackend::Sqlite => Self::Sqlite(SqliteQueryBuilder::new()),
            AnyBackend::Postgres => Self::Postgres(PgQueryBuilder::new()),
        }
    }
}

// Each query calls these often, and only where its text is not prepared yet: inside of every query they were half of its code.
impl QueryBuilder<AnyBackend> for AnyQueryBuilder {
    #[inline(never)]
    fn push_sql(&mut self, sql: &str) {
        match self {
            Self::Sqlite(builder) => builder.push_sql(sql),
            Self::Postgres(builder) => builder.push_sql(sql),
        }
    }

    #[inline(never)]
    fn push_identifier(&mut self, identifier: &str) -> QueryResult<()> {
        match self {
            // What diesel would write, without the copy that it makes to double the quotes in it.
            Self::Sqlite(builder) if !identifier.contains('`') => {
                builder.push_sql("`");
                builder.push_sql(identifier);
                builder.push_sql("`");
                Ok(())
            }
            Self::Sqlite(builder) => builder.push_identifier(identifier),
            Self::Postgres(builder) => builder.push_identifier(identifier),
        }
    }

    #[inline(never)]
    fn push_bind_param(&mut self) {
        match self {
            Self::Sqlite(builder) => builder.push_bind_param(),
            Self::Postgres(builder) => builder.push_bind_param(),
        }
    }

    #[inline(never)]
    fn push_bind_param_value_only(&mut self) {
        match self {
            Self::Sqlite(builder) => builder.push_bind_param_value_only(),
            Self::Postgres(builder) => builder.push_bind_param_value_only(),
        }
    }

    fn finish(self) -> String {
        match self {
            Self::Sqlite(builder) => builder.finish(),
            Self::Postgres(builder) => builder.finish(),
        }
    }
}
