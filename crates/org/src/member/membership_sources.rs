//! Where the roles in a source come from, as far as a reader may know: the source, what it lies in, and groups that were
//! invited to any of these.

use std::collections::{BTreeMap, BTreeSet};

use db::Tx;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Bool, Integer},
};
use kernel::{
    AccessLevel, Actor, Result,
    ids::{NamespaceId, ProjectId, UserId},
};

use super::{Member, Relations, Source, State, member_source::Lineage};
use crate::{
    access::role::FOREVER,
    expiry::living_in,
    listing::{self, value},
    namespace::model::keeps_to_itself,
};

/// The project and groups whose members have a role in a project or group.
#[derive(Clone, Debug)]
pub(super) struct MembershipSources {
    pub(super) project: Option<ProjectId>,
    /// The source itself, when it is a group, and those above: their members have their whole role.
    own: Vec<NamespaceId>,
    /// Groups whose members have a role by a share, with the one that they have at most.
    invited: BTreeMap<NamespaceId, AccessLevel>,
    /// Whether a group was invited that the reader may not know of.
    hides: bool,
}

#[derive(QueryableByName)]
struct SourceGroup {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Integer)]
    cap: i32,
    #[diesel(sql_type = Bool)]
    shown: bool,
}

impl MembershipSources {
    pub(super) fn of(
        tx: &mut Tx<'_>,
        actor: Actor,
        source: Source,
        lineage: &Lineage,
    ) -> Result<Self> {
        let project = match source {
            Source::Project(id) => Some(id),
            Source::Group(_) => None,
        };
        Self::invited_to(tx, actor, project, lineage.ids())
    }

    /// A project and some groups with the groups that were invited to them.
    fn invited_to(
        tx: &mut Tx<'_>,
        actor: Actor,
        project: Option<ProjectId>,
        own: Vec<NamespaceId>,
    ) -> Result<Self> {
        let house = house(tx, actor, project, &listed(own.iter()));
        let houses: Vec<SourceGroup> = listing::rows(
            tx,
            &format!("WITH RECURSIVE {house} SELECT id, cap, shown FROM house"),
            &[],
        )?;
        let mut invited: BTreeMap<NamespaceId, AccessLevel> = BTreeMap::new();
        let mut hides = false;
        for house in houses {
            if !house.shown {
                hides = true;
                continue;
            }
            let cap = AccessLevel::find(house.cap.into()).unwrap_or_default();
            let kept = invited.entry(NamespaceId(house.id)).or_insert(cap);
            *kept = cap.max(*kept);
        }
        Ok(Self { project, own, invited, hides })
    }

    /// The places that relate to a source in one of some ways; `below` are the groups inside it that the reader may know of.
    pub(super) fn related(
        tx: &mut Tx<'_>,
        actor: Actor,
        lineage: &Lineage,
        relations: Relations,
        below: Vec<NamespaceId>,
    ) -> Result<Self> {
        let (project, group) = match lineage.source() {
            Source::Project(id) => (Some(id), None),
            Source::Group(id) => (None, Some(id)),
        };
        // Invitations to the source, and those to what it lies in, are found apart.
        let all = lineage.ids();
        let invited_to: Vec<NamespaceId> = match (relations.invited, relations.invited_above) {
            (true, true) => all,
            (true, false) => group.into_iter().collect(),
            (false, true) => lineage.above().iter().map(|group| group.id).collect(),
            (false, false) => Vec::new(),
        };
        let invited_project = project.filter(|_| relations.invited);
        let mut membership_sources = match invited_to.is_empty() && invited_project.is_none() {
            true => Self { project, own: Vec::new(), invited: BTreeMap::new(), hides: false },
            false => Self::invited_to(tx, actor, invited_project, invited_to)?,
        };
        membership_sources.project = project.filter(|_| relations.direct);
        membership_sources.own = group.filter(|_| relations.direct).into_iter().collect();
        if relations.inherited {
            membership_sources.own.extend(lineage.above().iter().map(|group| group.id));
        }
        membership_sources.own.extend(below);
        Ok(membership_sources)
    }

    /// Whether nobody who has a role is to be left out.
    pub(super) fn shows_everybody(&self) -> bool {
        !self.hides
    }

    pub(super) fn groups(&self) -> BTreeSet<NamespaceId> {
        self.own.iter().copied().chain(self.invited.keys().copied()).collect()
    }

    /// What a membership gives here; nothing where it gives none, or the least, of its roles.
    pub(super) fn level_of(&self, member: &Member) -> Option<AccessLevel> {
        let level = member.level();
        let direct = member.project_id.is_some() && member.project_id == self.project;
        let above = member.namespace_id.is_some_and(|group| self.own.contains(&group));
        let given = match member.namespace_id.and_then(|group| self.invited.get(&group)) {
            _ if direct || above => level,
            // Whoever waits for approval in an invited group is nobody here.
            Some(cap) => member.access_level.min(*cap),
            None => AccessLevel::NoAccess,
        };
        (given > AccessLevel::Minimal).then_some(given)
    }

    /// The condition for rows `m` of memberships that count here.
    pub(super) fn given_in(&self, state: Option<State>) -> String {
        let own = listed(self.own.iter());
        let mut text = format!("(m.namespace_id IN ({own})");
        if let Some(project) = self.project {
            text += &format!(" OR m.project_id = {project}");
        }
        if !self.invited.is_empty() && state != Some(State::Awaiting) {
            let invited = listed(self.invited.keys());
            text += &format!(" OR (m.namespace_id IN ({invited}) AND m.access_level > 5)");
        }
        text + ")"
    }

