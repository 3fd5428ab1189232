//! Projects, as the caller sees them.

use std::{collections::HashMap, sync::Arc};

use db::Tx;
use entities::org::project::{ProjectEntity, ProjectForm};
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
    context::Context,
    failure::visible,
    loaders::{BatchLoader, Loaders},
    numbered_list::NumberedList,
};

/// A project as the caller sees it.
#[derive(Debug)]
pub struct ProjectRecord {
    pub project: project::Project,
    pub facts: Arc<ProjectFacts>,
    pub who: Standing,
    web_url: String,
    /// Read with the record, where it may not come from the loader.
    complete: Option<Arc<CompleteProject>>,
}

/// Project details beside its row, loaded when a field needs them.
#[derive(Debug)]
pub struct CompleteProject {
    /// The full form, with statistics.
    pub(super) shown: ProjectView,
    /// What REST tells of it.
    pub(super) entity: Box<ProjectEntity>,
}

impl CompleteProject {
    /// What the project is set to.
    pub fn settings(&self) -> Option<&Settings> {
        self.shown.full.as_ref().map(|full| &full.settings)
    }

    /// Of these projects, as the actor sees them.
    fn seen(
        tx: &mut Tx<'_>,
        actor: Actor,
        urls: &Urls,
        ids: &[ProjectId],
    ) -> kernel::Result<HashMap<ProjectId, Arc<Self>>> {
        let located = locate_projects(tx, actor, ids)?.into_iter();
        let standings: HashMap<ProjectId, Standing> =
            located.map(|(scope, who)| (scope.0.id, who)).collect();
        let ids: Vec<ProjectId> = standings.keys().copied().collect();
        let rows = tx.projects_by_id(&ids)?;
        let open = tx.open_issues(&ids)?;
        let shown = view::page(tx, actor, rows, Detail::Full { statistics: true })?.into_iter();
        let records = shown.filter_map(|shown| {
            let who = *standings.get(&shown.project.id)?;
            let shown = ProjectView { who, ..shown };
            let ProjectForm::Full(entity) = ProjectForm::new(urls, &shown, &open) else {
                return None;
            };
            Some((shown.project.id, Arc::new(Self { shown, entity })))
        });
        Ok(records.collect())
    }
}

impl ProjectRecord {
    fn new(urls: &Urls, project: project::Project, (scope, who): (Project, Standing)) -> Self {
        let web_url = urls.at(&project.full_path);
        Self { project, facts: scope.0, who, web_url, complete: None }
    }

    pub fn id(&self) -> ProjectId {
        self.project.id
    }

    /// All that the project's page tells; none when the project is gone meanwhile.
    ///
    /// # Errors
    /// When the database failed.
    pub async fn complete(
        &self,
        context: &Context,
    ) -> Result<Option<Arc<CompleteProject>>, Failure> {
        if let Some(known) = &self.complete {
            return Ok(Some(known.clone()));
        }
        let (actor, urls) = (context.actor(), context.forge.urls.clone());
        let loader = context.loaders.of(|db| {
            CompleteProjectLoader(BatchLoader::new(db, move |tx, ids| {
                CompleteProject::seen(tx, actor, &urls, ids)
            }))
        });
        loader.0.load(self.id()).await
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

    /// Whether the project has all these topics.
    ///
    /// # Errors
    /// When the database failed.
    pub async fn is_about(&self, context: &Context, topics: &[String]) -> Result<bool, Failure> {
        let complete = self.complete(context).await?;
        let own = complete.as_ref().map_or(&[][..], |complete| &complete.shown.topics);
        Ok(topics.iter().all(|topic| own.contains(topic)))
    }

    /// The address of the project's page.
    pub fn web_url(&self) -> &str {
        &self.web_url
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
        let rows = tx.projects_by_id(&ids)?.into_iter();
        let records = rows.filter_map(|row| {
            let scope = scopes.remove(&row.id)?;
            Some((row.id, Arc::new(Self::new(urls, row, scope))))
        });
        Ok(records.collect())
    }
}

/// Loads what pages of projects tell.
struct CompleteProjectLoader(BatchLoader<ProjectId, Arc<CompleteProject>>);

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
    let loader = ProjectLoader::of(&context.loaders, context.actor(), &context.forge.urls);
    loader.0.load(id).await
}

/// The project that a mutation names.
///
/// # Errors
/// `NotFoundOrForbidden` where the caller does not see one of that path.
pub async fn named(context: &Context, path: &str) -> Result<Arc<ProjectRecord>, Failure> {
    let (actor, urls) = (context.actor(), context.forge.urls.clone());
    let path = IdOrPath::Path(path.to_owned());
    // Not from the loader: an earlier mutation of the request may have changed the project.
    let found = context.forge.db.read(move |tx| {
        let scope = locate_project(tx, actor, &path)?;
        let id = scope.0.0.id;
        let complete = CompleteProject::seen(tx, actor, &urls, &[id])?.remove(&id);
        let row = complete.as_ref().map(|complete| complete.shown.project.clone());
        Ok(row.map(|row| {
            Arc::new(ProjectRecord { complete, ..ProjectRecord::new(&urls, row, scope) })
        }))
    });
    visible(found.await)?.flatten().ok_or(Failure::NotFoundOrForbidden)
}

/// A project by its full path, where the caller sees it.
///
/// # Errors
/// When the database failed.
pub async fn find(context: &Context, path: &str) -> Result<Option<Arc<ProjectRecord>>, Failure> {
    let (actor, path) = (context.actor(), IdOrPath::Path(path.to_owned()));
    let urls = context.forge.urls.clone();
    let found = context.forge.db.peek(move |tx| {
        let scope = locate_project(tx, actor, &path)?;
        let row = tx.projects_by_id(&[scope.0.0.id])?.pop();
        Ok(row.map(|row| Arc::new(ProjectRecord::new(&urls, row, scope))))
    });
    Ok(visible(found.await)?.flatten())
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
