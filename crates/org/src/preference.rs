//! User preferences.

use db::{Tx, each_backend, error, schema::user_preferences};
use diesel::prelude::*;
use kernel::{Result, ids::UserId};

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = user_preferences, check_for_backend(db::AnyBackend))]
pub struct Preferences {
    /// 0 where nothing is stored yet.
    pub id: i64,
    pub user_id: UserId,
    pub view_diffs_file_by_file: bool,
    pub show_whitespace_in_diffs: bool,
    /// The order in which issues are read, as clients call it.
    pub issues_sort: Option<String>,
}

/// Preferences to change; `None` keeps a value.
#[derive(Clone, Debug, Default)]
pub struct Change {
    pub view_diffs_file_by_file: Option<bool>,
    pub show_whitespace_in_diffs: Option<bool>,
    pub issues_sort: Option<Option<String>>,
}

fn find(tx: &mut Tx<'_>, user: UserId) -> Result<Option<Preferences>> {
    let row = user_preferences::table.filter(user_preferences::user_id.eq(user));
    each_backend!(tx, |conn| row
        .select(Preferences::as_select())
        .get_result(conn)
        .optional()
        .map_err(error("Preferences")))
}

/// Somebody's preferences as they are stored, or the defaults: for servers that take no writes.
pub fn read(tx: &mut Tx<'_>, user: UserId) -> Result<Preferences> {
    Ok(find(tx, user)?.unwrap_or_else(|| defaults(user)))
}

fn defaults(user: UserId) -> Preferences {
    Preferences {
        id: 0,
        user_id: user,
        view_diffs_file_by_file: false,
        show_whitespace_in_diffs: true,
        issues_sort: None,
    }
}

/// Somebody's preferences; the first look writes the defaults down.
pub fn preferences(tx: &mut Tx<'_>, user: UserId) -> Result<Preferences> {
    if let Some(found) = find(tx, user)? {
        return Ok(found);
    }
    let new = defaults(user);
    let row = (
        user_preferences::user_id.eq(user),
        user_preferences::view_diffs_file_by_file.eq(new.view_diffs_file_by_file),
        user_preferences::show_whitespace_in_diffs.eq(new.show_whitespace_in_diffs),
    );
    let insert = diesel::insert_into(user_preferences::table).values(row);
    each_backend!(tx, |conn| insert
        .returning(Preferences::as_returning())
        .get_result(conn)
        .map_err(error("Preferences")))
}

pub fn change(tx: &mut Tx<'_>, user: UserId, change: Change) -> Result<Preferences> {
    let now = preferences(tx, user)?;
    let by_file = change.view_diffs_file_by_file.unwrap_or(now.view_diffs_file_by_file);
    let whitespace = change.show_whitespace_in_diffs.unwrap_or(now.show_whitespace_in_diffs);
    let issues_sort = change.issues_sort.unwrap_or_else(|| now.issues_sort.clone());
    let row = user_preferences::table.find(now.id);
    let update = diesel::update(row).set((
        user_preferences::view_diffs_file_by_file.eq(by_file),
        user_preferences::show_whitespace_in_diffs.eq(whitespace),
        user_preferences::issues_sort.eq(&issues_sort),
    ));
    each_backend!(tx, |conn| update.execute(conn).map_err(error("Preferences")))?;
    Ok(Preferences {
        view_diffs_file_by_file: by_file,
        show_whitespace_in_diffs: whitespace,
        issues_sort,
        ..now
    })
}
