//! Projects, as the caller sees them.

use std::{collections::HashMap, sync::Arc};

use db::Tx;
use forge::urls::Urls;
use graphql::{Failure, Page, Value};
use kernel::{
    Ability, Actor, Error, Grant, Standing,
    access::{Project, ProjectFacts},
    ids::ProjectId,
};
use org::{
    access::{IdOrPath, locate_project, locate_projects},
    project::{self, Detail, ProjectView, Settings, store::ProjectStore as _, view},
};
use review::issue::open_count::OpenIssueStore as _;

use crate::{
    entities::org::project::{ProjectEntity, ProjectForm},
    graphql::{
        context::Context,
        failure::visible,
        loaders::{BatchLoader, Loaders},
        numbered_list::NumberedList,
    },
};

/// A project as the caller sees it.
#[derive(Debug)]
pub struct ProjectRecord {
    /// The full form, with statistics.
    pub shown: ProjectView,
    pub facts: Arc<ProjectFacts>,
    pub who: Standing,
    /// What REST tells of it.
    pub(super) entity: Box<ProjectEntity>,
}

impl ProjectRecord {
    pub fn id(&self) -> ProjectId {
        self.shown.project.id
    }

    /// The proof that the caller may do something in the project.
    ///
    /// # Errors
    /// When they may not.
    pub fn grant<A: Ability<Scope = Project>>(&self) -> kernel::Result<Grant<A>> {
        if !A::OPEN && !self.who.signed_in() {
            return Err(Error::unauthenticated());
        }
        Grant::check(&self.who, Project(self.facts.clone()))
    }

    pub fn may<A: Ability<Scope = Project>>(&self) -> bool {
        self.grant::<A>().is_ok()
    }

    /// The address of the project's page.
    pub fn web_url(&self) -> &str {
        &self.entity.basic.web_url
    }

    /// What the project is set to.
    pub fn settings(&self) -> Option<&Settings> {
        self.shown.full.as_ref().map(|full| &full.settings)
    }

    /// Those of these projects that the actor sees.
    fn seen(
        tx: &mut Tx<'_>,
        actor: Actor,
        urls: &Urls,
        ids: &[ProjectId],
    ) -> kernel::Result<HashMap<ProjectId, Arc<Self>>> {
        let located = locate_projects(tx, actor, ids)?.into_iter();
        let mut scopes: HashMap<ProjectId, (Project, Standing)> =
            located.map(|(scope, who)| (scope.0.id, (scope, who))).collect();
        let ids: Vec<ProjectId> = scopes.keys().copied().collect();
        let rows = tx.projects_by_id(&ids)?;
        let open = tx.open_issues(&ids)?;
        let shown = view::page(tx, actor, rows, Detail::Full { statistics: true })?.into_iter();
        let records = shown.filter_map(|shown| {
            let id = shown.project.id;
            let (scope, who) = scopes.remove(&id)?;
            let shown = ProjectView { who, ..shown };
            let ProjectForm::Full(entity) = ProjectForm::new(urls, &shown, &open) else {
                return None;
            };
            Some((id, Arc::new(Self { shown, facts: scope.0, who, entity })))
        });
        Ok(records.collect())
    }
}

/// Loads projects as the caller sees them.
struct ProjectLoader(BatchLoader<ProjectId, Arc<ProjectRecord>>);

impl ProjectLoader {
    fn of(loaders: &Loaders, actor: Actor, urls: &Urls) -> Arc<Self> {
        loaders.of(|db| {
            let urls = urls.clone();
            Self(BatchLoader::new(db, move |tx, ids| ProjectRecord::seen(tx, actor, &urls, ids)))
        })
    }
}

pub fn project(record: Arc<ProjectRecord>) -> Value {
    Value::object("Project", record)
}

/// A project by id; null where the caller does not see it.
///
/// # Errors
/// When the database failed.
pub async fn of_id(context: &Context, id: ProjectId) -> Result<Value, Failure> {
    Ok(record_of(context, id).await?.map_or(Value::Null, project))
}

/// As [`of_id`], of the record itself.
///
/// # Errors
/// When the database failed.
pub async fn record_of(
    context: &Context,
    id: ProjectId,
) -> Result<Option<Arc<ProjectRecord>>, Failure> {
    let loader = ProjectLoader::of(&context.loaders, context.actor(), &context.app.urls);
    loader.0.load(id).await
}

/// The project that a mutation names.
///
/// # Errors
/// `NotFoundOrForbidden` where the caller does not see one of that path.
pub async fn named(context: &Context, path: &str) -> Result<Arc<ProjectRecord>, Failure> {
    let (actor, urls) = (context.actor(), context.app.urls.clone());
    let path = IdOrPath::Path(path.to_owned());
    // Not from the loader: an earlier mutation of the request may have changed the project.
    let found = context.app.db.read(move |tx| {
        let (scope, _) = locate_project(tx, actor, &path)?;
        Ok(ProjectRecord::seen(tx, actor, &urls, &[scope.0.id])?.remove(&scope.0.id))
    });
    visible(found.await)?.flatten().ok_or(Failure::NotFoundOrForbidden)
}

/// A project by its full path, where the caller sees it.
///
/// # Errors
/// When the database failed.
pub async fn find(context: &Context, path: &str) -> Result<Option<Arc<ProjectRecord>>, Failure> {
    let (actor, path) = (context.actor(), IdOrPath::Path(path.to_owned()));
    let found = context.app.db.peek(move |tx| locate_project(tx, actor, &path)).await;
    match visible(found)? {
        Some((scope, _)) => record_of(context, scope.0.id).await,
        None => Ok(None),
    }
}

/// A page of projects, of which those are left out that the caller does not see.
///
/// # Errors
/// When the database failed.
pub async fn connection(
    context: &Context,
    page: &Page,
    found: NumberedList<project::Project>,
) -> Result<Value, Failure> {
    let found = found.load_each(|found| record_of(context, found.id)).await?;
    Ok(found.connection(page, |found| found.map_or(Value::Null, project)).into())
}

/// A number of bytes, as a float.
pub fn bytes(number: i64) -> Value {
    // Exact up to petabytes.
    #[expect(
        clippy::as_conversions,
        clippy::cast_precision_loss,
        reason = "sizes are floats in the schema"
    )]
    let number = number as f64;
    number.into()
}
