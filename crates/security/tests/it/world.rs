//! A group with two projects and a few people, and fakes of everything around alerts and vulnerabilities.

mod around;

use std::sync::Arc;

use db::{
    Tx,
    testing::{TestDatabase, rows, start},
};
use kernel::{
    Ability, AccessLevel, Actor, Clock, Grant, Result, Standing, Visibility,
    access::{Features, Instance, Project, ProjectFacts},
    ids::{NamespaceId, ProjectId, UserId},
    page::PageRequest,
};
use secrets::Vault;
use security::{
    alert::{Alert, AlertFilter, AlertStore as _, IntakeResult, NoteStore as _, Payload, receive},
    integration::{
        AlertIntegration, IntegrationKind, Mappings,
        actions::{NewIntegration, create},
    },
    policy::AdminAlerts,
};
use serde_json::Value;

pub(crate) use around::{FakeIncidents, FakeMembers};

pub(crate) struct World {
    pub(crate) maintainer: UserId,
    pub(crate) developer: UserId,
    pub(crate) reporter: UserId,
    pub(crate) group: NamespaceId,
    /// Both are in the group.
    pub(crate) project: ProjectId,
    pub(crate) other: ProjectId,
    pub(crate) around: FakeMembers,
    pub(crate) vault: Vault,
    _folder: tempfile::TempDir,
}

/// Runs a test in one transaction of a database of its own.
pub(crate) fn test(body: fn(&mut Tx<'_>, &World) -> Result<()>) {
    let database = TestDatabase::new();
    let done = database.db.write_blocking(move |tx| {
        let world = World::new(tx)?;
        body(tx, &world)
    });
    done.unwrap();
}

/// A database whose clock the test moves, with its people and projects.
pub(crate) fn with_clock() -> (TestDatabase, Arc<Clock>) {
    let clock = Arc::new(Clock::fixed(start()));
    (TestDatabase::with_clock(Arc::clone(&clock)), clock)
}

impl World {
    pub(crate) fn new(tx: &mut Tx<'_>) -> Result<Self> {
        let maintainer = rows::user(tx, "maintainer")?;
        let developer = rows::user(tx, "developer")?;
        let reporter = rows::user(tx, "reporter")?;
        let group = rows::group(tx, "group")?;
        let project = rows::project(tx, group, maintainer, "project")?;
        let other = rows::project(tx, group, maintainer, "other")?;
        let people = vec![
            (maintainer, "maintainer", AccessLevel::Maintainer),
            (developer, "developer", AccessLevel::Developer),
            (reporter, "reporter", AccessLevel::Reporter),
        ];
        let around = FakeMembers { people, projects: vec![project, other], auditors: Vec::new() };
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::find_or_make(folder.path()).unwrap();
        Ok(Self {
            maintainer,
            developer,
            reporter,
            group,
            project,
            other,
            around,
            vault,
            _folder: folder,
        })
    }

    pub(crate) fn standing(&self, user: UserId) -> Standing {
        self.around.standing(Actor { id: Some(user), ..Actor::ANONYMOUS })
    }

    /// What somebody may do in a project.
    pub(crate) fn may_in<A>(&self, project: ProjectId, user: UserId) -> Result<Grant<A>>
    where
        A: Ability<Scope = Project>,
    {
        let facts = ProjectFacts {
            id: project,
            namespace_id: self.group,
            name: "Project".to_owned(),
            full_path: "group/project".to_owned(),
            default_branch: Some("main".to_owned()),
            first_push: AccessLevel::Maintainer,
            visibility: Visibility::Public,
            archived: false,
            features: Features::ALL_ENABLED,
        };
        Grant::check(&self.standing(user), Project(Arc::new(facts)))
    }

    /// What somebody may do in the first project.
    pub(crate) fn may<A: Ability<Scope = Project>>(&self, user: UserId) -> Result<Grant<A>> {
        self.may_in(self.project, user)
    }

    /// What somebody may do in the installation.
    pub(crate) fn may_anywhere<A: Ability<Scope = Instance>>(
        &self,
        user: UserId,
    ) -> Result<Grant<A>> {
        let actor = Actor { id: Some(user), ..Actor::ANONYMOUS };
        Grant::check(&Standing::in_instance(actor), Instance)
    }

    pub(crate) fn integration_in(
        &self,
        tx: &mut Tx<'_>,
        project: ProjectId,
        kind: IntegrationKind,
    ) -> Result<AlertIntegration> {
        let grant = self.may_in::<AdminAlerts>(project, self.maintainer)?;
        create(tx, &grant, &self.vault, &integration(kind, "Monitor"))
    }

    /// An integration of the first project that takes whatever is sent.
    pub(crate) fn integration(&self, tx: &mut Tx<'_>) -> Result<AlertIntegration> {
        self.integration_in(tx, self.project, IntegrationKind::Http)
    }
}

pub(crate) fn integration(kind: IntegrationKind, name: &str) -> NewIntegration {
    NewIntegration {
        kind,
        name: name.to_owned(),
        active: true,
        mappings: Mappings::new(),
        payload_example: None,
    }
}

/// Sends a payload as a monitor that showed its key.
pub(crate) fn send(
    tx: &mut Tx<'_>,
    desk: &FakeIncidents,
    to: &AlertIntegration,
    payload: &Value,
) -> Result<IntakeResult> {
    let payload = Payload::read(payload.to_string().as_bytes()).unwrap();
    receive(tx, desk, to, &payload)
}

/// The alerts of a project, newest first.
pub(crate) fn alerts(tx: &mut Tx<'_>, project: ProjectId) -> Result<Vec<Alert>> {
    let page = PageRequest { page: 1, per_page: 100 };
    Ok(tx.alerts(project, &AlertFilter::default(), page)?.items)
}

/// What happened to an alert, oldest first.
pub(crate) fn notes(tx: &mut Tx<'_>, alert: &Alert) -> Result<Vec<String>> {
    let page = tx.alert_notes(alert.id, PageRequest::default())?;
    Ok(page.items.into_iter().rev().map(|note| note.body).collect())
}
