//! An epic.

use std::collections::HashMap;

use db::Tx;
use forge::{ports::review::OrgHierarchy, urls::Urls};
use kernel::{
    Actor, Result, Ts,
    ids::{NamespaceId, UserId},
    time::date_text,
};
use org::{
    hierarchy,
    user::{User, store::UserStore},
};
use review::{
    epic::{self, DateRange, Epic, EpicStore},
    issue::{Issue, IssueState},
    item::{ItemKind, ItemStore, subscriptions::is_subscribed},
    label::{Label, text_color},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    issue::{IssueEntity, IssueView},
    item::{LabelNames, ReferenceScope, References},
};
use crate::org::brief_user::BriefUser;

/// Short form of an epic, as in issues.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BriefEpic {
    pub id: i64,
    pub iid: i64,
    pub title: String,
    /// Path of the epic's page, without the host.
    pub url: String,
    pub group_id: i64,
}

impl BriefEpic {
    /// Those of these epics that somebody may read, by their ids.
    pub fn of(tx: &mut Tx<'_>, by: Actor, ids: &[i64]) -> Result<HashMap<i64, Self>> {
        let epics = epic::readable(tx, &OrgHierarchy, by, ids)?;
        let paths = paths(tx, &epics)?;
        let brief = |epic: Epic| {
            let path = paths.get(&epic.namespace_id).map_or("", String::as_str);
            let url = format!("/groups/{path}/-/epics/{}", epic.iid);
            let group_id = epic.namespace_id.0;
            (epic.id, Self { id: epic.id, iid: epic.iid, title: epic.title, url, group_id })
        };
        Ok(epics.into_iter().map(brief).collect())
    }
}

fn paths(tx: &mut Tx<'_>, epics: &[Epic]) -> Result<HashMap<NamespaceId, String>> {
    let mut groups: Vec<NamespaceId> = epics.iter().map(|epic| epic.namespace_id).collect();
    groups.sort_unstable();
    groups.dedup();
    if groups.is_empty() { Ok(HashMap::new()) } else { hierarchy::group_paths(tx, &groups) }
}

/// How epics are shown.
#[derive(Clone, Debug)]
pub struct EpicView {
    /// Epics around them are named as far as this one may read them.
    pub reader: Actor,
    /// The full path of the group that was asked; its own where it is `None`.
    pub from: Option<String>,
    pub with_labels_details: bool,
}

impl EpicView {
    pub fn of(reader: Actor) -> Self {
        Self { reader, from: None, with_labels_details: false }
    }
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EpicEntity {
    pub id: i64,
    pub iid: i64,
    pub color: String,
    pub text_color: &'static str,
    pub group_id: i64,
    /// ID of the parent epic.
    pub parent_id: Option<i64>,
    pub parent_iid: Option<i64>,
    pub title: String,
    pub description: Option<String>,
    pub confidential: bool,
    pub author: Option<BriefUser>,
    /// Date (`2026-12-31`): the fixed one, or the earliest start of the milestones of its issues.
    pub start_date: Option<String>,
    pub start_date_is_fixed: bool,
    pub start_date_fixed: Option<String>,
    pub start_date_from_milestones: Option<String>,
    /// Same as `due_date`; deprecated.
    pub end_date: Option<String>,
    /// Date: the fixed one, or the latest due date of the milestones of its issues.
    pub due_date: Option<String>,
    pub due_date_is_fixed: bool,
    pub due_date_fixed: Option<String>,
    pub due_date_from_milestones: Option<String>,
    #[schema(value_type = String)]
    pub state: IssueState,
    pub web_url: String,
    pub reference: String,
    pub references: References,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    #[schema(value_type = Option<String>)]
    pub closed_at: Option<Ts>,
    pub labels: LabelNames,
    pub upvotes: i64,
    pub downvotes: i64,
    /// Whether the caller is subscribed. Not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscribed: Option<bool>,
    #[serde(rename = "_links")]
    pub links: EpicLinks,
}

/// API URLs of related resources.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EpicLinks {
    #[serde(rename = "self")]
    pub this: String,
    pub epic_issues: String,
    pub group: String,
    pub parent: Option<String>,
}

/// What belongs to a page of epics.
struct EpicContext {
    users: HashMap<UserId, User>,
    labels: HashMap<i64, Vec<Label>>,
    paths: HashMap<NamespaceId, String>,
    spans: HashMap<i64, DateRange>,
    parents: HashMap<i64, Epic>,
}

