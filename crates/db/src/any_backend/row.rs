//! Rows of either database.

use std::ops::Range;

use diesel::{
    PgConnection, QueryResult, SqliteConnection,
    connection::LoadConnection,
    deserialize::{self, FromSql, FromSqlRef},
    pg::{Pg, PgValue},
    row::{Field, PartialRow, Row, RowIndex, RowSealed},
    sql_types::{BigInt, Binary, Bool, Double, Integer, SmallInt, Text},
    sqlite::{Sqlite, SqliteValue},
};

use super::AnyBackend;

type SqliteRow<'conn, 'query> = <SqliteConnection as LoadConnection>::Row<'conn, 'query>;
type SqliteField<'f> = <SqliteRow<'f, 'f> as Row<'f, Sqlite>>::Field<'f>;
type PgRow = <PgConnection as LoadConnection>::Row<'static, 'static>;
type PgField<'f> = <PgRow as Row<'f, Pg>>::Field<'f>;

/// Rows of a query, one after the other.
#[expect(missing_debug_implementations, reason = "diesel's cursors have none")]
pub enum AnyCursor<'conn, 'query> {
    Sqlite(<SqliteConnection as LoadConnection>::Cursor<'conn, 'query>),
    Postgres(<PgConnection as LoadConnection>::Cursor<'conn, 'query>),
}

#[expect(missing_debug_implementations, reason = "diesel's rows have none")]
pub enum AnyRow<'conn, 'query> {
    Sqlite(SqliteRow<'conn, 'query>),
    Postgres(PgRow),
}

#[expect(missing_debug_implementations, reason = "diesel's fields have none")]
pub enum AnyField<'f> {
    Sqlite(SqliteField<'f>),
    Postgres(PgField<'f>),
}

/// A value of a row.
#[expect(missing_debug_implementations, reason = "diesel's values have none")]
pub enum AnyValue<'a> {
    Sqlite(SqliteValue<'a, 'a, 'a>),
    Postgres(PgValue<'a>),
}

impl<'conn, 'query> Iterator for AnyCursor<'conn, 'query> {
    type Item = QueryResult<AnyRow<'conn, 'query>>;

    #[inline(never)]
    fn next(&mut self) -> Option<Self::Item> {
        Some(match self {
            Self::Sqlite(rows) => rows.next()?.map(AnyRow::Sqlite),
            Self::Postgres(rows) => rows.next()?.map(AnyRow::Postgres),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Sqlite(rows) => rows.size_hint(),
            Self::Postgres(rows) => rows.size_hint(),
        }
    }
}

impl RowSealed for AnyRow<'_, '_> {}

impl<'conn, 'query> Row<'conn, AnyBackend> for AnyRow<'conn, 'query> {
    type Field<'f>
        = AnyField<'f>
    where
        'conn: 'f,
        Self: 'f;
    type InnerPartialRow = Self;

    #[inline(never)]
    fn field_count(&self) -> usize {
        match self {
            Self::Sqlite(row) => row.field_count(),
            Self::Postgres(row) => row.field_count(),
        }
    }

    fn get<'b, I>(&'b self, index: I) -> Option<AnyField<'b>>
    where
        'conn: 'b,
        Self: RowIndex<I>,
    {
        let index = self.idx(index)?;
        match self {
            Self::Sqlite(row) => row.get(index).map(AnyField::Sqlite),
            Self::Postgres(row) => row.get(index).map(AnyField::Postgres),
        }
    }

    fn partial_row(&self, range: Range<usize>) -> PartialRow<'_, Self> {
        PartialRow::new(self, range)
    }
}

impl RowIndex<usize> for AnyRow<'_, '_> {
    #[inline(never)]
    fn idx(&self, index: usize) -> Option<usize> {
        match self {
            Self::Sqlite(row) => row.idx(index),
            Self::Postgres(row) => row.idx(index),
        }
    }
}

impl<'n> RowIndex<&'n str> for AnyRow<'_, '_> {
    fn idx(&self, name: &'n str) -> Option<usize> {
        match self {
            Self::Sqlite(row) => row.idx(name),
            Self::Postgres(row) => row.idx(name),
        }
    }
}

impl<'f> Field<'f, AnyBackend> for AnyField<'f> {
    fn field_name(&self) -> Option<&str> {
        match self {
            Self::Sqlite(field) => field.field_name(),
            Self::Postgres(field) => field.field_name(),
        }
    }

    fn value(&self) -> Option<AnyValue<'_>> {
        match self {
            Self::Sqlite(field) => field.value().map(AnyValue::Sqlite),
            Self::Postgres(field) => field.value().map(AnyValue::Postgres),
        }
    }
}

macro_rules! read {
    ($($sql_type:ident => $rust:ty,)*) => {$(
        impl FromSql<$sql_type, AnyBackend> for $rust {
            fn from_sql(value: AnyValue<'_>) -> deserialize::Result<Self> {
                match value {
                    AnyValue::Sqlite(value) => FromSql::<$sql_type, Sqlite>::from_sql(value),
                    AnyValue::Postgres(value) => FromSql::<$sql_type, Pg>::from_sql(value),
                }
            }
        }
    )*};
}

read! {
    Bool => bool,
    SmallInt => i16,
    Integer => i32,
    BigInt => i64,
    Double => f64,
}

macro_rules! read_borrowed {
    ($($sql_type:ident => $rust:ty,)*) => {$(
        impl<'a> FromSqlRef<'a, $sql_type, AnyBackend> for &'a $rust {
            fn from_sql(value: &'a mut AnyValue<'_>) -> deserialize::Result<Self> {
                match value {
                    AnyValue::Sqlite(value) => {
                        <Self as FromSqlRef<'a, $sql_type, Sqlite>>::from_sql(value)
                    }
                    AnyValue::Postgres(value) => {
                        <Self as FromSqlRef<'a, $sql_type, Pg>>::from_sql(value)
                    }
                }
            }
        }
    )*};
}

read_borrowed! {
    Text => str,
    Binary => [u8],
}
