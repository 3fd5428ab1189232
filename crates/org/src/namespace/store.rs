//! Finding and keeping groups and personal namespaces.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{namespaces, projects},
};
use diesel::{dsl::exists, prelude::*};
use kernel::{
    Result, Visibility,
    ids::{NamespaceId, UserId},
};

use super::{GroupDetails, Kind, Namespace, full_path::NewPath};

pub trait NamespaceStore {
    fn namespace(&mut self, id: NamespaceId) -> Result<Namespace>;
    fn find_namespace(&mut self, id: NamespaceId) -> Result<Option<Namespace>>;
    /// Every group that is not being deleted, the oldest first.
    fn all_groups(&mut self) -> Result<Vec<Namespace>>;
    /// The names of all namespaces of a page at once.
    fn namespace_names(&mut self, ids: &[NamespaceId]) -> Result<HashMap<NamespaceId, String>>;
    /// By the full path that it has now; letter case does not matter.
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
    fn save_group(&mut self, id: NamespaceId, details: &GroupDetails) -> Result<()>;
    /// The most visible project and the most visible subgroup directly inside.
    fn visibility_inside(
        &mut self,
        id: NamespaceId,
    ) -> Result<(Option<Visibility>, Option<Visibility>)>;
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

    fn all_groups(&mut self) -> Result<Vec<Namespace>> {
        let query = namespaces::table
            .filter(namespaces::kind.eq(Kind::Group))
            .filter(namespaces::deleted_at.is_null())
            .order(namespaces::id);
        each_backend!(self, |conn| query
            .select(Namespace::as_select())
            .load(conn)
            .map_err(error("Namespace")))
    }

    fn namespace_names(&mut self, ids: &[NamespaceId]) -> Result<HashMap<NamespaceId, String>> {
        let rows: Vec<(NamespaceId, String)> = each_backend!(self, |conn| namespaces::table
            .filter(namespaces::id.one_of(ids))
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
        each_backend!(self, |conn| query
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
        let NewPath { full_path, full_name, .. } =
            NewPath::below(parent, &details.name, &details.path);
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
            namespaces::avatar.eq(&details.avatar),
            namespaces::default_branch_protection.eq(details.default_branch_protection),
            namespaces::project_creation_level.eq(details.project_creation_level.to_string()),
            namespaces::subgroup_creation_level.eq(details.subgroup_creation_level.to_string()),
            namespaces::settings.eq(settings_text(details)?),
            namespaces::ip_ranges.eq(match parent {
                Some(parent) => &parent.ip_ranges,
                None => &details.settings.ip_restriction_ranges,
            }),
            namespaces::created_at.eq(self.now),
            namespaces::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(namespaces::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Namespace::as_returning())
            .get_result(conn)
            .map_err(error("Group")))
    }

    fn save_group(&mut self, id: NamespaceId, details: &GroupDetails) -> Result<()> {
        let changes = (
            namespaces::visibility.eq(details.visibility),
            namespaces::description.eq(&details.description),
            namespaces::avatar.eq(&details.avatar),
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
}

fn settings_text(details: &GroupDetails) -> Result<String> {
    serde_json::to_string(&details.settings).map_err(kernel::Error::internal)
}
