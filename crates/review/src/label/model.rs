//! A label, and which ones are asked for.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{LabelId, NamespaceId, ProjectId},
};

use crate::Home;

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::labels, check_for_backend(db::AnyBackend))]
pub struct Label {
    pub id: LabelId,
    /// Set for a project's own label; otherwise `namespace_id` is.
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub name: String,
    /// `#rrggbb`
    pub color: String,
    pub description: Option<String>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Label {
    pub fn is_of(&self, home: Home) -> bool {
        match home {
            Home::Project(id) => self.project_id == Some(id),
            Home::Group(id) => self.namespace_id == Some(id),
        }
    }
}

/// The id or title by which a caller names a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelName {
    /// All digits: an id, or the name of a label that is called so.
    Number(LabelId, String),
    Name(String),
}

impl LabelName {
    pub fn parse(text: &str) -> Self {
        match text.parse() {
            Ok(number) => Self::Number(LabelId(number), text.to_owned()),
            Err(_) => Self::Name(text.to_owned()),
        }
    }
}

/// The labels of these places.
#[derive(Clone, Debug, Default)]
pub struct LabelFilter {
    pub projects: Vec<ProjectId>,
    pub groups: Vec<NamespaceId>,
    /// A part of the name or the description.
    pub search: Option<String>,
    /// The whole name.
    pub name: Option<String>,
}

impl LabelFilter {
    /// The labels of one place.
    pub fn of(home: Home) -> Self {
        Self {
            projects: home.project().into_iter().collect(),
            groups: home.group().into_iter().collect(),
            search: None,
            name: None,
        }
    }
}
