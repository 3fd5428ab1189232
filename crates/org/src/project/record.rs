//! Records of projects by one statement, for those that are read one by one: few requests are made as often.

use std::collections::{BTreeMap, HashMap};

use db::{
    OneOf as _, Subselect, SubselectText, Tx, columns, each_backend, error,
    schema::{
        members, namespace_access, namespaces, project_access, project_group_links,
        project_settings, project_topics, projects, users,
    },
};
use diesel::{
    dsl::exists,
    prelude::*,
    sql_types::{BigInt, Nullable},
};
use kernel::{
    AccessLevel, Actor, Result, Standing, Ts,
    ids::{ProjectId, UserId},
};

use super::{
    Detail, Project, ProjectView, Settings,
    statistics::{Statistics, StatisticsStore},
    topics::TopicStore,
    view::{self, FullView, GroupLink},
};
use crate::{
    access,
    expiry::living,
    namespace::{Kind, Namespace},
    user::UserSummary,
};

/// Stands for callers without an id: nobody has this one.
const NOBODY: UserId = UserId(0);

/// A number that another domain knows of each project, as it is asked for in a statement about `projects`.
pub trait NumberByProject: SubselectText<Kind = Nullable<BigInt>> {}

impl<T: SubselectText<Kind = Nullable<BigInt>>> NumberByProject for T {}

/// Two of these numbers.
pub type Numbers = (Option<i64>, Option<i64>);

/// A project and what its row alone does not say.
#[derive(Queryable)]
struct Row {
    project: Project,
    home: Namespace,
    settings: Option<String>,
    owner: Option<UserSummary>,
    level: Option<AccessLevel>,
    until: Option<Ts>,
    own_membership: Option<AccessLevel>,
    group_membership: Option<AccessLevel>,
    group_until: Option<Ts>,
    has_topics: bool,
    is_shared: bool,
    beside: Numbers,
}

/// Rows of other tables about some projects.
struct RelatedRows {
    topics: BTreeMap<ProjectId, Vec<String>>,
    sources: HashMap<ProjectId, ProjectView>,
    links: HashMap<ProjectId, Vec<GroupLink>>,
    /// Where they are wanted.
    statistics: Option<BTreeMap<ProjectId, Statistics>>,
}

/// The rows of the projects that a condition chooses, as `get_result` or `load` gives them.
macro_rules! rows_where {
    ($tx:expr, $actor:expr, $beside:expr, $condition:expr, $load:ident) => {{
        let user = $actor.id.unwrap_or(NOBODY);
        let access =
            project_access::user_id.eq(user).and(project_access::project_id.eq(projects::id));
        let living = living!(members, $tx.now);
        let own = members::user_id
            .eq(user)
            .and(members::project_id.eq(projects::id.nullable()))
            .and(living);
        let group = namespace_access::user_id
            .eq(user)
            .and(namespace_access::namespace_id.eq(projects::namespace_id));
        let topics = project_topics::table.filter(project_topics::project_id.eq(projects::id));
        let links = project_group_links::table
            .filter(project_group_links::project_id.eq(projects::id))
            .filter(living!(project_group_links, $tx.now));
        let query = projects::table
            .inner_join(namespaces::table)
            .left_join(project_settings::table.on(project_settings::project_id.eq(projects::id)))
            .left_join(users::table.on(namespaces::owner_id.eq(users::id.nullable())))
            .left_join(project_access::table.on(access))
            .left_join(members::table.on(own))
            .left_join(namespace_access::table.on(group))
            .filter($condition)
            .filter(projects::deleted_at.is_null());
        each_backend!($tx, |conn| query
            .select((
                columns(Project::as_select()),
                columns(Namespace::as_select()),
                project_settings::settings.nullable(),
                columns(Option::<UserSummary>::as_select()),
                project_access::access_level.nullable(),
                project_access::until.nullable(),
                members::access_level.nullable(),
                namespace_access::access_level.nullable(),
                namespace_access::until.nullable(),
                exists(topics),
                exists(links),
                $beside,
            ))
            .$load(conn)
            .map_err(error("Project")))
    }};
}

