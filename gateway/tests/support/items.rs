//! Issues and merge requests that tests speak about.

use db::schema::{issues, merge_requests};
use diesel::prelude::*;
use forge::ports::review::OrgHierarchy;
use kernel::{Grant, ids::ProjectId};
use org::access::{IdOrPath, locate_project};
use review::{
    issue::{
        Issue,
        actions::{self, NewIssue},
    },
    merge_request::MergeRequest,
};

use super::{Person, TestApp};

impl TestApp {
    /// An issue of somebody's; its number in the project.
    pub(crate) fn issue(&self, project: ProjectId, author: &Person<'_>) -> i64 {
        self.issue_with(
            project,
            author,
            NewIssue { title: "Issue".to_owned(), ..NewIssue::default() },
        )
    }

    /// An issue that outsiders may not see; its number in the project.
    pub(crate) fn confidential_issue(&self, project: ProjectId, author: &Person<'_>) -> i64 {
        let title = "Hidden".to_owned();
        self.issue_with(
            project,
            author,
            NewIssue { title, confidential: true, ..NewIssue::default() },
        )
    }

    fn issue_with(&self, project: ProjectId, author: &Person<'_>, new: NewIssue) -> i64 {
        let actor = self.user(&author.username).actor();
        self.write(move |tx| {
            let (scope, who) = locate_project(tx, actor, &IdOrPath::Id(project.0))?;
            let grant = Grant::check(&who, scope)?;
            Ok(actions::create(tx, &grant, &OrgHierarchy, new)?.iid)
        })
    }

    /// A merge request of somebody's; its number in the project.
    pub(crate) fn merge_request(&self, project: ProjectId, author: &Person<'_>) -> i64 {
        let author = self.user(&author.username).id;
        self.write(move |tx| {
            let last = merge_requests::table
                .filter(merge_requests::project_id.eq(project))
                .select(diesel::dsl::max(merge_requests::iid));
            let last: Option<i64> =
                db::each_backend!(tx, |conn| last.get_result(conn).map_err(db::error("Row")))?;
            let iid = last.unwrap_or(0) + 1;
            let row = (
                merge_requests::project_id.eq(project),
                merge_requests::iid.eq(iid),
                merge_requests::source_project_id.eq(project),
                merge_requests::source_branch.eq("topic"),
                merge_requests::target_branch.eq("main"),
                merge_requests::title.eq(format!("Change {iid}")),
                merge_requests::state.eq("opened"),
                merge_requests::draft.eq(false),
                merge_requests::author_id.eq(author),
                merge_requests::merge_status.eq("unchecked"),
                merge_requests::squash.eq(false),
                merge_requests::allow_collaboration.eq(false),
                merge_requests::created_at.eq(tx.now),
                merge_requests::updated_at.eq(tx.now),
            );
            let row = diesel::insert_into(merge_requests::table).values(row);
            db::each_backend!(tx, |conn| row.execute(conn).map_err(db::error("Row")))?;
            Ok(iid)
        })
    }

    /// The number that a column of a merge request holds.
    pub(crate) fn unresolved_threads(&self, project: ProjectId, iid: i64) -> i64 {
        self.write(move |tx| {
            let row = merge_requests::table
                .filter(merge_requests::project_id.eq(project).and(merge_requests::iid.eq(iid)))
                .select(merge_requests::unresolved_threads);
            db::each_backend!(tx, |conn| row.get_result(conn).map_err(db::error("Row")))
        })
    }

    /// How many comments an issue says it has.
    pub(crate) fn notes_count(&self, project: ProjectId, iid: i64) -> i64 {
        self.write(move |tx| {
            let row = issues::table
                .filter(issues::project_id.eq(project).and(issues::iid.eq(iid)))
                .select(issues::user_notes_count);
            db::each_backend!(tx, |conn| row.get_result(conn).map_err(db::error("Row")))
        })
    }

    /// The thumbs up and down of an issue.
    pub(crate) fn votes(&self, project: ProjectId, iid: i64) -> (i64, i64) {
        self.write(move |tx| {
            let row = issues::table
                .filter(issues::project_id.eq(project).and(issues::iid.eq(iid)))
                .select((issues::upvotes, issues::downvotes));
            db::each_backend!(tx, |conn| row.get_result(conn).map_err(db::error("Row")))
        })
    }

    /// Lets members alone speak about an issue.
    pub(crate) fn lock_issue(&self, project: ProjectId, iid: i64) {
        self.write(move |tx| {
            let row = issues::table.filter(issues::project_id.eq(project).and(issues::iid.eq(iid)));
            let row = diesel::update(row).set(issues::discussion_locked.eq(true));
            db::each_backend!(tx, |conn| row.execute(conn).map_err(db::error("Row")))
        });
    }

    /// What somebody is asked to do: why, and about which kind of item.
    pub(crate) fn asked_of(&self, username: &str) -> Vec<(String, String)> {
        use db::schema::todos;
        let user = self.user(username).id;
        self.write(move |tx| {
            let rows = todos::table
                .filter(todos::user_id.eq(user).and(todos::state.eq("pending")))
                .order(todos::id)
                .select((todos::action, todos::item_kind));
            db::each_backend!(tx, |conn| rows.load(conn).map_err(db::error("Todo")))
        })
    }

    /// An issue as it is kept.
    pub(crate) fn kept_issue(&self, project: ProjectId, iid: i64) -> Issue {
        use review::issue::IssueStore;
        self.write(move |tx| Ok(tx.find_issue(project, iid)?.expect("the issue is there")))
    }

    /// A merge request as it is kept.
    pub(crate) fn kept_merge_request(&self, project: ProjectId, iid: i64) -> MergeRequest {
        use review::merge_request::MergeRequestStore;
        self.write(move |tx| Ok(tx.find_merge_request(project, iid)?.expect("it is there")))
    }
}
