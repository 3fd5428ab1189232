//! Forks: projects made from others, and the ties between them.

use db::{Tx, each_backend, error, schema::projects};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Error, FieldErrors, Grant, Result, Ts, Visibility,
    ids::{NamespaceId, ProjectId},
    page::PageRequest,
};

use super::{
    FeatureChange, Project,
    change::{self, Columns},
    creation::{self, NewProject},
    event::Event,
    home, names,
    rules::ensure_storage_for_new,
    settings::SettingsStore,
    store::ProjectStore,
};
use crate::{
    access,
    member::store::MemberStore,
    namespace::{Namespace, locations, store::NamespaceStore},
    policy::{ForkProject, OwnProject},
    settings::store::SettingsStore as _,
    user::store::UserStore,
};

/// The parameters of a fork; unset ones are taken from the source.
#[derive(Clone, Debug, Default)]
pub struct Fork {
    /// The caller's own namespace where none is named.
    pub namespace: Option<NamespaceId>,
    pub name: Option<String>,
    pub path: Option<String>,
    pub description: Option<String>,
    pub visibility: Option<Visibility>,
    pub mr_default_target_self: Option<bool>,
}

/// Writes a fork down. Its repository is copied after the commit, by whoever asked.
pub fn fork(tx: &mut Tx<'_>, grant: &Grant<ForkProject>, wanted: &Fork) -> Result<Project> {
    access::lock_access_projection(tx)?;
    let source = tx.project(grant.project())?;
    let creator = grant.user()?;
    let home = target(tx, grant, &source, wanted.namespace)?;
    let maker = tx.user(creator)?;
    home::ensure_room(tx, &maker, &home)?;
    ensure_storage_for_new(grant.actor(), None, &tx.settings()?)?;
    let name = wanted.name.clone().unwrap_or_else(|| source.name.clone());
    let path = wanted.path.clone().unwrap_or_else(|| source.path.clone());
    let flaws = names::flaws(&name, &path);
    if !flaws.is_empty() {
        return Err(Error::bad_request().fields(flaws));
    }
    let taken = home::taken(tx, &home, &name, &path, None)?;
    if !taken.is_empty() {
        let told: FieldErrors =
            taken.into_iter().filter(|(field, _)| !field.contains('.')).collect();
        return Err(Error::conflict().fields(told));
    }
    let asked = wanted.visibility.unwrap_or(source.visibility);
    let new = NewProject {
        namespace_id: home.id,
        creator_id: creator,
        name,
        path,
        description: wanted.description.clone().or_else(|| source.description.clone()),
        visibility: asked.min(source.visibility).min(home::most_visible(&home)),
    };
    let made = creation::insert(tx, &new)?;
    let mut settings = tx.project_settings(source.id)?;
    settings.mr_default_target_self = wanted.mr_default_target_self.unwrap_or_default();
    settings.runners_token = creation::runners_token();
    settings.shared_runners_enabled &= home.settings().shared_runners_enabled;
    tx.save_settings(made.id, &settings)?;
    tie(tx, made.id, &source, source.features_change())
}

fn target(
    tx: &mut Tx<'_>,
    grant: &Grant<ForkProject>,
    source: &Project,
    named: Option<NamespaceId>,
) -> Result<Namespace> {
    let home = match named {
        None => tx.personal_namespace(grant.user()?)?,
        Some(id) => tx.find_namespace(id)?,
    };
    let home = home.ok_or_else(|| Error::not_found("Target Namespace"))?;
    let actor = grant.actor();
    let may = home::is_own(actor, &home) || home::may_create_in(tx, actor, &home)?;
    if may && stays_inside(tx, source, &home)? {
        Ok(home)
    } else {
        Err(Error::not_found("Target Namespace"))
    }
}

/// So many groups are offered to whoever forks a project.
const OFFERED_GROUPS: i64 = 1_000;

/// Namespaces into which the caller may fork a project: their own, then groups.
pub fn targets(
    tx: &mut Tx<'_>,
    grant: &Grant<ForkProject>,
    search: Option<&str>,
) -> Result<Vec<Namespace>> {
    let (actor, source) = (grant.actor(), tx.project(grant.project())?);
    let search = search.filter(|text| !text.trim().is_empty());
    let matches = |home: &Namespace| {
        let part = search.unwrap_or_default().to_lowercase();
        home.path.to_lowercase().contains(&part) || home.name.to_lowercase().contains(&part)
    };
    let own = tx.personal_namespace(grant.user()?)?;
    let own = own.filter(|home| home::may_create_with(actor, AccessLevel::NoAccess, home));
    let page = PageRequest { page: 1, per_page: OFFERED_GROUPS };
    let groups = locations::for_projects(tx, actor, search, page)?.items;
    let all = own.filter(matches).into_iter().chain(groups);
    let line = tx.lineage(source.namespace_id)?;
    let Some(top) = line.last().filter(|top| top.settings().prevent_forking_outside_group) else {
        return Ok(all.collect());
    };
    let inside = format!("{}/", top.full_path.to_lowercase());
    let stays =
        |home: &Namespace| home.id == top.id || home.full_path.to_lowercase().starts_with(&inside);
    Ok(all.filter(stays).collect())
}

