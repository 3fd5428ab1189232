//! A variable as it is stored: its value sealed.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, Ts,
    ids::{NamespaceId, ProjectId, VariableId},
};
use secrets::{Secret, Vault};

use crate::pipeline::VariableType;

/// The project, group or installation that owns a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableOwner {
    Instance,
    Group(NamespaceId),
    Project(ProjectId),
}

impl VariableOwner {
    /// For what the value of a variable is sealed: it cannot be read under another name or elsewhere.
    pub(crate) fn place(self, key: &str) -> String {
        match self {
            Self::Instance => format!("variable/instance/{key}"),
            Self::Group(id) => format!("variable/group/{id}/{key}"),
            Self::Project(id) => format!("variable/project/{id}/{key}"),
        }
    }

    /// What is not there when a variable is not.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Instance => "InstanceVariable",
            Self::Group(_) => "GroupVariable",
            Self::Project(_) => "Variable",
        }
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::variables, check_for_backend(db::AnyBackend))]
pub struct Variable {
    pub id: VariableId,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub kind: VariableType,
    pub key: String,
    pub sealed: String,
    /// Only for branches and tags that are protected.
    pub protected: bool,
    /// Not shown in logs.
    pub masked: bool,
    /// Shown to nobody any more.
    pub hidden: bool,
    /// Whether names in the value are left alone.
    pub raw: bool,
    /// The name of an environment, or a pattern in which `*` stands for anything.
    pub environment_scope: String,
    pub description: Option<String>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Variable {
    pub fn home(&self) -> VariableOwner {
        match (self.project_id, self.namespace_id) {
            (Some(project), _) => VariableOwner::Project(project),
            (None, Some(group)) => VariableOwner::Group(group),
            (None, None) => VariableOwner::Instance,
        }
    }

    /// The value in clear.
    pub fn value(&self, vault: &Vault) -> Result<Secret> {
        vault.unseal(&self.home().place(&self.key), &self.sealed).map_err(Error::internal)
    }
}

/// A variable as it is asked for.
#[derive(Clone, Debug)]
pub struct NewVariable {
    pub kind: VariableType,
    pub key: String,
    pub value: Secret,
    pub protected: bool,
    pub masked: bool,
    pub hidden: bool,
    pub raw: bool,
    pub environment_scope: String,
    pub description: Option<String>,
}

/// A change; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct VariableChange {
    pub kind: Option<VariableType>,
    pub value: Option<Secret>,
    pub protected: Option<bool>,
    pub masked: Option<bool>,
    pub raw: Option<bool>,
    pub environment_scope: Option<String>,
    pub description: Option<Option<String>>,
}