impl EpicEntity {
    /// What belongs to them is looked up once for all of them.
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        epics: Vec<Epic>,
        view: &EpicView,
    ) -> Result<Vec<Self>> {
        let ids: Vec<i64> = epics.iter().map(|epic| epic.id).collect();
        let mut authors: Vec<UserId> = epics.iter().map(|epic| epic.author_id).collect();
        authors.sort_unstable();
        authors.dedup();
        let around = EpicContext {
            users: tx.users_by_id(&authors)?,
            labels: tx.labels_of(ItemKind::Epic, &ids)?,
            paths: paths(tx, &epics)?,
            parents: parents(tx, view.reader, &epics)?,
            spans: tx.spans_of_epics(&ids)?,
        };
        Ok(epics.into_iter().map(|epic| Self::new(urls, epic, &around, view)).collect())
    }

    /// One epic, for a reader who asked the group with that full path.
    pub fn one(
        tx: &mut Tx<'_>,
        urls: &Urls,
        epic: Epic,
        (group, reader): (&str, Actor),
    ) -> Result<Self> {
        let view = EpicView { from: Some(group.to_owned()), ..EpicView::of(reader) };
        let subscribed = match reader.id {
            Some(user) => is_subscribed(tx, &epic.whole(), user)?,
            None => false,
        };
        let shown =
            Self::all(tx, urls, vec![epic], &view)?.pop().ok_or_else(kernel::Error::missing)?;
        Ok(Self { subscribed: Some(subscribed), ..shown })
    }

    fn new(urls: &Urls, epic: Epic, around: &EpicContext, view: &EpicView) -> Self {
        let path = around.paths.get(&epic.namespace_id).map_or("", String::as_str);
        let span = around.spans.get(&epic.id).copied().unwrap_or_default();
        let labels: &[Label] = around.labels.get(&epic.id).map_or(&[], Vec::as_slice);
        let day = |at: Option<Ts>| at.map(|at| date_text(at.date()));
        let start = if epic.start_date_is_fixed { epic.start_date_fixed } else { span.start };
        let due = if epic.due_date_is_fixed { epic.due_date_fixed } else { span.due };
        let short = format!("&{}", epic.iid);
        let parent = epic.parent_id.and_then(|id| around.parents.get(&id));
        let from = match view.from.as_ref().filter(|from| *from != path) {
            None => ReferenceScope::Home,
            Some(from) => ReferenceScope::Group(from.clone()),
        };
        Self {
            id: epic.id,
            iid: epic.iid,
            text_color: text_color(&epic.color),
            color: epic.color,
            group_id: epic.namespace_id.0,
            parent_id: parent.map(|parent| parent.id),
            parent_iid: parent.map(|parent| parent.iid),
            title: epic.title,
            description: epic.description,
            confidential: epic.confidential,
            author: around.users.get(&epic.author_id).map(|user| BriefUser::new(urls, user)),
            start_date: day(start),
            start_date_is_fixed: epic.start_date_is_fixed,
            start_date_fixed: day(epic.start_date_fixed),
            start_date_from_milestones: day(span.start),
            end_date: day(due),
            due_date: day(due),
            due_date_is_fixed: epic.due_date_is_fixed,
            due_date_fixed: day(epic.due_date_fixed),
            due_date_from_milestones: day(span.due),
            state: epic.state,
            web_url: urls.at(&format!("groups/{path}/-/epics/{}", epic.iid)),
            references: References::new(short.clone(), path, &from),
            reference: short,
            created_at: epic.created_at,
            updated_at: epic.updated_at,
            closed_at: epic.closed_at,
            labels: LabelNames::new(labels, view.with_labels_details),
            upvotes: epic.upvotes,
            downvotes: epic.downvotes,
            subscribed: None,
            links: EpicLinks::new(urls, epic.namespace_id, epic.iid, parent),
        }
    }
}

