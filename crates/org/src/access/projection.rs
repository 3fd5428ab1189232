//! The projection of effective membership: who has which role where, and until when. It is kept by whoever changes
//! one of its causes, in the same transaction, and only as far as that cause reaches.
//!
//! A role in a group comes from membership of it or of a group above, or from being a member of a group that one of
//! these was shared with; then the share says how much at most. Members of what lies above the invited group gain
//! nothing by that. Minimal access is no more than a seat: it ends where it was given. Projects take over the roles of
//! their group and add their own members and shares: whoever has a role in a group has it, up to what the share says,
//! in the projects that are shared with the group, unless the project's own group keeps to itself.

use db::{Tx, each_backend, error, schema::project_group_links};
use diesel::{
    prelude::*,
    sql_query,
    sql_types::{BigInt, Nullable},
};
use kernel::{
    AccessLevel, Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
};

use super::{
    AccessScope, Event, Role, access_scope::AffectedUsers, ban_effect, changes,
    lock::lock_access_projection, role::FOREVER, seats,
};
use crate::namespace::model::keeps_to_itself;

/// A role and its end make one number, of which the highest is the role that counts: levels are multiples of five, and
/// no end reaches a unit.
const UNIT: i64 = FOREVER.0 + 1;
const LOCKED_OUT: Role = Role { level: AccessLevel::NoAccess, until: FOREVER };

/// Works out roles anew.
pub(crate) fn refresh(
    tx: &mut Tx<'_>,
    access_scope: AccessScope,
    whom: AffectedUsers,
) -> Result<()> {
    lock_access_projection(tx)?;
    let text = Text { now: tx.now, whom };
    let hall = text.hall();
    if !matches!(access_scope, AccessScope::Project(_)) {
        write_groups(tx, &text, &format!("{hall}, {}", spots(access_scope)))?;
    }
    write_projects(tx, &text, &format!("{hall}, {}", aims(access_scope)))?;
    tx.mention(Event::Roles(access_scope));
    let paths = seats::touched(tx, access_scope)?;
    changes::follow(tx, access_scope, whom, &paths)?;
    seats::follow(tx, &paths, whom)
}

/// Works out all roles anew, in a few statements: the rules are others than those by which they were worked out.
pub(super) fn rebuild(tx: &mut Tx<'_>) -> Result<()> {
    lock_access_projection(tx)?;
    let text = Text { now: tx.now, whom: AffectedUsers::Everybody };
    let hall = text.hall();
    let tops =
        "tops(id) AS (SELECT id FROM namespaces WHERE parent_id IS NULL AND deleted_at IS NULL)";
    write_groups(tx, &text, &format!("{hall}, {tops}, {SPOT}"))?;
    let all =
        "aim(id, home) AS (SELECT p.id, p.namespace_id FROM projects p WHERE p.deleted_at IS NULL)";
    write_projects(tx, &text, &format!("{hall}, {all}"))?;
    changes::groups(tx)?;
    seats::forget(tx)
}

/// Writes down who has which role in groups; `spots` says in which.
fn write_groups(tx: &mut Tx<'_>, text: &Text, spots: &str) -> Result<()> {
    let theirs = text.among("user_id");
    run(
        tx,
        &format!(
            "WITH RECURSIVE {spots} DELETE FROM namespace_access \
             WHERE namespace_id IN (SELECT id FROM spot) {theirs}"
        ),
    )?;
    let held = text.held();
    run(
        tx,
        &format!(
            "WITH RECURSIVE {spots}, {held} \
             INSERT INTO namespace_access (user_id, namespace_id, access_level, until) \
             SELECT user_id, spot_id, max(worth) / {UNIT} * 5, max(worth) % {UNIT} FROM held GROUP BY user_id, spot_id"
        ),
    )?;
    // Before roles in groups are handed on to projects.
    ban_effect::leave_out_of_groups(tx, text.whom)
}

