//! Who counts in a top-level group, as rows: working it out looks at everybody below, and lists are asked for more often
//! than memberships change. The rows come when somebody asks for the first time. From then on whoever changes one person's
//! roles puts that person right, and whoever changes more takes the mark away by which the rows hold.

use db::{
    Tx, each_backend, error,
    schema::{namespaces, projects, seat_lists, seats},
};
use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Nullable, Text},
};
use kernel::{
    Result, Ts,
    ids::{NamespaceId, UserId},
};

use super::{
    access_scope::{AccessScope, AffectedUsers},
    changes,
    lock::lock_access_projection,
    role::FOREVER,
    tree::Tree,
};
use crate::namespace::model::keeps_to_itself;

/// The parts of a statement that make `given`, each role that counts with its end, and `seat`: each person who counts,
/// with the first kind that fits (1 to 4), the highest level, and since when.
pub(crate) fn counted(tree: &Tree, now: i64, of: Option<UserId>) -> String {
    let parts = tree.parts();
    let living =
        |alias: &str| format!("({alias}.expires_at IS NULL OR {alias}.expires_at > {now})");
    let whose = of.map(|user| format!("AND m.user_id = {user}")).unwrap_or_default();
    let (member, link) = (living("m"), living("l"));
    let never = FOREVER.0;
    let (own, lent) =
        (format!("coalesce(m.expires_at, {never})"), format!("coalesce(l.expires_at, {never})"));
    let level = "CASE WHEN m.access_level < h.cap THEN m.access_level ELSE h.cap END";
    let first = format!("CASE WHEN h.ending < {own} THEN h.ending ELSE {own} END");
    let least = "CASE WHEN l.access_level < h.cap THEN l.access_level ELSE h.cap END";
    let sooner = format!("CASE WHEN h.ending < {lent} THEN h.ending ELSE {lent} END");
    let locked = keeps_to_itself("o.settings");
    format!(
        "WITH RECURSIVE {parts}, \
         lodge(id, cap, ending) AS (SELECT l.namespace_id, l.access_level, {lent} FROM project_group_links l \
         JOIN inside i ON i.id = l.project_id JOIN projects p ON p.id = i.id JOIN namespaces o ON o.id = p.namespace_id \
         WHERE {link} AND l.access_level >= 10 AND NOT {locked} \
         UNION SELECT n.parent_id, h.cap, h.ending FROM lodge h JOIN namespaces n ON n.id = h.id \
         WHERE n.parent_id IS NOT NULL AND n.deleted_at IS NULL), \
         house(id, cap, kind, ending) AS (SELECT l.invited_id, l.access_level, 3, {lent} FROM group_group_links l \
         JOIN groups g ON g.id = l.namespace_id WHERE {link} AND l.access_level >= 10 \
         UNION SELECT h.id, h.cap, 4, h.ending FROM lodge h \
         UNION SELECT l.invited_id, {least}, 4, {sooner} FROM lodge h \
         JOIN group_group_links l ON l.namespace_id = h.id WHERE {link} AND l.access_level >= 10), \
         given(user_id, kind, level, since, ending) AS ( \
         SELECT m.user_id, 1, m.access_level, m.created_at, {own} FROM groups g JOIN members m ON m.namespace_id = g.id \
         WHERE {member} AND m.access_level >= 10 {whose} \
         UNION ALL SELECT m.user_id, 2, m.access_level, m.created_at, {own} FROM inside i JOIN members m ON m.project_id = i.id \
         WHERE {member} AND m.access_level >= 10 {whose} \
         UNION ALL SELECT m.user_id, h.kind, {level}, m.created_at, {first} FROM house h JOIN members m ON m.namespace_id = h.id \
         WHERE {member} AND m.access_level >= 10 {whose}), \
         seat(user_id, kind, level, since) AS (SELECT user_id, min(kind), max(level), min(since) FROM given GROUP BY user_id)"
    )
}

/// Whether the rows of a top-level group hold.
pub(crate) fn holds(tx: &mut Tx<'_>, top: NamespaceId) -> Result<bool> {
    let query = seat_lists::table.find(top).select(seat_lists::holds_until);
    let until: Option<Ts> =
        each_backend!(tx, |conn| query.get_result(conn).optional().map_err(error("Member")))?;
    Ok(until.is_some_and(|until| tx.now < until))
}