/// One project as `actor` sees it, with two numbers that others know of it.
pub fn one<A: NumberByProject, B: NumberByProject>(
    tx: &mut Tx<'_>,
    actor: Actor,
    id: ProjectId,
    want: Detail,
    beside: (Subselect<A>, Subselect<B>),
) -> Result<(ProjectView, Numbers)> {
    let row: Row = rows_where!(tx, actor, beside, projects::id.eq(id), get_result)?;
    let mut around = around(tx, actor, std::slice::from_ref(&row), want)?;
    let numbers = row.beside;
    Ok((shown(tx, actor, row, want, &mut around)?, numbers))
}

/// The full records of some projects, in no order, each with two numbers that others know of it.
pub fn some<A: NumberByProject, B: NumberByProject>(
    tx: &mut Tx<'_>,
    actor: Actor,
    ids: &[ProjectId],
    beside: (Subselect<A>, Subselect<B>),
) -> Result<HashMap<ProjectId, (ProjectView, Numbers)>> {
    let want = Detail::Full { statistics: false };
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<Row> = rows_where!(tx, actor, beside, projects::id.one_of(ids), load)?;
    let mut around = around(tx, actor, &rows, want)?;
    let mut all = HashMap::new();
    for row in rows {
        let (id, numbers) = (row.project.id, row.beside);
        all.insert(id, (shown(tx, actor, row, want, &mut around)?, numbers));
    }
    Ok(all)
}

fn around(tx: &mut Tx<'_>, actor: Actor, rows: &[Row], want: Detail) -> Result<RelatedRows> {
    let those = |has: fn(&Row) -> bool| -> Vec<ProjectId> {
        rows.iter().filter(|row| has(row)).map(|row| row.project.id).collect()
    };
    let (named, shared) = (those(|row| row.has_topics), those(|row| row.is_shared));
    let topics = match named.is_empty() {
        true => BTreeMap::new(),
        false => tx.topics_by_project(&named)?,
    };
    let Detail::Full { statistics } = want else {
        let (sources, links) = (HashMap::new(), HashMap::new());
        return Ok(RelatedRows { topics, sources, links, statistics: None });
    };
    let sources: Vec<ProjectId> =
        rows.iter().filter_map(|row| row.project.forked_from_id).collect();
    Ok(RelatedRows {
        topics,
        sources: view::fork_sources(tx, actor, &sources)?,
        links: match shared.is_empty() {
            true => HashMap::new(),
            false => view::links_by_project(tx, actor, &shared)?,
        },
        statistics: match statistics {
            true => Some(tx.statistics_by_project(&those(|_| true))?),
            false => None,
        },
    })
}

fn shown(
    tx: &mut Tx<'_>,
    actor: Actor,
    row: Row,
    want: Detail,
    around: &mut RelatedRows,
) -> Result<ProjectView> {
    let id = row.project.id;
    let level =
        access::level_now(tx, row.level, row.until, |tx| access::level_in_project(tx, actor, id))?;
    let mut shown = ProjectView {
        who: Standing::in_project(actor, level, &row.project.facts()),
        project: row.project,
        namespace: row.home,
        topics: around.topics.remove(&id).unwrap_or_default(),
        full: None,
    };
    if want == Detail::Basic {
        return Ok(shown);
    }
    let home = &shown.namespace;
    let owned = home.owner_id.is_some() && home.owner_id == actor.id;
    let group = home.id;
    let group_level = access::level_now(tx, row.group_membership, row.group_until, |tx| {
        access::level_in_namespace(tx, actor, group)
    })?;
    let in_group = home.kind == Kind::Group && row.group_membership.is_some();
    let source = shown.project.forked_from_id;
    shown.full = Some(Box::new(FullView {
        settings: row.settings.as_deref().map(Settings::parse).transpose()?.unwrap_or_default(),
        owner: row.owner,
        forked_from: source.and_then(|source| around.sources.get(&source).cloned()),
        shared_with: around.links.remove(&id).unwrap_or_default(),
        statistics: around.statistics.as_ref().map(|all| all.get(&id).copied().unwrap_or_default()),
        project_access: if owned { Some(AccessLevel::Owner) } else { row.own_membership },
        group_access: (in_group && group_level > AccessLevel::NoAccess).then_some(group_level),
    }));
    Ok(shown)
}
