//! The namespace of a project: permission to create one there, path conflicts and transfers.

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{namespaces, projects, redirects},
};
use diesel::{dsl::exists, prelude::*, select};
use kernel::{
    AccessLevel, Actor, Error, FieldErrors, Result, Visibility,
    ids::{NamespaceId, ProjectId},
};

use super::{
    Project, Settings,
    change::{self, Columns, FeatureChange},
    event::Event,
    settings::SettingsStore,
};
use crate::{
    access::{self, changes, seats},
    member,
    namespace::{Kind, Namespace, runners::SharedRunners},
    user::User,
};

const TAKEN: &str = "has already been taken";

/// Whether it is the actor's personal namespace.
pub(super) fn is_own(actor: Actor, home: &Namespace) -> bool {
    home.kind == Kind::User && actor.id.is_some() && home.owner_id == actor.id
}

/// Whether the actor may put projects into a namespace. External people make none, whatever their role.
pub fn may_create_in(tx: &mut Tx<'_>, actor: Actor, home: &Namespace) -> Result<bool> {
    if actor.admin || actor.external || home.kind == Kind::User {
        return Ok(may_create_with(actor, AccessLevel::NoAccess, home));
    }
    let level = access::level_in_namespace(tx, actor, home.id)?;
    Ok(may_create_with(actor, level, home))
}

/// As [`may_create_in`], where the actor's role in the namespace is known.
pub fn may_create_with(actor: Actor, level: AccessLevel, home: &Namespace) -> bool {
    if actor.admin {
        return true;
    }
    if actor.external {
        return false;
    }
    match (home.kind, home.project_creation_level.as_str()) {
        (Kind::User, _) => is_own(actor, home),
        (Kind::Group, "noone") => false,
        (Kind::Group, "developer") => level >= AccessLevel::Developer,
        (Kind::Group, _) => level >= AccessLevel::Maintainer,
    }
}

/// Refuses a further project in the personal namespace of somebody who has enough.
pub fn ensure_room(tx: &mut Tx<'_>, owner: &User, home: &Namespace) -> Result<()> {
    if home.kind != Kind::User || home.owner_id != Some(owner.id) {
        return Ok(());
    }
    let limit = if owner.external && !owner.admin { 0 } else { owner.projects_limit };
    let own = projects::table
        .filter(projects::namespace_id.eq(home.id))
        .filter(projects::deleted_at.is_null())
        .count();
    let count: i64 = each_backend!(tx, |conn| own.get_result(conn).map_err(error("Project")))?;
    match limit {
        limit if count < limit => Ok(()),
        0 => Err(Error::forbidden().limit("Personal project creation is not allowed. Please contact your administrator with questions")),
        limit => Err(Error::forbidden().limit(format!(
            "Your project limit is {limit} projects! Please contact your administrator to increase it"
        ))),
    }
}

/// Which of name and path another project of the namespace, or a group below it, already has.
pub(super) fn taken(
    tx: &mut Tx<'_>,
    home: &Namespace,
    name: &str,
    path: &str,
    except: Option<ProjectId>,
) -> Result<FieldErrors> {
    let key = format!("{}/{path}", home.full_path).to_lowercase();
    let except = except.unwrap_or(ProjectId(0));
    let same_name = projects::table
        .filter(projects::name.eq(name))
        .filter(projects::namespace_id.eq(home.id))
        .filter(projects::deleted_at.is_null())
        .filter(projects::id.ne(except));
    let same_path =
        projects::table.filter(projects::path_key.eq(&key)).filter(projects::id.ne(except));
    let group = namespaces::table.filter(namespaces::path_key.eq(&key));
    let (name, path): (bool, bool) =
        each_backend!(tx, |conn| select((exists(same_name), exists(same_path)))
            .get_result(conn)
            .map_err(error("Project")))?;
    let group: bool =
        each_backend!(tx, |conn| select(exists(group)).get_result(conn).map_err(error("Group")))?;
    let mut found = FieldErrors::new();
    let text = || vec![TAKEN.to_owned()];
    if name {
        found.push(("project_namespace.name".to_owned(), text()));
        found.push(("name".to_owned(), text()));
    }
    if path || group {
        found.push(("path".to_owned(), text()));
    }
    Ok(found)
}

