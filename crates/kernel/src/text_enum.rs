//! Enums that are stored and sent as lower-case text, the same on every backend.

/// The interface of enums made by [`text_enum!`](crate::text_enum!).
pub trait TextEnum: Sized + Copy + 'static {
    const ALL: &'static [Self];
    fn as_str(self) -> &'static str;
    fn find(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.as_str() == text)
    }
}

#[macro_export]
macro_rules! text_enum { ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal),* $(,)? }) => {
    $(#[$meta])*
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord,
             $crate::diesel::expression::AsExpression, $crate::diesel::deserialize::FromSqlRow)]
    #[diesel(sql_type = $crate::diesel::sql_types::Text)]
    $vis enum $name { $($(#[$vmeta])* $variant),* }
    impl $crate::TextEnum for $name {
        const ALL: &'static [Self] = &[$(Self::$variant),*];
        fn as_str(self) -> &'static str { match self { $(Self::$variant => $text),* } }
    }
    impl std::fmt::Display for $name {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.pad($crate::TextEnum::as_str(*self)) }
    }
    impl $crate::serde::Serialize for $name {
        fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str($crate::TextEnum::as_str(*self))
        }
    }
    impl<'de> $crate::serde::Deserialize<'de> for $name {
        fn deserialize<D: $crate::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = <std::borrow::Cow<'de, str> as $crate::serde::Deserialize>::deserialize(deserializer)?;
            <Self as $crate::TextEnum>::find(&text)
                .ok_or_else(|| $crate::serde::de::Error::custom(format!("unknown {}: {text}", stringify!($name))))
        }
    }
    impl<DB: $crate::diesel::backend::Backend> $crate::diesel::serialize::ToSql<$crate::diesel::sql_types::Text, DB> for $name
    where str: $crate::diesel::serialize::ToSql<$crate::diesel::sql_types::Text, DB> {
        fn to_sql<'b>(&'b self, out: &mut $crate::diesel::serialize::Output<'b, '_, DB>) -> $crate::diesel::serialize::Result {
            <str as $crate::diesel::serialize::ToSql<_, DB>>::to_sql($crate::TextEnum::as_str(*self), out)
        }
    }
    impl<DB: $crate::diesel::backend::Backend> $crate::diesel::deserialize::FromSql<$crate::diesel::sql_types::Text, DB> for $name
    where String: $crate::diesel::deserialize::FromSql<$crate::diesel::sql_types::Text, DB> {
        fn from_sql(raw: DB::RawValue<'_>) -> $crate::diesel::deserialize::Result<Self> {
            let text = <String as $crate::diesel::deserialize::FromSql<_, DB>>::from_sql(raw)?;
            <Self as $crate::TextEnum>::find(&text).ok_or_else(|| format!("unknown {}: {text}", stringify!($name)).into())
        }
    }
} }