/// As [`write_groups`], of the projects that `aims` says.
fn write_projects(tx: &mut Tx<'_>, text: &Text, aims: &str) -> Result<()> {
    let theirs = text.among("user_id");
    run(
        tx,
        &format!(
            "WITH RECURSIVE {aims} DELETE FROM project_access \
             WHERE project_id IN (SELECT id FROM aim) {theirs}"
        ),
    )?;
    // A row of the group that has ended may hide a lesser role that has not. Then the project's row has ended, too, and
    // whoever looks works both out.
    let inherited = format!(
        "SELECT a.id, r.user_id, r.access_level / 5 * {UNIT} + r.until \
         FROM aim a JOIN namespace_access r ON r.namespace_id = a.home WHERE r.access_level >= 10 {}",
        text.among("r.user_id")
    );
    let lent = "SELECT h.aim_id, h.cap, h.ending, r.user_id, r.access_level, r.until FROM lodge h \
                JOIN namespace_access r ON r.namespace_id = h.id";
    let given = text.given(&inherited, lent);
    run(
        tx,
        &format!(
            "WITH RECURSIVE {aims}, {given} \
             INSERT INTO project_access (user_id, project_id, access_level, until) \
             SELECT user_id, aim_id, max(worth) / {UNIT} * 5, max(worth) % {UNIT} FROM given GROUP BY user_id, aim_id"
        ),
    )?;
    ban_effect::leave_out_of_projects(tx, text.whom)
}

/// The projects in reach.
pub(super) fn projects_within(
    tx: &mut Tx<'_>,
    access_scope: AccessScope,
) -> Result<Vec<ProjectId>> {
    if let AccessScope::Project(project) = access_scope {
        return Ok(vec![project]);
    }
    let hall = Text { now: tx.now, whom: AffectedUsers::Everybody }.hall();
    let text = format!("WITH RECURSIVE {hall}, {} SELECT DISTINCT id FROM aim", aims(access_scope));
    let rows: Vec<IdRow> =
        each_backend!(tx, |conn| sql_query(&text).load(conn).map_err(error("Project")))?;
    Ok(rows.into_iter().map(|row| ProjectId(row.id)).collect())
}

#[derive(QueryableByName)]
struct IdRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

/// Somebody's role in a namespace, from its causes.
pub(super) fn role_in_namespace(
    tx: &mut Tx<'_>,
    user: UserId,
    namespace: NamespaceId,
) -> Result<Role> {
    if ban_effect::hold(tx, user, &[namespace])?.contains(&namespace) {
        return Ok(LOCKED_OUT);
    }
    let text = Text { now: tx.now, whom: AffectedUsers::One(user) };
    let spot =
        format!("{}, {}, spot(id) AS (SELECT id FROM tops)", text.hall(), these(&[namespace]));
    let seeds = text.seeds();
    best(tx, &format!("WITH RECURSIVE {spot}, {seeds} SELECT max(worth) AS worth FROM seed"))
}

/// Somebody's role in a project, from its causes.
pub(super) fn role_in_project(
    tx: &mut Tx<'_>,
    user: UserId,
    project: ProjectId,
    home: NamespaceId,
) -> Result<Role> {
    let invited = invited_to(tx, project)?;
    let places: Vec<NamespaceId> = invited.iter().copied().chain([home]).collect();
    let shut = ban_effect::hold(tx, user, &places)?;
    if shut.contains(&home) {
        return Ok(LOCKED_OUT);
    }
    let open: Vec<NamespaceId> = places.into_iter().filter(|place| !shut.contains(place)).collect();
    let text = Text { now: tx.now, whom: AffectedUsers::One(user) };
    let spot = format!("{}, {}, spot(id) AS (SELECT id FROM tops)", text.hall(), these(&open));
    let (seeds, aims) = (text.seeds(), aims(AccessScope::Project(project)));
    let inherited = format!(
        "SELECT a.id, s.user_id, s.worth FROM aim a JOIN seed s ON s.spot_id = a.home WHERE s.worth >= 2 * {UNIT}"
    );
    let lent = format!(
        "SELECT h.aim_id, h.cap, h.ending, s.user_id, s.worth / {UNIT} * 5, s.worth % {UNIT} FROM lodge h \
         JOIN seed s ON s.spot_id = h.id"
    );
    let given = text.given(&inherited, &lent);
    best(
        tx,
        &format!(
            "WITH RECURSIVE {spot}, {seeds}, {aims}, {given} SELECT max(worth) AS worth FROM given"
        ),
    )
}

/// The groups that a project is shared with.
fn invited_to(tx: &mut Tx<'_>, project: ProjectId) -> Result<Vec<NamespaceId>> {
    let query = project_group_links::table
        .filter(project_group_links::project_id.eq(project))
        .select(project_group_links::namespace_id);
    each_backend!(tx, |conn| query.load(conn).map_err(error("Group")))
}

fn run(tx: &mut Tx<'_>, text: &str) -> Result<()> {
    each_backend!(tx, |conn| sql_query(text).execute(conn).map_err(error("Member")))?;
    Ok(())
}

#[derive(QueryableByName)]
struct BestRole {
    #[diesel(sql_type = Nullable<BigInt>)]
    worth: Option<i64>,
}