/// Whether two projects belong to one fork network.
pub fn are_related(tx: &mut Tx<'_>, one: ProjectId, other: ProjectId) -> Result<bool> {
    let (one, other) = (tx.project(one)?, tx.project(other)?);
    Ok(root(&one) == root(&other))
}

/// The project at the root of a fork network.
fn root(project: &Project) -> ProjectId {
    project.fork_root_id.unwrap_or(project.id)
}

/// Some groups keep the forks of their projects to themselves: the one at the top says so.
fn stays_inside(tx: &mut Tx<'_>, source: &Project, home: &Namespace) -> Result<bool> {
    let line = tx.lineage(source.namespace_id)?;
    let Some(top) = line.last().filter(|top| top.settings().prevent_forking_outside_group) else {
        return Ok(true);
    };
    Ok(tx.lineage(home.id)?.last().is_some_and(|other| other.id == top.id))
}

/// Makes `project` a fork of `source`.
fn tie(
    tx: &mut Tx<'_>,
    project: ProjectId,
    source: &Project,
    features: FeatureChange,
) -> Result<Project> {
    let columns = Columns {
        forked_from_id: Some(Some(source.id)),
        fork_root_id: Some(Some(root(source))),
        ..Columns::default()
    };
    count_forks(tx, source.id, 1)?;
    change::update(tx, project, columns, features)
}

/// A fork whose repository is there: it shows the same branch and marks as its source.
pub fn finish(tx: &mut Tx<'_>, project: ProjectId) -> Result<Project> {
    let made = tx.project(project)?;
    let source = match made.forked_from_id {
        Some(id) => tx.find_project(id)?,
        None => None,
    };
    let columns = Columns {
        import_status: Some("finished".to_owned()),
        default_branch: source.as_ref().map(|source| source.default_branch.clone()),
        readme_path: source.as_ref().map(|source| source.readme_path.clone()),
        license_path: source.as_ref().map(|source| source.license_path.clone()),
        ..Columns::default()
    };
    change::update(tx, project, columns, FeatureChange::default())
}

/// Says that a project is a fork of another one that the caller may fork.
///
/// # Errors
/// `NotFound` when the source is not there for the caller; `Conflict` when the project already is a fork.
pub fn relate(tx: &mut Tx<'_>, grant: &Grant<OwnProject>, source: ProjectId) -> Result<Project> {
    let project = tx.project(grant.project())?;
    let (place, who) = access::locate_project(tx, grant.actor(), &access::IdOrPath::Id(source.0))?;
    let forkable = Grant::<ForkProject>::check(&who, place);
    forkable.map_err(|_refusal| Error::not_found("Project"))?;
    let home = tx.namespace(project.namespace_id)?;
    let level = access::level_in_namespace(tx, grant.actor(), home.id)?;
    if level < AccessLevel::Maintainer && !home::may_create_in(tx, grant.actor(), &home)? {
        return Err(Error::unauthenticated());
    }
    if project.forked_from_id.is_some() {
        return Err(Error::conflict().whole("Project already forked"));
    }
    let source = tx.project(source)?;
    if source.id == project.id {
        return Err(Error::conflict().whole("Project already forked"));
    }
    tie(tx, project.id, &source, FeatureChange::default())
}

/// Cuts the tie to the source.
///
/// # Errors
/// `Unchanged` when the project is no fork.
pub fn unrelate(
    tx: &mut Tx<'_>,
    grant: &Grant<OwnProject>,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let project = tx.project(grant.project())?;
    project.updated_at.ensure_unchanged_since(unless_newer)?;
    let source = project.forked_from_id.ok_or_else(Error::unchanged)?;
    count_forks(tx, source, -1)?;
    let columns =
        Columns { forked_from_id: Some(None), fork_root_id: Some(None), ..Columns::default() };
    change::update(tx, project.id, columns, FeatureChange::default())?;
    tx.emit(Event::NetworkLeft { project: project.id, user: grant.actor().id })
}

/// One fork more or less.
pub(super) fn count_forks(tx: &mut Tx<'_>, source: ProjectId, by: i64) -> Result<()> {
    let update = diesel::update(projects::table.find(source))
        .set(projects::forks_count.eq(projects::forks_count + by));
    each_backend!(tx, |conn| update.execute(conn).map_err(error("Project")))?;
    Ok(())
}
