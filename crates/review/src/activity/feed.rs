//! Feeds: what people did, as far as a reader may know of it.

use std::collections::HashMap;

use db::{
    CountOf, Fragment, Tx, each_backend, error,
    listing::{ids, value},
    schema::{events, issues, item_assignees as assignees, notes, project_access},
};
use diesel::{dsl::exists, prelude::*};
use kernel::{
    Ability as _, AccessLevel, Actor, Feature, Result, Standing, Ts,
    ids::{NamespaceId, ProjectId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::store::{Action, Activity, COMMIT_NOTE, MILESTONE, WIKI_PAGE};
use crate::{
    item::{ItemKind, reading::reads_kind},
    policy::ReadMilestones,
    ports::Forge,
};

/// The user, project or group of a feed.
#[derive(Clone, Copy, Debug)]
pub enum Feed {
    Of(UserId),
    In(ProjectId),
    /// Everybody's, in the projects that somebody is a member of.
    Around(UserId),
}

kernel::text_enum! {
    /// The kind of an event's target.
    pub enum TargetType {
        Issue = "issue",
        Milestone = "milestone",
        MergeRequest = "merge_request",
        Note = "note",
        Project = "project",
        Snippet = "snippet",
        User = "user",
    }
}

impl TargetType {
    /// The types under which events keep it.
    fn kept(self) -> &'static [&'static str] {
        match self {
            Self::Issue => &["Issue"],
            Self::Milestone => &["Milestone"],
            Self::MergeRequest => &["MergeRequest"],
            Self::Note => &["Note", "DiffNote", "DiscussionNote", COMMIT_NOTE],
            Self::Project => &["Project"],
            Self::Snippet => &["Snippet"],
            Self::User => &["User"],
        }
    }
}

/// Which events are asked for.
#[derive(Clone, Copy, Debug)]
pub struct FeedFilter {
    pub action: Option<Action>,
    pub target: Option<TargetType>,
    /// Both leave out their own moment.
    pub before: Option<Ts>,
    pub since: Option<Ts>,
    pub newest_first: bool,
}

/// Projects by what a reader may know of them.
#[derive(Debug, Default)]
struct VisibleProjects {
    visible: Vec<ProjectId>,
    code: Vec<ProjectId>,
    merge_requests: Vec<ProjectId>,
    milestones: Vec<ProjectId>,
    wikis: Vec<ProjectId>,
    /// Without those that are confidential.
    issues: Vec<ProjectId>,
    /// With what is confidential or internal.
    inner: Vec<ProjectId>,
}

/// The reader of a feed, and what they may see.
struct Reader {
    id: UserId,
    projects: VisibleProjects,
    /// Whose milestones they may know of.
    groups: Vec<NamespaceId>,
    /// Whose wikis they may read.
    wikis: Vec<NamespaceId>,
}

/// Databases take only so many values in one question; what happened last counts.
const MOST_PROJECTS: i64 = 2_000;

/// A page of a feed.
pub fn feed(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    whose: Feed,
    filter: FeedFilter,
    page: PageRequest,
) -> Result<Page<Activity>> {
    let projects = match whose {
        Feed::In(project) => vec![project],
        Feed::Of(user) => projects_of(tx, user)?,
        Feed::Around(user) => projects_around(tx, user)?,
    };
    let author = match whose {
        Feed::Of(user) => Some(user),
        Feed::In(_) | Feed::Around(_) => None,
    };
    let seen = groups_of(tx, forge, actor, whose)?;
    let reader = Reader {
        id: actor.id.unwrap_or(UserId(0)),
        wikis: forge.group_wikis(tx, actor, &seen)?,
        // Milestones of groups are for those who say who they are.
        groups: if actor.id.is_some() { seen } else { Vec::new() },
        projects: known(&forge.standings_in(tx, actor, &projects)?),
    };
    load(tx, &reader, author, filter, page)
}

/// The groups of which a feed tells, as far as the reader may know of them.
fn groups_of(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    actor: Actor,
    whose: Feed,
) -> Result<Vec<NamespaceId>> {
    const GROUP: &str = "e.namespace_id";
    let condition = match whose {
        Feed::Of(user) => {
            let seen = forge.sees_group(tx, actor, GROUP)?;
            Fragment::new(format!("e.author_id = {} AND {seen}", value(user)))
        }
        Feed::Around(user) => {
            let member = Actor { admin: false, id: Some(user), ..actor };
            forge.has_role_in(tx.now, member, GROUP, AccessLevel::Guest)
        }
        // What is done in groups is not in feeds of projects.
        Feed::In(_) => return Ok(Vec::new()),
    };
    let sql = format!(
        "SELECT DISTINCT {GROUP} AS id FROM events e WHERE {GROUP} IS NOT NULL AND {condition} \
         LIMIT {MOST_PROJECTS}"
    );
    Ok(ids(tx, &sql, &[])?.into_iter().map(NamespaceId).collect())
}

/// The projects in which somebody did something, the latest first.
fn projects_of(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<ProjectId>> {
    let rows = events::table
        .filter(events::author_id.eq(user).and(events::project_id.is_not_null()))
        .group_by(events::project_id)
        .order(diesel::dsl::max(events::id).desc())
        .limit(MOST_PROJECTS)
        .select(events::project_id.assume_not_null());
    each_backend!(tx, |conn| rows.load(conn).map_err(error("Event")))
}

/// The projects to which somebody contributed, the latest first: pushes count, and what is done and said about issues
/// and merge requests.
pub fn contributed_to(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<ProjectId>> {
    let rows = events::table
        .filter(events::author_id.eq(user).and(events::project_id.is_not_null()))
        .filter(events::item_kind.is_not_null().or(events::action.eq(Action::Pushed)))
        .group_by(events::project_id)
        .order(diesel::dsl::max(events::id).desc())
        .limit(MOST_PROJECTS)
        .select(events::project_id.assume_not_null());
    each_backend!(tx, |conn| rows.load(conn).map_err(error("Event")))
}

/// The projects that somebody is a member of, the latest first.
fn projects_around(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<ProjectId>> {
    let rows = project_access::table
        .filter(project_access::user_id.eq(user))
        .order(project_access::project_id.desc())
        .limit(MOST_PROJECTS)
        .select(project_access::project_id);
    each_backend!(tx, |conn| rows.load(conn).map_err(error("Project")))
}

fn known(standings: &HashMap<ProjectId, Standing>) -> VisibleProjects {
    let mut known = VisibleProjects::default();
    for (project, who) in standings {
        known.visible.push(*project);
        if who.reads(Feature::Repository, AccessLevel::Reporter) {
            known.code.push(*project);
        }
        if reads_kind(ItemKind::MergeRequest, who) && who.signed_in() {
            known.merge_requests.push(*project);
        }
        if ReadMilestones::allows(who) && who.signed_in() {
            known.milestones.push(*project);
        }
        if who.reads(Feature::Wiki, AccessLevel::Guest) {
            known.wikis.push(*project);
        }
        if reads_kind(ItemKind::Issue, who) {
            known.issues.push(*project);
        }
        if who.is(AccessLevel::Reporter) {
            known.inner.push(*project);
        }
    }
    known
}

#[expect(clippy::too_many_lines, reason = "a condition for each kind of event and each parameter")]
fn load(
    tx: &mut Tx<'_>,
    reader: &Reader,
    author: Option<UserId>,
    filter: FeedFilter,
    page: PageRequest,
) -> Result<Page<Activity>> {
    let (me, known) = (reader.id, &reader.projects);
    let (items, total) = each_backend!(tx, |conn| {
        let chosen = || {
            let mine = assignees::table
                .filter(assignees::item_kind.eq(ItemKind::Issue))
                .filter(assignees::item_id.eq(issues::id).and(assignees::user_id.eq(me)));
            let hidden = issues::table
                .filter(issues::id.nullable().eq(events::item_id))
                .filter(issues::confidential.eq(true).and(issues::author_id.ne(me)))
                .filter(diesel::dsl::not(exists(mine)));
            let internal = notes::table
                .filter(notes::id.nullable().eq(events::note_id))
                .filter(notes::internal.eq(true).and(notes::author_id.ne(me)));
            let of = |projects: &[ProjectId]| {
                events::project_id.eq_any(projects.to_vec()).assume_not_null()
            };
            let in_groups = |groups: &[NamespaceId]| {
                events::namespace_id.eq_any(groups.to_vec()).assume_not_null()
            };
            let plain = events::item_kind.is_null().and(events::action.ne(Action::Pushed)).and(
                events::target_type.is_null().or(events::target_type
                    .ne_all([MILESTONE, WIKI_PAGE, COMMIT_NOTE])
                    .assume_not_null()),
            );
            let of_type = |name: &'static str| events::target_type.eq(name).assume_not_null();
            let on_issues = events::item_kind.eq(ItemKind::Issue).assume_not_null();
            let on_requests = events::item_kind.eq(ItemKind::MergeRequest).assume_not_null();
            let allowed = (plain.and(of(&known.visible)))
                .or(of_type(MILESTONE).and(in_groups(&reader.groups)))
                .or(of_type(WIKI_PAGE).and(in_groups(&reader.wikis)))
                .or(of_type(MILESTONE).and(of(&known.milestones)))
                .or(of_type(WIKI_PAGE).and(of(&known.wikis)))
                .or(of_type(COMMIT_NOTE).and(of(&known.code)))
                .or(events::action.eq(Action::Pushed).and(of(&known.code)))
                .or(on_requests.and(of(&known.merge_requests)))
                .or(on_issues
                    .and(of(&known.issues))
                    .and(of(&known.inner).or(diesel::dsl::not(exists(hidden)))));
            let mut rows = events::table
                .filter(allowed)
                .filter(of(&known.inner).or(diesel::dsl::not(exists(internal))))
                .into_boxed();
            if let Some(author) = author {
                rows = rows.filter(events::author_id.eq(author));
            }
            if let Some(action) = filter.action {
                rows = rows.filter(events::action.eq(action));
            }
            if let Some(kinds) = filter.target.map(TargetType::kept) {
                rows = rows.filter(events::target_type.eq_any(kinds).assume_not_null());
            }
            if let Some(before) = filter.before {
                rows = rows.filter(events::created_at.lt(before));
            }
            if let Some(since) = filter.since {
                rows = rows.filter(events::created_at.ge(since));
            }
            rows
        };
        let rows = match filter.newest_first {
            true => chosen().order(events::id.desc()),
            false => chosen().order(events::id.asc()),
        };
        let items = rows
            .limit(page.per_page)
            .offset(page.offset())
            .select(Activity::as_select())
            .load(conn)
            .map_err(error("Event"))?;
        let counted = CountOf(chosen().select(events::id).limit(COUNT_LIMIT + 1));
        let total: i64 = counted.get_result(conn).map_err(error("Event"))?;
        (items, total)
    });
    Ok(Page { items, total: Total::Counted(total) })
}
