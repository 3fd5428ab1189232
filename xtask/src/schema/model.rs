//! A table as both databases can tell it.

/// What diesel keeps its own record in; no table of ours.
pub(super) const RECORD: &str = "__diesel_schema_migrations";

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) key: Vec<String>,
    pub(crate) columns: Vec<Column>,
    pub(super) references: Vec<Reference>,
    pub(super) indexes: Vec<Index>,
}

#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// diesel's name of the type
    pub(super) sql_type: &'static str,
    pub(super) nullable: bool,
}

/// A foreign key.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reference {
    pub(super) columns: Vec<String>,
    pub(super) table: String,
    pub(super) on_delete: String,
}

/// A named index; those that stand for a constraint are not listed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Index {
    pub(crate) name: String,
    pub(super) unique: bool,
    pub(super) columns: Vec<String>,
}

impl Column {
    pub(super) fn type_text(&self) -> String {
        if self.nullable {
            format!("Nullable<{}>", self.sql_type)
        } else {
            self.sql_type.to_owned()
        }
    }
}