/// Works out everybody who counts.
pub(crate) fn rebuild(tx: &mut Tx<'_>, tree: &Tree) -> Result<()> {
    lock_access_projection(tx)?;
    let old = seats::table.filter(seats::namespace_id.eq(tree.top));
    each_backend!(tx, |conn| diesel::delete(old).execute(conn).map_err(error("Member")))?;
    insert(tx, tree, None)?;
    let until = first_end(tx, tree)?;
    let row = (seat_lists::namespace_id.eq(tree.top), seat_lists::holds_until.eq(until));
    let insert = diesel::insert_into(seat_lists::table)
        .values(row)
        .on_conflict(seat_lists::namespace_id)
        .do_update()
        .set(seat_lists::holds_until.eq(until));
    each_backend!(tx, |conn| insert.execute(conn).map_err(error("Member")))?;
    Ok(())
}

fn insert(tx: &mut Tx<'_>, tree: &Tree, of: Option<UserId>) -> Result<()> {
    let text = format!(
        "{} INSERT INTO seats (namespace_id, user_id, kind, access_level, since, is_counted) \
         SELECT {}, s.user_id, s.kind, s.level, s.since, (u.state = 'active' AND NOT u.bot) \
         FROM seat s JOIN users u ON u.id = s.user_id",
        counted(tree, tx.now.0, of),
        tree.top
    );
    each_backend!(tx, |conn| sql_query(text)
        .bind::<Text, _>(&tree.from)
        .bind::<Text, _>(&tree.to)
        .execute(conn)
        .map_err(error("Member")))?;
    Ok(())
}

#[derive(QueryableByName)]
struct End {
    #[diesel(sql_type = Nullable<BigInt>)]
    ending: Option<i64>,
}

/// When the first of the roles ends that count, or that might count for more than another.
fn first_end(tx: &mut Tx<'_>, tree: &Tree) -> Result<Ts> {
    let text = format!("{} SELECT min(ending) AS ending FROM given", counted(tree, tx.now.0, None));
    let found: End = each_backend!(tx, |conn| sql_query(text)
        .bind::<Text, _>(&tree.from)
        .bind::<Text, _>(&tree.to)
        .get_result(conn)
        .map_err(error("Member")))?;
    Ok(found.ending.map_or(FOREVER, Ts))
}

/// Follows a change of roles in what has these paths.
pub(crate) fn follow(tx: &mut Tx<'_>, paths: &[String], whom: AffectedUsers) -> Result<()> {
    match whom {
        AffectedUsers::One(user) => {
            for (top, key) in kept(tx, paths)? {
                follow_one(tx, &Tree::of_top(top, &key), user)?;
            }
            Ok(())
        }
        AffectedUsers::Everybody | AffectedUsers::MembersOf(_) | AffectedUsers::PeopleIn(_) => {
            outdate(tx, paths)
        }
    }
}

fn follow_one(tx: &mut Tx<'_>, tree: &Tree, user: UserId) -> Result<()> {
    let old = seats::table.filter(seats::namespace_id.eq(tree.top).and(seats::user_id.eq(user)));
    each_backend!(tx, |conn| diesel::delete(old).execute(conn).map_err(error("Member")))?;
    insert(tx, tree, Some(user))?;
    // What was given may end before everything else.
    let text =
        format!("{} SELECT min(ending) AS ending FROM given", counted(tree, tx.now.0, Some(user)));
    let found: End = each_backend!(tx, |conn| sql_query(text)
        .bind::<Text, _>(&tree.from)
        .bind::<Text, _>(&tree.to)
        .get_result(conn)
        .map_err(error("Member")))?;
    let ending = found.ending.map_or(FOREVER, Ts);
    let mark = seat_lists::table.find(tree.top).filter(seat_lists::holds_until.gt(ending));
    each_backend!(tx, |conn| diesel::update(mark)
        .set(seat_lists::holds_until.eq(ending))
        .execute(conn)
        .map_err(error("Member")))?;
    Ok(())
}

