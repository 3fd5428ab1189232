//! Finding and keeping groups and personal namespaces.

use std::collections::HashMap;

use db::{
    Tx, each_backend, error,
    schema::{namespace_access, namespaces, project_access, projects, redirects},
};
use diesel::{dsl::exists, prelude::*};
use kernel::{
    Result, Visibility,
    ids::{NamespaceId, ProjectId, UserId},
};

use super::{GroupDetails, Kind, Namespace};

/// Of a namespace and of what is inside it, when it moves.
#[derive(Clone, Debug)]
pub struct NewPlace {
    pub name: String,
    pub path: String,
    pub full_path: String,
    pub full_name: String,
}

pub trait NamespaceStore {
    fn namespace(&mut self, id: NamespaceId) -> Result<Namespace>;
    fn find_namespace(&mut self, id: NamespaceId) -> Result<Option<Namespace>>;
    /// The names of all namespaces of a page at once.
    fn namespace_names(&mut self, ids: &[NamespaceId]) -> Result<HashMap<NamespaceId, String>>;
    /// By full path; letter case does not matter, and paths it had before count too.
    fn find_namespace_at(&mut self, full_path: &str) -> Result<Option<Namespace>>;
    fn personal_namespace(&mut self, user: UserId) -> Result<Option<Namespace>>;
    /// Whether a group, a person or a project has the full path now.
    fn is_path_taken(&mut self, full_path: &str) -> Result<bool>;
    /// Whether another group under the same parent has the name.
    fn is_name_taken(
        &mut self,
        parent: NamespaceId,
        name: &str,
        own: Option<NamespaceId>,
    ) -> Result<bool>;
    fn insert_group(
        &mut self,
        details: &GroupDetails,
        parent: Option<&Namespace>,
    ) -> Result<Namespace>;
    fn keep_group(&mut self, id: NamespaceId, details: &GroupDetails) -> Result<()>;
    fn move_namespace(&mut self, id: NamespaceId, place: &NewPlace) -> Result<()>;
    fn child_groups(&mut self, id: NamespaceId) -> Result<Vec<Namespace>>;
    /// Id, name, path and old full path of every project directly inside.
    fn child_projects(
        &mut self,
        id: NamespaceId,
    ) -> Result<Vec<(ProjectId, String, String, String)>>;
    /// Gives a project its new place and leaves a sign at the old one.
    fn move_project(&mut self, id: ProjectId, old_path: &str, place: &NewPlace) -> Result<()>;
    /// The most visible project and the most visible subgroup directly inside.
    fn visibility_inside(
        &mut self,
        id: NamespaceId,
    ) -> Result<(Option<Visibility>, Option<Visibility>)>;
    /// Hides a namespace and its projects at once and frees their paths.
    fn hide_namespace(&mut self, namespace: &Namespace) -> Result<()>;
}

