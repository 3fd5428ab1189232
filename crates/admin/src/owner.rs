//! The owner of an integration or a webhook.

use kernel::{
    Grant, Result,
    access::Administrate,
    audit::AuditPlace,
    ids::{NamespaceId, ProjectId, UserId},
};

use crate::policy::{AdminGroupHooks, AdminGroupIntegrations, AdminHooks, AdminIntegrations};

/// A project, a group, or the whole installation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Project(ProjectId),
    Group(NamespaceId),
    Instance,
}

impl Owner {
    /// From the columns of a row.
    pub fn of(project: Option<ProjectId>, group: Option<NamespaceId>) -> Self {
        match (project, group) {
            (Some(project), _) => Self::Project(project),
            (None, Some(group)) => Self::Group(group),
            (None, None) => Self::Instance,
        }
    }

    /// As the columns of a row.
    pub fn columns(self) -> (Option<ProjectId>, Option<NamespaceId>) {
        match self {
            Self::Project(project) => (Some(project), None),
            Self::Group(group) => (None, Some(group)),
            Self::Instance => (None, None),
        }
    }

    /// Where audit events of what it has are found.
    pub(crate) fn audit_place(self) -> AuditPlace {
        match self {
            Self::Project(project) => AuditPlace::Project(project),
            Self::Group(group) => AuditPlace::Group(group),
            Self::Instance => AuditPlace::Instance,
        }
    }

    /// Its name in the place for which a secret is sealed.
    pub(crate) fn place(self) -> String {
        match self {
            Self::Project(project) => format!("project/{project}"),
            Self::Group(group) => format!("group/{group}"),
            Self::Instance => "instance".to_owned(),
        }
    }
}

/// Proof that somebody may change the webhooks of a home.
pub trait HookKeeper {
    fn home(&self) -> Owner;
    fn keeper(&self) -> Result<UserId>;
}

/// Proof that somebody may change the integrations of a home.
pub trait IntegrationKeeper {
    fn home(&self) -> Owner;
}

impl HookKeeper for Grant<AdminHooks> {
    fn home(&self) -> Owner {
        Owner::Project(self.project())
    }

    fn keeper(&self) -> Result<UserId> {
        self.user()
    }
}

impl HookKeeper for Grant<AdminGroupHooks> {
    fn home(&self) -> Owner {
        Owner::Group(self.group())
    }

    fn keeper(&self) -> Result<UserId> {
        self.user()
    }
}

impl HookKeeper for Grant<Administrate> {
    fn home(&self) -> Owner {
        Owner::Instance
    }

    fn keeper(&self) -> Result<UserId> {
        self.user()
    }
}

impl IntegrationKeeper for Grant<AdminIntegrations> {
    fn home(&self) -> Owner {
        Owner::Project(self.project())
    }
}

impl IntegrationKeeper for Grant<AdminGroupIntegrations> {
    fn home(&self) -> Owner {
        Owner::Group(self.group())
    }
}

impl IntegrationKeeper for Grant<Administrate> {
    fn home(&self) -> Owner {
        Owner::Instance
    }
}
