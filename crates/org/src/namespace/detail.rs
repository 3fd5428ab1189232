//! Everything that a group's own record tells.

use db::{
    OneOf as _, Subselect, Tx, each_backend, error,
    schema::{group_group_links, namespaces, project_access, project_group_links, projects},
};
use diesel::{
    dsl::exists,
    prelude::*,
    sql_types::{Nullable, Text},
};
use kernel::{
    AccessLevel, Actor, Result, Visibility,
    ids::{NamespaceId, ProjectId},
};

use super::{
    Namespace, networks,
    sharing::{self, GroupLink},
};
use crate::{
    custom_attribute::{CustomAttribute, Subject, store::CustomAttributeStore},
    expiry::living,
    project::{
        record::{self, NumberByProject, Numbers},
        view::ProjectView,
    },
    settings::{Settings, store::SettingsStore},
};

db::subselect! {
    /// The installation's settings, as text.
    struct Installation -> Nullable<Text> = "SELECT settings FROM instance_settings WHERE id = 1";
}

/// A group with its surroundings, as one caller sees them.
#[derive(Debug)]
pub struct Detail {
    pub group: Namespace,
    /// How far default branches are protected where the group does not say.
    pub protection: i32,
    pub links: Vec<GroupLink>,
    /// Where the record is to list them.
    pub projects: Option<Projects>,
    /// What administrators noted, for one of them.
    pub notes: Option<Vec<CustomAttribute>>,
}

/// The newest projects of a group, and of those that it was invited to.
#[derive(Debug)]
pub struct Projects {
    pub own: Vec<ProjectView>,
    pub shared: Vec<ProjectView>,
}

/// Details of a group from other tables.
#[derive(Queryable)]
struct Row {
    group: Namespace,
    installation: Option<String>,
    is_shared: bool,
    has_projects: bool,
    is_invited: bool,
}

/// A group as it is read: by itself, or with its projects. What others know of those projects is read with them.
pub fn read<A: NumberByProject, B: NumberByProject>(
    tx: &mut Tx<'_>,
    actor: Actor,
    id: NamespaceId,
    beside: Option<(Subselect<A>, Subselect<B>)>,
) -> Result<(Detail, Vec<(ProjectId, Numbers)>)> {
    let row = row(tx, id)?;
    let (projects, numbers) = match beside {
        Some(beside) => {
            let (projects, numbers) = projects(tx, actor, &row, beside)?;
            (Some(projects), numbers)
        }
        None => (None, Vec::new()),
    };
    let links = match row.is_shared {
        true => sharing::links(tx, actor, id)?,
        false => Vec::new(),
    };
    let protection = Settings::stored(row.installation.as_deref())?.default_branch_protection;
    Ok((Detail { group: row.group, protection, links, projects, notes: None }, numbers))
}

fn row(tx: &mut Tx<'_>, id: NamespaceId) -> Result<Row> {
    let links = group_group_links::table.filter(group_group_links::namespace_id.eq(id));
    let own = projects::table.filter(projects::namespace_id.eq(id));
    let invited = project_group_links::table.filter(project_group_links::namespace_id.eq(id));
    let query = namespaces::table.find(id).filter(namespaces::deleted_at.is_null());
    each_backend!(tx, |conn| query
        .select((
            Namespace::as_select(),
            Subselect::<Installation>::new(),
            exists(links),
            exists(own),
            exists(invited),
        ))
        .get_result(conn)
        .map_err(error("Namespace")))
}

fn projects<A: NumberByProject, B: NumberByProject>(
    tx: &mut Tx<'_>,
    actor: Actor,
    row: &Row,
    beside: (Subselect<A>, Subselect<B>),
) -> Result<(Projects, Vec<(ProjectId, Numbers)>)> {
    let group = row.group.id;
    let closed = match row.has_projects || row.is_invited {
        true => networks::closed_to(tx, actor)?,
        false => Vec::new(),
    };
    let mut ids = |there: bool, among: ProjectSet| match there {
        true => newest(tx, actor, &among, &closed),
        false => Ok(Vec::new()),
    };
    let own = ids(row.has_projects, ProjectSet::In(group))?;
    let shared = ids(row.is_invited, ProjectSet::SharedWith(group))?;
    let all: Vec<ProjectId> = own.iter().chain(&shared).copied().collect();
    let found = record::some(tx, actor, &all, beside)?;
    let listed = |ids: &[ProjectId]| {
        ids.iter().filter_map(|id| found.get(id)).map(|(shown, _)| shown.clone()).collect()
    };
    let projects = Projects { own: listed(&own), shared: listed(&shared) };
    Ok((projects, found.into_iter().map(|(id, (_, numbers))| (id, numbers)).collect()))
}

/// A group without its projects.
pub fn plain(tx: &mut Tx<'_>, actor: Actor, group: Namespace) -> Result<Detail> {
    let protection = tx.settings()?.default_branch_protection;
    let links = sharing::links(tx, actor, group.id)?;
    Ok(Detail { group, protection, links, projects: None, notes: None })
}

/// What administrators noted of a group, for administrators alone.
pub fn notes(
    tx: &mut Tx<'_>,
    actor: Actor,
    group: NamespaceId,
) -> Result<Option<Vec<CustomAttribute>>> {
    if actor.admin { tx.custom_attributes(Subject::Group(group)).map(Some) } else { Ok(None) }
}

enum ProjectSet {
    In(NamespaceId),
    SharedWith(NamespaceId),
}

/// The most that a record lists of either kind.
const MOST: i64 = 100;

fn newest(
    tx: &mut Tx<'_>,
    actor: Actor,
    among: &ProjectSet,
    closed: &[String],
) -> Result<Vec<ProjectId>> {
    let now = tx.now;
    each_backend!(tx, |conn| {
        let mut query = projects::table.filter(projects::deleted_at.is_null()).into_boxed();
        query = match among {
            ProjectSet::In(group) => query.filter(projects::namespace_id.eq(*group)),
            ProjectSet::SharedWith(group) => query.filter(
                projects::id.eq_any(
                    project_group_links::table
                        .filter(project_group_links::namespace_id.eq(*group))
                        .filter(living!(project_group_links, now))
                        .select(project_group_links::project_id),
                ),
            ),
        };
        if !closed.is_empty() {
            let homes = namespaces::table.filter(namespaces::ip_ranges.one_of(closed));
            query = query.filter(projects::namespace_id.ne_all(homes.select(namespaces::id)));
        }
        query = match actor.id {
            _ if actor.admin => query,
            None => query.filter(projects::visibility.eq(Visibility::Public)),
            Some(user) => {
                let member = exists(
                    project_access::table
                        .filter(project_access::user_id.eq(user))
                        .filter(project_access::project_id.eq(projects::id))
                        .filter(project_access::access_level.gt(AccessLevel::NoAccess))
                        .filter(project_access::until.gt(now)),
                );
                let open: &[Visibility] = match actor.external {
                    true => &[Visibility::Public],
                    false => &[Visibility::Public, Visibility::Internal],
                };
                query.filter(projects::visibility.one_of(open).or(member))
            }
        };
        query
            .order_by(projects::id.desc())
            .limit(MOST)
            .select(projects::id)
            .load(conn)
            .map_err(error("Project"))
    })
}
