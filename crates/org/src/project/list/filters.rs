//! Project filters as SQL conditions.

use db::Tx;
use kernel::{
    AccessLevel, Actor, Result, Ts, Visibility,
    ids::{ProjectId, UserId},
};

use super::{
    ProjectFilter, ProjectSet,
    conditions::{Conditions, CountedTree},
    reports,
    words::containing,
};
use crate::{
    custom_attribute::{self, CustomAttribute},
    listing::{Bind, ids},
    namespace::{networks, visible_groups},
    project::{
        STORAGE,
        in_group::{self, GroupCondition, GroupScope},
    },
};

pub(super) fn conditions(
    tx: &mut Tx<'_>,
    actor: Actor,
    filter: &ProjectFilter,
) -> Result<Conditions> {
    let mut all = Conditions::default();
    all.plain("p.deleted_at IS NULL");
    let group = match &filter.among {
        ProjectSet::Group(scope) => Some((scope, in_group::condition(tx, scope)?)),
        _ => None,
    };
    let open = match &group {
        Some((scope, within)) if needed_level(filter).is_none() => {
            in_group::is_all_visible(tx, actor, scope.id, within)?
        }
        _ => false,
    };
    if !open {
        visible(tx, &mut all, actor, filter)?;
    }
    match group {
        Some((scope, within)) => among_group(&mut all, scope, within),
        None => among(&mut all, &filter.among),
    }
    within_reach(tx, &mut all, actor)?;
    about_the_caller(&mut all, actor, filter, tx.now);
    about_the_project(&mut all, filter);
    reports::conditions(tx, &mut all, actor, filter)?;
    if let Some(search) = filter.search.as_deref().filter(|search| !search.trim().is_empty()) {
        containing(tx, &mut all, search, filter.search_namespaces)?;
    }
    Ok(all)
}

/// The roles that the caller must have; none where seeing suffices.
fn needed_level(filter: &ProjectFilter) -> Option<AccessLevel> {
    let owned = filter.owned.then_some(AccessLevel::Owner);
    let member = filter.membership.then_some(AccessLevel::Guest);
    [owned, filter.min_access_level, member].into_iter().flatten().max()
}

/// So many memberships are gathered; of more, each project is asked for.
const GATHERED: i64 = 1000;

/// The projects in which somebody has at least a role, as a condition.
pub(super) fn reached(
    tx: &mut Tx<'_>,
    all: &mut Conditions,
    user: UserId,
    level: AccessLevel,
) -> Result<()> {
    let reached = visible_groups::reached(tx.now, level);
    let sql = format!(
        "SELECT a.project_id AS id FROM project_access a WHERE a.user_id = $1 LIMIT 1 OFFSET {GATHERED}"
    );
    let many = !ids(tx, &sql, &[Bind::Number(user.0)])?.is_empty();
    let mine = format!("project_access a WHERE a.user_id = {{}} AND {reached}");
    let condition = match many {
        true => format!("EXISTS (SELECT 1 FROM {mine} AND a.project_id = p.id)"),
        false => format!("p.id IN (SELECT a.project_id FROM {mine})"),
    };
    all.number(&condition, user.0);
    Ok(())
}

fn visible(
    tx: &mut Tx<'_>,
    all: &mut Conditions,
    actor: Actor,
    filter: &ProjectFilter,
) -> Result<()> {
    match (actor.id, needed_level(filter)) {
        (None, Some(_)) => all.plain("1 = 0"),
        (None, None) => all.plain("p.visibility = 'public'"),
        (Some(user), Some(level)) => reached(tx, all, user, level)?,
        (Some(_), None) if actor.admin => {}
        // Private ones are seen by members only.
        (Some(user), None) if filter.visibility == Some(Visibility::Private) => {
            reached(tx, all, user, AccessLevel::Minimal)?;
        }
        (Some(user), None) => {
            let open = match actor.external {
                true => "p.visibility = 'public'",
                false => "p.visibility <> 'private'",
            };
            let reached = visible_groups::reached(tx.now, AccessLevel::Minimal);
            let access = format!(
                "SELECT 1 FROM project_access a WHERE a.user_id = {{}} AND a.project_id = p.id AND {reached}"
            );
            all.number(&format!("({open} OR EXISTS ({access}))"), user.0);
        }
    }
    Ok(())
}

/// Leaves out what is in groups that the caller's network does not reach.
fn within_reach(tx: &mut Tx<'_>, all: &mut Conditions, actor: Actor) -> Result<()> {
    for ranges in networks::closed_to(tx, actor)? {
        all.word(
            "p.namespace_id NOT IN (SELECT n.id FROM namespaces n WHERE n.ip_ranges = {})",
            ranges,
        );
    }
    Ok(())
}