impl NamespaceStore for Tx<'_> {
    fn namespace(&mut self, id: NamespaceId) -> Result<Namespace> {
        let query = namespaces::table.find(id).filter(namespaces::deleted_at.is_null());
        each_backend!(self, |conn| query
            .select(Namespace::as_select())
            .get_result(conn)
            .map_err(error("Namespace")))
    }

    fn find_namespace(&mut self, id: NamespaceId) -> Result<Option<Namespace>> {
        let query = namespaces::table.find(id).filter(namespaces::deleted_at.is_null());
        each_backend!(self, |conn| query
            .select(Namespace::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Namespace")))
    }

    fn namespace_names(&mut self, ids: &[NamespaceId]) -> Result<HashMap<NamespaceId, String>> {
        let rows: Vec<(NamespaceId, String)> = each_backend!(self, |conn| namespaces::table
            .filter(namespaces::id.eq_any(ids))
            .select((namespaces::id, namespaces::name))
            .load(conn)
            .map_err(error("Namespace")))?;
        Ok(rows.into_iter().collect())
    }

    fn find_namespace_at(&mut self, full_path: &str) -> Result<Option<Namespace>> {
        let key = full_path.to_lowercase();
        let query = namespaces::table
            .filter(namespaces::path_key.eq(&key))
            .filter(namespaces::deleted_at.is_null());
        let found: Option<Namespace> = each_backend!(self, |conn| query
            .select(Namespace::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Namespace")))?;
        if found.is_some() {
            return Ok(found);
        }
        let moved = redirects::table
            .inner_join(namespaces::table)
            .filter(redirects::path_key.eq(&key))
            .filter(namespaces::deleted_at.is_null());
        each_backend!(self, |conn| moved
            .select(Namespace::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Namespace")))
    }

    fn personal_namespace(&mut self, user: UserId) -> Result<Option<Namespace>> {
        let query = namespaces::table.filter(namespaces::owner_id.eq(user));
        each_backend!(self, |conn| query
            .select(Namespace::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Namespace")))
    }

    fn is_path_taken(&mut self, full_path: &str) -> Result<bool> {
        let key = full_path.to_lowercase();
        let group = exists(namespaces::table.filter(namespaces::path_key.eq(&key)));
        let project = exists(projects::table.filter(projects::path_key.eq(&key)));
        each_backend!(self, |conn| diesel::select(group.or(project))
            .get_result(conn)
            .map_err(error("Namespace")))
    }

    fn is_name_taken(
        &mut self,
        parent: NamespaceId,
        name: &str,
        own: Option<NamespaceId>,
    ) -> Result<bool> {
        let siblings = namespaces::table
            .filter(namespaces::parent_id.eq(parent))
            .filter(namespaces::name.eq(name))
            .filter(namespaces::deleted_at.is_null())
            .filter(namespaces::id.ne(own.unwrap_or(NamespaceId(0))));
        each_backend!(self, |conn| diesel::select(exists(siblings))
            .get_result(conn)
            .map_err(error("Namespace")))
    }

    fn insert_group(
        &mut self,
        details: &GroupDetails,
        parent: Option<&Namespace>,
    ) -> Result<Namespace> {
        let full_path = joined(parent.map(|parent| parent.full_path.as_str()), "/", &details.path);
        let full_name =
            joined(parent.map(|parent| parent.full_name.as_str()), " / ", &details.name);
        let row = (
            namespaces::kind.eq(Kind::Group),
            namespaces::name.eq(&details.name),
            namespaces::path.eq(&details.path),
            namespaces::path_key.eq(full_path.to_lowercase()),
            namespaces::full_path.eq(full_path),
            namespaces::full_name.eq(full_name),
            namespaces::parent_id.eq(parent.map(|parent| parent.id)),
            namespaces::visibility.eq(details.visibility),
            namespaces::description.eq(&details.description),
            namespaces::default_branch_protection.eq(details.default_branch_protection),
            namespaces::project_creation_level.eq(details.project_creation_level.to_string()),
            namespaces::subgroup_creation_level.eq(details.subgroup_creation_level.to_string()),
            namespaces::settings.eq(settings_text(details)?),
            namespaces::created_at.eq(self.now),
            namespaces::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(namespaces::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Namespace::as_returning())
            .get_result(conn)
            .map_err(error("Group")))
    }

    fn keep_group(&mut self, id: NamespaceId, details: &GroupDetails) -> Result<()> {
        let changes = (
            namespaces::visibility.eq(details.visibility),
            namespaces::description.eq(&details.description),
            namespaces::default_branch_protection.eq(details.default_branch_protection),
            namespaces::project_creation_level.eq(details.project_creation_level.to_string()),
            namespaces::subgroup_creation_level.eq(details.subgroup_creation_level.to_string()),
            namespaces::settings.eq(settings_text(details)?),
            namespaces::updated_at.eq(self.now),
        );
        let update = diesel::update(namespaces::table.find(id)).set(changes);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Group")))?;
        Ok(())
    }

    fn move_namespace(&mut self, id: NamespaceId, place: &NewPlace) -> Result<()> {
        let changes = (
            namespaces::name.eq(&place.name),
            namespaces::path.eq(&place.path),
            namespaces::path_key.eq(place.full_path.to_lowercase()),
            namespaces::full_path.eq(&place.full_path),
            namespaces::full_name.eq(&place.full_name),
            namespaces::updated_at.eq(self.now),
        );
        let update = diesel::update(namespaces::table.find(id)).set(changes);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Group")))?;
        Ok(())
    }

    fn child_groups(&mut self, id: NamespaceId) -> Result<Vec<Namespace>> {
        let query = namespaces::table
            .filter(namespaces::parent_id.eq(id))
            .filter(namespaces::deleted_at.is_null())
            .order_by(namespaces::id);
        each_backend!(self, |conn| query
            .select(Namespace::as_select())
            .load(conn)
            .map_err(error("Group")))
    }

    fn child_projects(
        &mut self,
        id: NamespaceId,
    ) -> Result<Vec<(ProjectId, String, String, String)>> {
        let query = projects::table
            .filter(projects::namespace_id.eq(id))
            .filter(projects::deleted_at.is_null())
            .order_by(projects::id)
            .select((projects::id, projects::name, projects::path, projects::full_path));
        each_backend!(self, |conn| query.load(conn).map_err(error("Project")))
    }

    fn move_project(&mut self, id: ProjectId, old_path: &str, place: &NewPlace) -> Result<()> {
        let key = place.full_path.to_lowercase();
        let changes = (
            projects::path_key.eq(&key),
            projects::full_path.eq(&place.full_path),
            projects::full_name.eq(&place.full_name),
            projects::updated_at.eq(self.now),
        );
        let update = diesel::update(projects::table.find(id)).set(changes);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Project")))?;
        if old_path.to_lowercase() == key {
            return Ok(());
        }
        let leads = redirects::project_id.eq(Some(id));
        let sign = diesel::insert_into(redirects::table)
            .values((redirects::path_key.eq(old_path.to_lowercase()), leads))
            .on_conflict(redirects::path_key)
            .do_update()
            .set(leads);
        each_backend!(self, |conn| sign.execute(conn).map_err(error("Project")))?;
        Ok(())
    }

    fn visibility_inside(
        &mut self,
        id: NamespaceId,
    ) -> Result<(Option<Visibility>, Option<Visibility>)> {
        let inner = projects::table
            .filter(projects::namespace_id.eq(id))
            .filter(projects::deleted_at.is_null())
            .select(projects::visibility)
            .distinct();
        let inner: Vec<Visibility> =
            each_backend!(self, |conn| inner.load(conn).map_err(error("Project")))?;
        let groups = namespaces::table
            .filter(namespaces::parent_id.eq(id))
            .filter(namespaces::deleted_at.is_null())
            .select(namespaces::visibility)
            .distinct();
        let groups: Vec<Visibility> =
            each_backend!(self, |conn| groups.load(conn).map_err(error("Group")))?;
        Ok((inner.into_iter().max(), groups.into_iter().max()))
    }

    fn hide_namespace(&mut self, namespace: &Namespace) -> Result<()> {
        let id = namespace.id;
        for (project, _, _, path) in self.child_projects(id)? {
            let changes = (
                projects::path_key.eq(freed(&path, project.0)),
                projects::deleted_at.eq(Some(self.now)),
                projects::updated_at.eq(self.now),
            );
            let update = diesel::update(projects::table.find(project)).set(changes);
            each_backend!(self, |conn| update.execute(conn).map_err(error("Project")))?;
            let access = project_access::table.filter(project_access::project_id.eq(project));
            each_backend!(self, |conn| diesel::delete(access)
                .execute(conn)
                .map_err(error("Project")))?;
        }
        let changes = (
            namespaces::path_key.eq(freed(&namespace.full_path, id.0)),
            namespaces::owner_id.eq(None::<UserId>),
            namespaces::deleted_at.eq(Some(self.now)),
            namespaces::updated_at.eq(self.now),
        );
        let update = diesel::update(namespaces::table.find(id)).set(changes);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Group")))?;
        let access = namespace_access::table.filter(namespace_access::namespace_id.eq(id));
        each_backend!(self, |conn| diesel::delete(access).execute(conn).map_err(error("Group")))?;
        Ok(())
    }
}

/// No path holds two slashes, so nobody else ever wants this one.
fn freed(full_path: &str, id: i64) -> String {
    format!("{}//{id}", full_path.to_lowercase())
}

/// `parent/child`, or the child alone at the top.
pub(crate) fn joined(parent: Option<&str>, between: &str, child: &str) -> String {
    match parent {
        Some(parent) => format!("{parent}{between}{child}"),
        None => child.to_owned(),
    }
}

fn settings_text(details: &GroupDetails) -> Result<String> {
    serde_json::to_string(&details.settings).map_err(kernel::Error::internal)
}
