//! One project's record by one statement: few requests are made as often.

use db::{
    Tx, each_backend, error,
    schema::{
        members, namespace_access, namespaces, project_access, project_group_links,
        project_settings, project_topics, projects, users,
    },
};
use diesel::{dsl::exists, prelude::*};
use kernel::{
    AccessLevel, Actor, Result, Standing, Ts,
    ids::{ProjectId, UserId},
};

use super::{
    Project, Settings, Shown, Want,
    shown::{self, Full},
    statistics::StatisticsStore,
    topics::TopicStore,
};
use crate::{
    access,
    ends::living,
    namespace::{Kind, Namespace},
    user::User,
};

/// Stands for callers without an id: nobody has this one.
const NOBODY: UserId = UserId(0);

/// A project and what its row alone does not say.
#[derive(Queryable)]
struct Row {
    project: Project,
    home: Namespace,
    settings: Option<String>,
    owner: Option<User>,
    level: Option<AccessLevel>,
    until: Option<Ts>,
    own_membership: Option<AccessLevel>,
    group_membership: Option<AccessLevel>,
    group_until: Option<Ts>,
    has_topics: bool,
    is_shared: bool,
}

/// One project as `actor` sees it.
pub fn one(tx: &mut Tx<'_>, actor: Actor, id: ProjectId, want: Want) -> Result<Shown> {
    let row = row(tx, actor, id)?;
    let level =
        access::level_now(tx, row.level, row.until, |tx| access::level_in_project(tx, actor, id))?;
    let topics = match row.has_topics {
        true => tx.topics_by_project(&[id])?.remove(&id).unwrap_or_default(),
        false => Vec::new(),
    };
    let mut shown = Shown {
        who: Standing::in_project(actor, level, &row.project.facts()),
        project: row.project,
        namespace: row.home,
        topics,
        full: None,
    };
    let Want::Full { statistics } = want else { return Ok(shown) };
    let home = &shown.namespace;
    let owned = home.owner_id.is_some() && home.owner_id == actor.id;
    let group = home.id;
    let group_level = access::level_now(tx, row.group_membership, row.group_until, |tx| {
        access::level_in_namespace(tx, actor, group)
    })?;
    let in_group = home.kind == Kind::Group && row.group_membership.is_some();
    let full = Full {
        settings: row.settings.as_deref().map(Settings::parse).transpose()?.unwrap_or_default(),
        owner: row.owner,
        forked_from: match shown.project.forked_from_id {
            Some(source) => shown::fork_sources(tx, actor, &[source])?.remove(&source),
            None => None,
        },
        shared_with: match row.is_shared {
            true => shown::links_by_project(tx, actor, &[id])?.remove(&id).unwrap_or_default(),
            false => Vec::new(),
        },
        statistics: match statistics {
            true => Some(tx.statistics_by_project(&[id])?.remove(&id).unwrap_or_default()),
            false => None,
        },
        project_access: if owned { Some(AccessLevel::Owner) } else { row.own_membership },
        group_access: (in_group && group_level > AccessLevel::NoAccess).then_some(group_level),
    };
    shown.full = Some(Box::new(full));
    Ok(shown)
}

fn row(tx: &mut Tx<'_>, actor: Actor, id: ProjectId) -> Result<Box<Row>> {
    let user = actor.id.unwrap_or(NOBODY);
    let access = project_access::user_id.eq(user).and(project_access::project_id.eq(projects::id));
    let living = living!(members, tx.now);
    let own =
        members::user_id.eq(user).and(members::project_id.eq(projects::id.nullable())).and(living);
    let group = namespace_access::user_id
        .eq(user)
        .and(namespace_access::namespace_id.eq(projects::namespace_id));
    let topics = project_topics::table.filter(project_topics::project_id.eq(projects::id));
    let links = project_group_links::table
        .filter(project_group_links::project_id.eq(projects::id))
        .filter(living!(project_group_links, tx.now));
    let query = projects::table
        .inner_join(namespaces::table)
        .left_join(project_settings::table.on(project_settings::project_id.eq(projects::id)))
        .left_join(users::table.on(namespaces::owner_id.eq(users::id.nullable())))
        .left_join(project_access::table.on(access))
        .left_join(members::table.on(own))
        .left_join(namespace_access::table.on(group))
        .filter(projects::id.eq(id))
        .filter(projects::deleted_at.is_null());
    let row: Row = each_backend!(tx, |conn| query
        .select((
            Project::as_select(),
            Namespace::as_select(),
            project_settings::settings.nullable(),
            Option::<User>::as_select(),
            project_access::access_level.nullable(),
            project_access::until.nullable(),
            members::access_level.nullable(),
            namespace_access::access_level.nullable(),
            namespace_access::until.nullable(),
            exists(topics),
            exists(links),
        ))
        .get_result(conn)
        .map_err(error("Project")))?;
    Ok(Box::new(row))
}