    /// Whether anybody waits for approval here or above.
    pub(super) fn has_awaiting(&self, tx: &mut Tx<'_>) -> Result<bool> {
        let (own, project) = (listed(self.own.iter()), self.project.unwrap_or(ProjectId(0)));
        exists(
            tx,
            &format!(
                "SELECT 1 FROM members m WHERE m.awaiting_level IS NOT NULL \
                 AND (m.namespace_id IN ({own}) OR m.project_id = {project})"
            ),
        )
    }
}

/// The condition for rows `m` of memberships that were given in a source itself.
pub(super) fn given_in(source: Source) -> String {
    match source {
        Source::Project(id) => format!("m.project_id = {id}"),
        Source::Group(id) => format!("m.namespace_id = {id}"),
    }
}

/// Whether a role here has ended that the projection still has.
pub(super) fn has_lapsed(tx: &mut Tx<'_>, source: Source) -> Result<bool> {
    let rows = match source {
        Source::Project(id) => format!("project_access WHERE project_id = {}", value(id)),
        Source::Group(id) => format!("namespace_access WHERE namespace_id = {}", value(id)),
    };
    // The second condition is that of an index, which holds only what has an end.
    let (now, forever) = (value(tx.now.0), FOREVER.0);
    exists(tx, &format!("SELECT 1 FROM {rows} AND until <= {now} AND until < {forever}"))
}

fn exists(tx: &mut Tx<'_>, rows: &str) -> Result<bool> {
    #[derive(QueryableByName)]
    struct Answer {
        #[diesel(sql_type = Bool)]
        there: bool,
    }
    let text = format!("SELECT EXISTS ({rows}) AS there");
    let answers: Vec<Answer> = listing::rows(tx, &text, &[])?;
    Ok(answers.first().is_some_and(|answer| answer.there))
}

/// The groups whose members have a role by a share, as rows `house` of a statement: those that were invited to one of
/// `own`, which is SQL for groups, or to the project; then also those above these, and those invited to any of them. Each
/// tells whether the groups by which it came are public or the actor's.
fn house(tx: &Tx<'_>, actor: Actor, project: Option<ProjectId>, own: &str) -> String {
    let (shown, counts, locked) = (shown(tx, actor), counts(tx), keeps_to_itself("o.settings"));
    let project = value(project.unwrap_or(ProjectId(0)));
    format!(
        "lodge(id, cap, shown) AS (SELECT g.id, l.access_level, {shown} FROM project_group_links l \
         JOIN namespaces g ON g.id = l.namespace_id JOIN projects p ON p.id = l.project_id \
         JOIN namespaces o ON o.id = p.namespace_id \
         WHERE l.project_id = {project} AND {counts} AND NOT {locked} \
         UNION SELECT n.parent_id, h.cap, h.shown FROM lodge h JOIN namespaces n ON n.id = h.id \
         WHERE n.parent_id IS NOT NULL), \
         house(id, cap, shown) AS (SELECT id, cap, shown FROM lodge \
         UNION SELECT g.id, CASE WHEN l.access_level < h.cap THEN l.access_level ELSE h.cap END, h.shown AND {shown} \
         FROM lodge h JOIN group_group_links l ON l.namespace_id = h.id JOIN namespaces g ON g.id = l.invited_id \
         WHERE {counts} \
         UNION SELECT g.id, l.access_level, {shown} FROM group_group_links l JOIN namespaces g ON g.id = l.invited_id \
         WHERE l.namespace_id IN ({own}) AND {counts})"
    )
}

/// Whether a group was invited to a project, or to one that it lies in, that the reader may not know of.
pub(super) fn hides_somebody(tx: &mut Tx<'_>, actor: Actor, project: ProjectId) -> Result<bool> {
    let house = house(tx, actor, Some(project), "SELECT id FROM above");
    exists(
        tx,
        &format!(
            "WITH RECURSIVE above(id) AS (SELECT p.namespace_id FROM projects p WHERE p.id = {} \
             UNION SELECT n.parent_id FROM above b JOIN namespaces n ON n.id = b.id WHERE n.parent_id IS NOT NULL), \
             {house} SELECT 1 FROM house WHERE NOT shown",
            value(project)
        ),
    )
}

/// Whether an invited group `g` is public or the actor's.
fn shown(tx: &Tx<'_>, actor: Actor) -> String {
    if actor.admin {
        return "1 = 1".to_owned();
    }
    let (user, now) = (value(actor.id.unwrap_or(UserId(0))), value(tx.now.0));
    format!(
        "(g.visibility = 'public' OR EXISTS (SELECT 1 FROM namespace_access a WHERE a.user_id = {user} \
         AND a.namespace_id = g.id AND a.access_level > 0 AND a.until > {now}))"
    )
}

/// Whether a share `l` with a group `g` gives anybody a role.
fn counts(tx: &Tx<'_>) -> String {
    let living = living_in("l", tx.now);
    format!("{living} AND l.access_level > 5 AND g.deleted_at IS NULL")
}

fn listed<'a>(ids: impl Iterator<Item = &'a NamespaceId>) -> String {
    let ids: Vec<String> = ids.map(ToString::to_string).collect();
    if ids.is_empty() { "0".to_owned() } else { ids.join(", ") }
}
