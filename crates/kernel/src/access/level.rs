//! Roles.

use diesel::{
    backend::Backend,
    deserialize::{self, FromSql, FromSqlRow},
    expression::AsExpression,
    serialize::{self, Output, ToSql},
    sql_types::Integer,
};

use crate::Result;

/// A role, as a number that is stored and sent.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, AsExpression, FromSqlRow,
)]
#[diesel(sql_type = Integer)]
#[repr(i32)]
pub enum AccessLevel {
    #[default]
    NoAccess = 0,
    Minimal = 5,
    Guest = 10,
    Reporter = 20,
    Developer = 30,
    Maintainer = 40,
    Owner = 50,
    /// Only in protection rules.
    Admin = 60,
}

impl AccessLevel {
    pub const ALL: [Self; 8] = [
        Self::NoAccess,
        Self::Minimal,
        Self::Guest,
        Self::Reporter,
        Self::Developer,
        Self::Maintainer,
        Self::Owner,
        Self::Admin,
    ];

    pub fn number(self) -> i32 {
        match self {
            Self::NoAccess => 0,
            Self::Minimal => 5,
            Self::Guest => 10,
            Self::Reporter => 20,
            Self::Developer => 30,
            Self::Maintainer => 40,
            Self::Owner => 50,
            Self::Admin => 60,
        }
    }

    pub fn find(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|level| i64::from(level.number()) == number)
    }
}

impl serde::Serialize for AccessLevel {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(self.number())
    }
}

impl<DB: Backend> ToSql<Integer, DB> for AccessLevel
where
    i32: ToSql<Integer, DB>,
{
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, DB>) -> serialize::Result {
        match self {
            Self::NoAccess => 0.to_sql(out),
            Self::Minimal => 5.to_sql(out),
            Self::Guest => 10.to_sql(out),
            Self::Reporter => 20.to_sql(out),
            Self::Developer => 30.to_sql(out),
            Self::Maintainer => 40.to_sql(out),
            Self::Owner => 50.to_sql(out),
            Self::Admin => 60.to_sql(out),
        }
    }
}

impl<DB: Backend> FromSql<Integer, DB> for AccessLevel
where
    i32: FromSql<Integer, DB>,
{
    fn from_sql(raw: DB::RawValue<'_>) -> deserialize::Result<Self> {
        let number = i32::from_sql(raw)?;
        Self::find(number.into()).ok_or_else(|| format!("unknown access level {number}").into())
    }
}