fn best(tx: &mut Tx<'_>, text: &str) -> Result<Role> {
    let found: BestRole =
        each_backend!(tx, |conn| sql_query(text).get_result(conn).map_err(error("Member")))?;
    let worth = found.worth.unwrap_or(FOREVER.0);
    let level = AccessLevel::find(worth / UNIT * 5).unwrap_or_default();
    Ok(Role { level, until: Ts(worth % UNIT) })
}

/// Some namespaces alone, as where to begin.
fn these(namespaces: &[NamespaceId]) -> String {
    let each = namespaces.iter().map(|id| format!("SELECT CAST({id} AS BIGINT)"));
    format!("tops(id) AS ({})", each.collect::<Vec<_>>().join(" UNION "))
}

const SPOT: &str = "spot(id) AS (SELECT id FROM tops \
    UNION SELECT n.id FROM namespaces n JOIN spot s ON n.parent_id = s.id WHERE n.deleted_at IS NULL)";

/// `below`: a group and all in it. `tops`: where the trees begin that are worked out; `spot`: all in them.
fn spots(access_scope: AccessScope) -> String {
    let tops = match access_scope {
        AccessScope::Group(group) => format!(
            "below(id) AS (SELECT CAST({group} AS BIGINT) \
             UNION SELECT n.id FROM namespaces n JOIN below b ON n.parent_id = b.id WHERE n.deleted_at IS NULL), \
             tops(id) AS (SELECT CAST({group} AS BIGINT) \
             UNION SELECT l.namespace_id FROM group_group_links l JOIN below b ON l.invited_id = b.id)"
        ),
        AccessScope::Tree(group) => these(&[group]),
        AccessScope::Project(_) => return "spot(id) AS (SELECT 0)".to_owned(),
    };
    format!("{tops}, {SPOT}")
}

/// `aim`: the projects that are worked out, and their namespaces: what lies in a spot, and what is shared with one.
fn aims(access_scope: AccessScope) -> String {
    const INSIDE: &str = "SELECT p.id, p.namespace_id FROM projects p JOIN spot s ON p.namespace_id = s.id \
        WHERE p.deleted_at IS NULL";
    const INVITING: &str = "SELECT p.id, p.namespace_id FROM project_group_links k JOIN spot s ON k.namespace_id = s.id \
        JOIN projects p ON p.id = k.project_id WHERE p.deleted_at IS NULL";
    match access_scope {
        AccessScope::Group(_) | AccessScope::Tree(_) => {
            format!("{}, aim(id, home) AS ({INSIDE} UNION {INVITING})", spots(access_scope))
        }
        AccessScope::Project(project) => format!(
            "aim(id, home) AS (SELECT p.id, p.namespace_id FROM projects p \
             WHERE p.id = {project} AND p.deleted_at IS NULL)"
        ),
    }
}

/// The parts of a statement that depend on the moment and on whose roles are wanted. Nothing but numbers is put in.
struct Text {
    now: Ts,
    whom: AffectedUsers,
}

impl Text {
    /// Which people a column is narrowed to.
    fn among(&self, column: &str) -> String {
        match self.whom {
            AffectedUsers::Everybody => String::new(),
            AffectedUsers::One(user) => format!("AND {column} = {user}"),
            AffectedUsers::MembersOf(_) | AffectedUsers::PeopleIn(_) => {
                format!("AND {column} IN (SELECT user_id FROM hall)")
            }
        }
    }

    /// `hall`: the people of a group, where only their roles are wanted.
    fn hall(&self) -> String {
        let people = match self.whom {
            AffectedUsers::Everybody | AffectedUsers::One(_) => "0".to_owned(),
            AffectedUsers::MembersOf(group) => {
                format!("m.user_id FROM members m WHERE m.namespace_id = {group}")
            }
            AffectedUsers::PeopleIn(group) => {
                format!("r.user_id FROM namespace_access r WHERE r.namespace_id = {group}")
            }
        };
        format!("hall(user_id) AS (SELECT {people})")
    }

    fn living(&self, alias: &str) -> String {
        format!("({alias}.expires_at IS NULL OR {alias}.expires_at > {})", self.now.0)
    }

    /// What a role of `level` until `end` is worth.
    fn worth(level: &str, end: &str) -> String {
        format!("{level} / 5 * {UNIT} + {end}")
    }