/// Those epics that hold others and that somebody may read, by their ids.
fn parents(tx: &mut Tx<'_>, reader: Actor, epics: &[Epic]) -> Result<HashMap<i64, Epic>> {
    let mut ids: Vec<i64> = epics.iter().filter_map(|epic| epic.parent_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = epic::readable(tx, &OrgHierarchy, reader, &ids)?;
    Ok(found.into_iter().map(|epic| (epic.id, epic)).collect())
}

impl EpicLinks {
    fn new(urls: &Urls, group: NamespaceId, iid: i64, parent: Option<&Epic>) -> Self {
        let at = |group: NamespaceId| urls.at(&format!("api/v4/groups/{group}"));
        let parent =
            parent.map(|parent| format!("{}/epics/{}", at(parent.namespace_id), parent.iid));
        let group = at(group);
        let this = format!("{group}/epics/{iid}");
        Self { epic_issues: format!("{this}/issues"), this, group, parent }
    }
}

/// An issue assigned to an epic.
#[derive(Debug, Serialize, ToSchema)]
pub struct EpicIssueEntity {
    #[serde(flatten)]
    pub issue: IssueEntity,
    /// ID of the link between epic and issue. An issue has at most one epic, so this is the issue's ID.
    pub epic_issue_id: i64,
    pub relative_position: Option<i64>,
}

impl EpicIssueEntity {
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        issues: Vec<Issue>,
        view: &IssueView,
    ) -> Result<Vec<Self>> {
        let positions: Vec<Option<i64>> = issues.iter().map(|issue| issue.epic_position).collect();
        let shown = IssueEntity::all(tx, urls, issues, view)?;
        let entity = |(issue, relative_position): (IssueEntity, Option<i64>)| Self {
            epic_issue_id: issue.id,
            relative_position,
            issue,
        };
        Ok(shown.into_iter().zip(positions).map(entity).collect())
    }
}

/// The link between an epic and an issue.
#[derive(Debug, Serialize, ToSchema)]
pub struct EpicIssueLinkEntity {
    pub id: i64,
    pub epic: EpicEntity,
    pub issue: IssueEntity,
}

impl EpicIssueLinkEntity {
    pub fn new(
        tx: &mut Tx<'_>,
        urls: &Urls,
        (epic, issue): (Epic, Issue),
        group: &str,
        by: Actor,
    ) -> Result<Self> {
        let id = issue.id.0;
        let view = IssueView { from: ReferenceScope::Group(group.to_owned()), ..IssueView::of(by) };
        let issue = IssueEntity::all(tx, urls, vec![issue], &view)?.pop();
        let issue = issue.ok_or_else(kernel::Error::missing)?;
        Ok(Self { id, epic: EpicEntity::one(tx, urls, epic, (group, by))?, issue })
    }
}

/// Short form of a child epic.
#[derive(Debug, Serialize, ToSchema)]
pub struct LinkedEpicEntity {
    pub id: i64,
    pub iid: i64,
    pub title: String,
    pub group_id: i64,
    pub parent_id: i64,
    pub has_children: bool,
    pub has_issues: bool,
    /// Reference relative to the group of the parent epic.
    pub reference: String,
    pub url: String,
    /// API URL that removes the link when called with DELETE.
    pub relation_url: String,
}

impl LinkedEpicEntity {
    /// Epics inside of that of this number in a group, by its path and id. Whether they have children and issues that the actor
    /// may read is looked up once for all.
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        actor: Actor,
        epics: Vec<Epic>,
        (group, id, iid): (&str, NamespaceId, i64),
    ) -> Result<Vec<Self>> {
        let paths = paths(tx, &epics)?;
        let ids: Vec<i64> = epics.iter().map(|epic| epic.id).collect();
        let content = epic::readable_content(tx, &OrgHierarchy, actor, &ids)?;
        let parent = urls.at(&format!("api/v4/groups/{id}/epics/{iid}/epics"));
        let entity = |epic: Epic| {
            let path = paths.get(&epic.namespace_id).map_or("", String::as_str);
            let shown = if path == group { "" } else { path };
            Self {
                id: epic.id,
                iid: epic.iid,
                group_id: epic.namespace_id.0,
                parent_id: epic.parent_id.unwrap_or_default(),
                has_children: content.with_epics.contains(&epic.id),
                has_issues: content.with_issues.contains(&epic.id),
                reference: format!("{shown}&{}", epic.iid),
                url: urls.at(&format!("groups/{path}/-/epics/{}", epic.iid)),
                relation_url: format!("{parent}/{}", epic.id),
                title: epic.title,
            }
        };
        Ok(epics.into_iter().map(entity).collect())
    }
}
