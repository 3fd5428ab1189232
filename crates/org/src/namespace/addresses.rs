//! The paths of groups, and moves of group trees.

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{namespaces, projects, redirects},
};
use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Integer, Text},
};
use kernel::{Error, Result, Visibility};

use super::{
    Namespace,
    full_path::{NewPath, below},
    store::NamespaceStore,
};
use crate::access::{self, changes};

/// Gives a personal namespace another name and path; refused, under `field`, where somebody has the path.
pub fn rename(
    tx: &mut Tx<'_>,
    namespace: &Namespace,
    name: &str,
    path: &str,
    field: &str,
) -> Result<()> {
    let same = namespace.full_path.eq_ignore_ascii_case(path);
    if !same && tx.is_path_taken(path)? {
        return Err(Error::invalid(field, "has already been taken"));
    }
    relocate(tx, namespace, &NewPath::below(None, name, path))
}

/// Writes the new place into a namespace and everything below it, in a few statements however much that is. The old
/// addresses of projects keep leading to them; those of groups lead nowhere.
pub(crate) fn relocate(tx: &mut Tx<'_>, namespace: &Namespace, place: &NewPath) -> Result<()> {
    access::lock_access_projection(tx)?;
    let moves = !namespace.full_path.eq_ignore_ascii_case(&place.full_path);
    if moves {
        free_addresses(tx, &place.full_path)?;
        leave_signs(tx, namespace)?;
        changes::groups(tx)?;
        changes::tree(tx, &namespace.full_path.to_lowercase())?;
        changes::tree(tx, &place.full_path.to_lowercase())?;
    }
    let changes = (
        namespaces::name.eq(&place.name),
        namespaces::path.eq(&place.path),
        namespaces::path_key.eq(place.full_path.to_lowercase()),
        namespaces::full_path.eq(&place.full_path),
        namespaces::full_name.eq(&place.full_name),
        namespaces::updated_at.eq(tx.now),
    );
    let update = diesel::update(namespaces::table.find(namespace.id)).set(changes);
    each_backend!(tx, |conn| update.execute(conn).map_err(error("Group")))?;
    rewrite(tx, "namespaces", namespace, place)?;
    rewrite(tx, "projects", namespace, place)
}

/// What leads to an address, or to one below it, leads there no more: something else has it now.
pub(crate) fn free_addresses(tx: &mut Tx<'_>, full_path: &str) -> Result<()> {
    let (from, to) = below(full_path);
    let inside = redirects::path_key.ge(from).and(redirects::path_key.lt(to));
    let old = redirects::table.filter(redirects::path_key.eq(full_path.to_lowercase()).or(inside));
    each_backend!(tx, |conn| diesel::delete(old).execute(conn).map_err(error("Project")))?;
    Ok(())
}

fn leave_signs(tx: &mut Tx<'_>, namespace: &Namespace) -> Result<()> {
    let (from, to) = below(&namespace.full_path);
    let text = "INSERT INTO redirects (path_key, project_id) SELECT path_key, id FROM projects \
                WHERE path_key >= $1 AND path_key < $2 AND deleted_at IS NULL \
                ON CONFLICT (path_key) DO UPDATE SET project_id = excluded.project_id, namespace_id = NULL";
    let query = sql_query(text).bind::<Text, _>(from).bind::<Text, _>(to);
    each_backend!(tx, |conn| query.execute(conn).map_err(error("Project")))?;
    Ok(())
}

/// Puts the new beginning before every path and name below a namespace.
fn rewrite(tx: &mut Tx<'_>, table: &str, old: &Namespace, new: &NewPath) -> Result<()> {
    let after = |text: &str| i32::try_from(text.chars().count() + 1).map_err(Error::internal);
    let (from, to) = below(&old.full_path);
    let text = format!(
        "UPDATE {table} SET full_path = $1 || substr(full_path, $2), path_key = $3 || substr(path_key, $2), \
         full_name = $4 || substr(full_name, $5), updated_at = $6 \
         WHERE path_key >= $7 AND path_key < $8 AND deleted_at IS NULL"
    );
    let query = sql_query(text)
        .bind::<Text, _>(&new.full_path)
        .bind::<Integer, _>(after(&old.full_path)?)
        .bind::<Text, _>(new.full_path.to_lowercase())
        .bind::<Text, _>(&new.full_name)
        .bind::<Integer, _>(after(&old.full_name)?)
        .bind::<BigInt, _>(tx.now)
        .bind::<Text, _>(from)
        .bind::<Text, _>(to);
    each_backend!(tx, |conn| query.execute(conn).map_err(error("Group")))?;
    Ok(())
}

/// Lets a group, and everything below it, be no more visible than this.
pub(crate) fn lower_visibility(tx: &mut Tx<'_>, group: &Namespace, most: Visibility) -> Result<()> {
    let above: Vec<Visibility> =
        [Visibility::Internal, Visibility::Public].into_iter().filter(|at| *at > most).collect();
    if above.is_empty() {
        return Ok(());
    }
    let (from, to) = below(&group.full_path);
    let own = namespaces::path_key.eq(group.full_path.to_lowercase());
    let inside = namespaces::path_key.ge(&from).and(namespaces::path_key.lt(&to));
    let groups = namespaces::table
        .filter(own.or(inside))
        .filter(namespaces::deleted_at.is_null())
        .filter(namespaces::visibility.one_of(&above));
    let lowered = (namespaces::visibility.eq(most), namespaces::updated_at.eq(tx.now));
    each_backend!(tx, |conn| diesel::update(groups)
        .set(lowered)
        .execute(conn)
        .map_err(error("Group")))?;
    let inside = projects::table
        .filter(projects::path_key.ge(&from).and(projects::path_key.lt(&to)))
        .filter(projects::deleted_at.is_null())
        .filter(projects::visibility.one_of(&above));
    let lowered = (projects::visibility.eq(most), projects::updated_at.eq(tx.now));
    each_backend!(tx, |conn| diesel::update(inside)
        .set(lowered)
        .execute(conn)
        .map_err(error("Project")))?;
    Ok(())
}