    /// What a role of `level` until `end` in an invited group is worth by a share `h`: the lower one, until the earlier end.
    fn capped(level: &str, end: &str) -> String {
        let level = format!("(CASE WHEN {level} < h.cap THEN {level} ELSE h.cap END)");
        Self::worth(&level, &format!("(CASE WHEN {end} < h.ending THEN {end} ELSE h.ending END)"))
    }

    /// `seed`: each role that is given in a spot, or above it and felt there.
    fn seeds(&self) -> String {
        let (member, link) = (self.living("m"), self.living("l"));
        let own = Self::worth("m.access_level", &format!("coalesce(m.expires_at, {})", FOREVER.0));
        let owner = Self::worth("50", &FOREVER.0.to_string());
        let (m, n) = (self.among("m.user_id"), self.among("n.owner_id"));
        let capped = Self::capped("m.access_level", "m.expires_at");
        format!(
            "entry(top_id, id) AS (SELECT n.id, n.parent_id FROM tops t JOIN namespaces n ON n.id = t.id \
             WHERE n.parent_id IS NOT NULL AND n.deleted_at IS NULL \
             UNION SELECT e.top_id, n.parent_id FROM entry e JOIN namespaces n ON n.id = e.id WHERE n.parent_id IS NOT NULL), \
             place(spot_id, id, own) AS (SELECT s.id, s.id, 1 FROM spot s JOIN namespaces n ON n.id = s.id \
             WHERE n.deleted_at IS NULL UNION ALL SELECT top_id, id, 0 FROM entry), \
             house(spot_id, own, cap, ending, id) AS (SELECT p.spot_id, p.own, l.access_level, \
             coalesce(l.expires_at, {FOREVER}), l.invited_id FROM place p JOIN group_group_links l ON l.namespace_id = p.id \
             JOIN namespaces g ON g.id = l.invited_id WHERE g.deleted_at IS NULL AND {link}), \
             seed(spot_id, user_id, worth) AS (SELECT p.spot_id, m.user_id, {own} FROM place p \
             JOIN members m ON m.namespace_id = p.id WHERE {member} AND m.access_level >= 10 - 5 * p.own {m} \
             UNION ALL SELECT p.spot_id, n.owner_id, {owner} FROM place p JOIN namespaces n ON n.id = p.id \
             WHERE n.owner_id IS NOT NULL {n} \
             UNION ALL SELECT h.spot_id, m.user_id, {capped} FROM house h JOIN members m ON m.namespace_id = h.id \
             WHERE {member} AND m.access_level >= 10 AND h.cap >= 10 - 5 * h.own {m})",
            FOREVER = FOREVER.0,
        )
    }

    /// `held`: each role that anything gives in a spot.
    fn held(&self) -> String {
        format!(
            "{}, held(spot_id, user_id, worth) AS (SELECT spot_id, user_id, worth FROM seed \
             UNION SELECT n.id, h.user_id, h.worth FROM held h JOIN namespaces n ON n.parent_id = h.spot_id \
             WHERE h.worth >= 2 * {UNIT} AND n.deleted_at IS NULL)",
            self.seeds()
        )
    }

    /// `given`: each role that anything gives in a project; `inherited` selects those of its namespace, `lent` each share
    /// of `lodge` with those in the group that it names.
    fn given(&self, inherited: &str, lent: &str) -> String {
        let (member, link) = (self.living("m"), self.living("l"));
        let own = Self::worth("m.access_level", &format!("coalesce(m.expires_at, {})", FOREVER.0));
        let (m, h) = (self.among("m.user_id"), self.among("h.user_id"));
        let (capped, locked) = (Self::capped("h.level", "h.until"), keeps_to_itself("o.settings"));
        format!(
            "lodge(aim_id, cap, ending, id) AS (SELECT a.id, l.access_level, coalesce(l.expires_at, {FOREVER}), \
             l.namespace_id FROM aim a JOIN project_group_links l ON l.project_id = a.id \
             JOIN namespaces g ON g.id = l.namespace_id JOIN namespaces o ON o.id = a.home \
             WHERE g.deleted_at IS NULL AND NOT {locked} AND {link}), \
             lent(aim_id, cap, ending, user_id, level, until) AS ({lent}), \
             given(aim_id, user_id, worth) AS ({inherited} \
             UNION ALL SELECT a.id, m.user_id, {own} FROM aim a JOIN members m ON m.project_id = a.id \
             WHERE {member} AND m.access_level >= 5 {m} \
             UNION ALL SELECT h.aim_id, h.user_id, {capped} FROM lent h WHERE h.level >= 10 AND h.cap >= 5 {h})",
            FOREVER = FOREVER.0,
        )
    }
}