/// The most visible that a project in this namespace may be.
pub fn most_visible(home: &Namespace) -> Visibility {
    match home.kind {
        Kind::User => Visibility::Public,
        Kind::Group => home.visibility,
    }
}

/// Gives a project another address; the old one keeps leading to it.
pub(super) fn move_to_address(
    tx: &mut Tx<'_>,
    project: &Project,
    home: &Namespace,
    name: &str,
    path: &str,
) -> Result<Project> {
    let full_path = format!("{}/{path}", home.full_path);
    let (old_key, key) = (project.full_path.to_lowercase(), full_path.to_lowercase());
    if old_key != key {
        free_address(tx, &key)?;
        free_address(tx, &old_key)?;
        let redirect =
            (redirects::path_key.eq(&old_key), redirects::project_id.eq(Some(project.id)));
        each_backend!(tx, |conn| diesel::insert_into(redirects::table)
            .values(redirect)
            .execute(conn)
            .map_err(error("Project")))?;
    }
    let columns = Columns {
        namespace_id: Some(home.id),
        name: Some(name.to_owned()),
        path: Some(path.to_owned()),
        full_name: Some(format!("{} / {name}", home.full_name)),
        full_path: Some(full_path),
        path_key: Some(key),
        ..Columns::default()
    };
    let settled = change::update(tx, project.id, columns, FeatureChange::default())?;
    if settled.full_path != project.full_path {
        tx.mention(Event::ProjectMoved {
            project: project.id,
            old_path: project.full_path.clone(),
            transferred: project.namespace_id != home.id,
        });
    }
    Ok(settled)
}

/// An address that something now has leads nowhere else any more.
pub(super) fn free_address(tx: &mut Tx<'_>, key: &str) -> Result<()> {
    let old = redirects::table.filter(redirects::path_key.eq(key));
    each_backend!(tx, |conn| diesel::delete(old).execute(conn).map_err(error("Project")))?;
    Ok(())
}

/// Why a project cannot move, in the form that clients know.
fn stays(why: &str) -> Error {
    Error::bad_request()
        .whole(format!("Failed to transfer project {{:new_namespace=>[\"{why}\"]}}"))
}

/// Moves a project into another namespace. A group that shows less makes the project show less, too.
pub(super) fn move_to(
    tx: &mut Tx<'_>,
    actor: Actor,
    project: &Project,
    home: &Namespace,
) -> Result<Project> {
    if project.namespace_id == home.id {
        return Err(stays("Project is already in this namespace."));
    }
    if !may_create_in(tx, actor, home)? {
        return Err(stays("You don't have permission to transfer projects into that namespace."));
    }
    if !taken(tx, home, &project.name, &project.path, Some(project.id))?.is_empty() {
        return Err(stays("Project with same name or path in target namespace already exists"));
    }
    seats::leaves(tx, &project.full_path)?;
    let mut moved = move_to_address(tx, project, home, &project.name, &project.path)?;
    if moved.visibility > most_visible(home) {
        let columns = Columns { visibility: Some(most_visible(home)), ..Columns::default() };
        moved = change::update(tx, project.id, columns, FeatureChange::default())?;
    }
    if home.settings().shared_runners_setting() == SharedRunners::DisabledAndUnoverridable {
        let settings = tx.project_settings(project.id)?;
        tx.save_settings(project.id, &Settings { shared_runners_enabled: false, ..settings })?;
    }
    member::steps::ensure_owner(tx, project.id, home.owner_id)?;
    access::refresh_project(tx, project.id)?;
    changes::groups(tx)?;
    Ok(moved)
}

pub trait HomeStore {
    fn namespaces_by_id(
        &mut self,
        ids: &[NamespaceId],
    ) -> Result<std::collections::BTreeMap<NamespaceId, Namespace>>;
}

impl HomeStore for Tx<'_> {
    fn namespaces_by_id(
        &mut self,
        ids: &[NamespaceId],
    ) -> Result<std::collections::BTreeMap<NamespaceId, Namespace>> {
        let rows: Vec<Namespace> = each_backend!(self, |conn| namespaces::table
            .filter(namespaces::id.one_of(ids))
            .select(Namespace::as_select())
            .load(conn)
            .map_err(error("Namespace")))?;
        Ok(rows.into_iter().map(|namespace| (namespace.id, namespace)).collect())
    }
}
