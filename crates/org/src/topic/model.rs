//! A topic as it is stored.

use diesel::prelude::{Queryable, Selectable};

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::topics, check_for_backend(db::AnyBackend))]
pub struct Topic {
    pub id: i64,
    /// What projects name it by.
    pub name: String,
    /// What people read; the name where there is none.
    pub title: Option<String>,
    pub description: Option<String>,
    /// The name of the file of its picture.
    pub avatar: Option<String>,
}

impl Topic {
    pub fn shown_title(&self) -> &str {
        self.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&self.name)
    }
}

/// Which topics are wanted.
#[derive(Clone, Debug, Default)]
pub struct TopicFilter {
    /// A part of the name.
    pub search: Option<String>,
    /// Only those that no project has.
    pub without_projects: bool,
}