/// Machines, and people who are kept out, have seats that do not count.
pub(crate) fn set_counted(tx: &mut Tx<'_>, user: UserId, is_counted: bool) -> Result<()> {
    let rows = seats::table.filter(seats::user_id.eq(user));
    let update = diesel::update(rows).set(seats::is_counted.eq(is_counted));
    each_backend!(tx, |conn| update.execute(conn).map_err(error("Member")))?;
    Ok(())
}

/// To be said before something leaves the tree that it lies in.
pub(crate) fn leaves(tx: &mut Tx<'_>, full_path: &str) -> Result<()> {
    let path = full_path.to_lowercase();
    changes::tree(tx, &path)?;
    outdate(tx, &[path])
}

/// No rows hold any more.
pub(crate) fn forget(tx: &mut Tx<'_>) -> Result<()> {
    let marks = diesel::delete(seat_lists::table);
    each_backend!(tx, |conn| marks.execute(conn).map_err(error("Member")))?;
    Ok(())
}

/// The rows of the trees in which these lie do not hold any more.
fn outdate(tx: &mut Tx<'_>, paths: &[String]) -> Result<()> {
    let tops: Vec<NamespaceId> = kept(tx, paths)?.into_iter().map(|(top, _)| top).collect();
    if tops.is_empty() {
        return Ok(());
    }
    let marks = seat_lists::table.filter(seat_lists::namespace_id.eq_any(tops));
    each_backend!(tx, |conn| diesel::delete(marks).execute(conn).map_err(error("Member")))?;
    Ok(())
}

/// The top-level groups above these paths that have rows, with their own paths.
fn kept(tx: &mut Tx<'_>, paths: &[String]) -> Result<Vec<(NamespaceId, String)>> {
    let mut tops: Vec<&str> = paths.iter().filter_map(|path| path.split('/').next()).collect();
    tops.sort_unstable();
    tops.dedup();
    let query = seat_lists::table
        .inner_join(namespaces::table)
        .filter(namespaces::path_key.eq_any(tops))
        .select((namespaces::id, namespaces::path_key));
    each_backend!(tx, |conn| query.load(conn).map_err(error("Member")))
}

#[derive(QueryableByName)]
struct Path {
    #[diesel(sql_type = Text)]
    path_key: String,
}

/// The paths of what a change reaches: where it is, whatever that, or anything below it, was invited to, and projects that
/// are shared with any of these.
pub(crate) fn touched(tx: &mut Tx<'_>, access_scope: AccessScope) -> Result<Vec<String>> {
    let group = match access_scope {
        AccessScope::Project(id) => {
            let query = projects::table.find(id).select(projects::path_key);
            return each_backend!(tx, |conn| query.load(conn).map_err(error("Project")));
        }
        AccessScope::Group(id) | AccessScope::Tree(id) => id,
    };
    let query = namespaces::table.find(group).select(namespaces::path_key);
    let mut paths: Vec<String> =
        each_backend!(tx, |conn| query.load(conn).map_err(error("Group")))?;
    let inviting = match access_scope {
        AccessScope::Group(_) => {
            "SELECT n.id, n.path_key FROM inside i JOIN group_group_links l ON l.invited_id = i.id \
             JOIN namespaces n ON n.id = l.namespace_id"
        }
        AccessScope::Tree(_) | AccessScope::Project(_) => {
            "SELECT i.id, i.path_key FROM inside i WHERE 1 = 0"
        }
    };
    // From the few to what hangs on them: a group, and those that it is in reach of, each with all below it.
    let text = format!(
        "WITH RECURSIVE inside(id, path_key) AS (SELECT n.id, n.path_key FROM namespaces n WHERE n.id = {group} \
         UNION SELECT n.id, n.path_key FROM inside i JOIN namespaces n ON n.parent_id = i.id), \
         inviting(id, path_key) AS ({inviting} \
         UNION SELECT n.id, n.path_key FROM inviting i JOIN namespaces n ON n.parent_id = i.id) \
         SELECT path_key FROM inviting \
         UNION SELECT p.path_key FROM (SELECT id FROM inside UNION SELECT id FROM inviting) g \
         JOIN project_group_links l ON l.namespace_id = g.id JOIN projects p ON p.id = l.project_id"
    );
    let invited: Vec<Path> =
        each_backend!(tx, |conn| sql_query(text).load(conn).map_err(error("Group")))?;
    paths.extend(invited.into_iter().map(|found| found.path_key));
    Ok(paths)
}