fn among(all: &mut Conditions, among: &ProjectSet) {
    match among {
        // Conditions of a group are found out before, since more follows from them.
        ProjectSet::All | ProjectSet::Group(_) => {}
        ProjectSet::Nothing => all.plain("1 = 0"),
        ProjectSet::StarredBy(user) => all.number(
            "p.id IN (SELECT s.project_id FROM project_stars s WHERE s.user_id = {})",
            user.0,
        ),
        ProjectSet::ForksOf(source) => all.number("p.forked_from_id = {}", source.0),
        ProjectSet::These(ids) => only(all, ids),
        ProjectSet::Namespace(id) => all.number("p.namespace_id = {}", id.0),
    }
}

fn only(all: &mut Conditions, ids: &[ProjectId]) {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    match ids.is_empty() {
        true => all.plain("1 = 0"),
        false => all.plain(&format!("p.id IN ({})", ids.join(", "))),
    }
}

fn among_group(all: &mut Conditions, scope: &GroupScope, within: GroupCondition) {
    let mut sql = within.sql;
    for word in within.words {
        all.binds.push(Bind::Word(word));
        sql = sql.replacen("{}", &format!("${}", all.binds.len()), 1);
    }
    all.plain(&sql);
    all.gathered = within.gathered;
    let path = format!("{}/", scope.full_path.to_lowercase());
    all.tree = within.total.map(|total| CountedTree { path, total });
}

fn about_the_caller(all: &mut Conditions, actor: Actor, filter: &ProjectFilter, now: Ts) {
    if filter.starred {
        let mine = "p.id IN (SELECT s.project_id FROM project_stars s WHERE s.user_id = {})";
        all.number(mine, actor.id.map_or(0, |user| user.0));
    }
    for (wanted, column) in [
        (filter.with_issues, "issues_access"),
        (filter.with_merge_requests, "merge_requests_access"),
    ] {
        if wanted && actor.admin {
            all.plain(&format!("p.{column} <> 'disabled'"));
        } else if wanted {
            let reached = visible_groups::reached(now, AccessLevel::Minimal);
            let member = format!(
                "SELECT 1 FROM project_access a WHERE a.user_id = {{}} AND a.project_id = p.id AND {reached}"
            );
            all.number(
                &format!("(p.{column} IN ('enabled', 'public') OR (p.{column} = 'private' AND EXISTS ({member})))"),
                actor.id.map_or(0, |user| user.0),
            );
        }
    }
}

fn about_the_project(all: &mut Conditions, filter: &ProjectFilter) {
    match filter.archived {
        Some(true) => all.plain("p.archived"),
        Some(false) => all.plain("NOT p.archived"),
        None => {}
    }
    if let Some(visibility) = filter.visibility {
        all.word("p.visibility = {}", visibility.to_string());
    }
    let bounds = [
        ("p.id > {}", filter.id_after),
        ("p.id < {}", filter.id_before),
        ("p.last_activity_at > {}", filter.last_activity_after.map(|at| at.0)),
        ("p.last_activity_at < {}", filter.last_activity_before.map(|at| at.0)),
        ("p.updated_at > {}", filter.updated_after.map(|at| at.0)),
        ("p.updated_at < {}", filter.updated_before.map(|at| at.0)),
    ];
    for (condition, bound) in bounds {
        if let Some(bound) = bound {
            all.number(condition, bound);
        }
    }
    if let Some(language) = &filter.language {
        all.word(
            "p.id IN (SELECT l.project_id FROM project_languages l WHERE l.name = {})",
            language.clone(),
        );
    }
    if let Some(ids) = &filter.ids {
        only(all, ids);
    }
    for topic in &filter.topics {
        all.word(
            "p.id IN (SELECT t.project_id FROM project_topics t JOIN topics n ON n.id = t.topic_id WHERE n.name = {})",
            topic.clone(),
        );
    }
    if let Some(topic) = filter.topic_id {
        all.number(
            "p.id IN (SELECT t.project_id FROM project_topics t WHERE t.topic_id = {})",
            topic,
        );
    }
    having(all, &filter.attributes);
    // Forks have a status, too.
    if filter.imported {
        all.plain("p.import_status <> 'none' AND p.fork_root_id IS NULL");
    }
    if filter.repository_storage.as_deref().is_some_and(|storage| storage != STORAGE) {
        all.plain("1 = 0");
    }
}

fn having(all: &mut Conditions, attributes: &[CustomAttribute]) {
    for wanted in attributes {
        all.binds.push(Bind::Word(wanted.key.clone()));
        all.binds.push(Bind::Word(wanted.value.clone()));
        let (key, value) = (all.binds.len() - 1, all.binds.len());
        all.plain(&custom_attribute::filter::condition("p.id", "project_id", key, value));
    }
}
