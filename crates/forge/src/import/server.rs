//! The server that people run themselves: its REST API, one page of one stage at a time.

use std::collections::HashMap;

use admin::import::{Import, NewFailure, Origin, Relation, Stage};
use kernel::ids::ProjectId;
use review::{
    item::{ItemKind, import::iids_after},
    merge_request::{
        MergeRequest, MergeRequestState, MergeRequestStore as _, import::ImportedMergeRequest,
    },
    note::NoteType,
};
use serde_json::Value;
use sha1::{Digest as _, Sha1};

use super::{
    SourceClient, SourceError,
    batch::{Batch, MergeRequestDetails, NumberedNote, Step},
    diff_line,
    git::land_branches,
    heads::{self, PullRequestCommits},
    json::{fitting, list, merge_request_title, millis, number, server_user, text},
    people::{KnownPeople, People, SourceUser},
};
use crate::Forge;

/// Entries of a page.
const PAGE: usize = 100;
/// Pull requests whose activities one step asks for.
const ITEMS: i64 = 5;

/// The context of an import step.
pub(crate) struct ServerStep<'a> {
    pub(crate) forge: &'a Forge,
    pub(crate) import: &'a Import,
    pub(crate) origin: &'a Origin,
    pub(crate) client: &'a SourceClient,
    pub(crate) people: &'a People<'a>,
}

/// The cursor of the details: a pull request, and where the next page of its activities begins; 0 stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ActivityCursor {
    number: i64,
    start: i64,
}

impl ActivityCursor {
    fn parse(text: Option<&str>) -> Self {
        let text = text.unwrap_or_default();
        let (number, start) = text.split_once(':').unwrap_or((text, ""));
        let read = |text: &str| text.parse::<i64>().unwrap_or_default();
        Self { number: read(number), start: read(start) }
    }

    fn text(self) -> String {
        format!("{}:{}", self.number, self.start)
    }

    /// The number behind which the pull requests are that are left.
    fn after(self) -> i64 {
        if self.start > 0 { self.number - 1 } else { self.number }
    }

    /// Where the activities of a pull request go on.
    fn start_of(self, number: i64) -> i64 {
        if self.number == number { self.start } else { 0 }
    }
}

/// A page, and where the next one begins.
async fn page(
    client: &SourceClient,
    url: String,
) -> Result<(Vec<Value>, Option<i64>, Option<i64>), SourceError> {
    let found = client.get(url).await?;
    let values = found.body["values"]
        .as_array()
        .ok_or_else(|| SourceError::malformed("the list of the source"))?;
    let is_last = found.body["isLastPage"].as_bool().unwrap_or(true);
    let next = found.body["nextPageStart"].as_i64().filter(|_| !is_last && !values.is_empty());
    Ok((values.clone(), next, found.pause))
}

impl ServerStep<'_> {
    fn project(&self) -> ProjectId {
        self.import.project_id
    }

    fn cursor(&self) -> i64 {
        self.import.cursor.as_deref().and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Does the next step of the import's stage.
    pub(crate) async fn run(&self) -> Result<Step, SourceError> {
        match self.import.stage {
            Stage::PullRequests => self.pull_requests().await,
            Stage::PullRequestDetails => self.details().await,
            Stage::Repository
            | Stage::Wiki
            | Stage::Labels
            | Stage::Milestones
            | Stage::Collaborators
            | Stage::ProtectedBranches
            | Stage::Issues
            | Stage::Notes
            | Stage::DiffNotes
            | Stage::Events
            | Stage::Releases
            | Stage::LfsObjects
            | Stage::Attachments
            | Stage::Done => Ok(Step::default()),
        }
    }

    async fn pull_requests(&self) -> Result<Step, SourceError> {
        let (api, start) = (&self.origin.api, self.cursor());
        let url = format!("{api}/pull-requests?state=ALL&order=OLDEST&start={start}&limit={PAGE}");
        let (items, next, pause) = page(self.client, url).await?;
        let users: Vec<SourceUser> = items
            .iter()
            .flat_map(|item| {
                let reviewers = list(&item["reviewers"]).iter();
                reviewers.map(|one| &one["user"]).chain([&item["author"]["user"]])
            })
            .map(server_user)
            .collect();
        let known = self.people.find(&users).await?;
        let ends = items
            .iter()
            .map(|item| PullRequestCommits {
                head: text(&item["fromRef"], "latestCommit").to_owned(),
                start: text(&item["toRef"], "latestCommit").to_owned(),
            })
            .collect();
        let heads = heads::of_all(self.forge, self.project(), ends).await?;
        let (mut rows, mut branches, mut failures) = (Vec::new(), Vec::new(), Vec::new());
        for (item, heads) in items.iter().zip(heads) {
            let Some(iid) = number(item, "id") else {
                failures.push(NewFailure {
                    relation: Relation::PullRequest,
                    source_name: text(item, "title").to_owned(),
                    message: "it has no number".to_owned(),
                });
                continue;
            };
            let row = self.pull_request(iid, item, &known, heads);
            if row.state == MergeRequestState::Opened {
                branches.extend(heads::branch(&row.source_branch, row.heads.head.as_ref()));
            }
            rows.push(row);
        }
        let user = self.import.user_id;
        land_branches(self.forge, self.project(), user, branches).await?;
        Ok(Step {
            batch: Batch::MergeRequests(rows),
            fetched: Some((Relation::PullRequest, items.len())),
            failures,
            people: known.new,
            next: next.map(|start| start.to_string()),
            pause,
        })
    }

    fn pull_request(
        &self,
        iid: i64,
        item: &Value,
        known: &KnownPeople,
        heads: review::merge_request::Heads,
    ) -> ImportedMergeRequest {
        let author = server_user(&item["author"]["user"]);
        let state = match text(item, "state") {
            "MERGED" => MergeRequestState::Merged,
            "DECLINED" => MergeRequestState::Closed,
            _ => MergeRequestState::Opened,
        };
        let created_at = millis(item, "createdDate").unwrap_or(self.import.created_at);
        let updated_at = millis(item, "updatedDate").unwrap_or(created_at);
        let closed_at = millis(item, "closedDate").unwrap_or(updated_at);
        let (from, to) = (&item["fromRef"], &item["toRef"]);
        let reviewers = list(&item["reviewers"]).iter();
        ImportedMergeRequest {
            iid,
            title: merge_request_title(item),
            description: fitting(&known.text(&author, text(item, "description"))),
            state,
            author: known.author(&author),
            source_branch: source_branch(from, to),
            target_branch: text(to, "displayId").to_owned(),
            heads,
            assignees: Vec::new(),
            reviewers: reviewers.filter_map(|one| known.find(&server_user(&one["user"]))).collect(),
            labels: Vec::new(),
            milestone: None,
            discussion_locked: false,
            merge_commit_sha: None,
            merged_at: (state == MergeRequestState::Merged).then_some(closed_at),
            merged_by: None,
            closed_at: (state == MergeRequestState::Closed).then_some(closed_at),
            created_at,
            updated_at,
        }
    }

    /// Comments, approvals and merges, asked for one pull request at a time. A step ends with a page that another one
    /// follows.
    async fn details(&self) -> Result<Step, SourceError> {
        let cursor = ActivityCursor::parse(self.import.cursor.as_deref());
        let (project, after) = (self.project(), cursor.after());
        let rows = self.forge.db.read(move |tx| {
            let numbers = iids_after(tx, project, ItemKind::MergeRequest, after, ITEMS)?;
            let kind = ItemKind::MergeRequest;
            let ids = review::item::import::ids_by_iid(tx, project, kind, &numbers)?;
            let mut ids: Vec<i64> = ids.into_values().collect();
            ids.sort_unstable();
            tx.merge_requests_in_order(&ids)
        });
        let mut rows = rows.await?;
        rows.sort_unstable_by_key(|row| row.iid);
        let last = rows.last().filter(|_| i64::try_from(rows.len()) == Ok(ITEMS));
        let mut next = last.map(|row| ActivityCursor { number: row.iid, start: 0 });
        let (mut all, mut people, mut pause) = (Vec::new(), HashMap::new(), None);
        for row in &rows {
            let start = cursor.start_of(row.iid);
            let (activities, following, wait) = self.activities(row.iid, start).await?;
            pause = wait;
            let mut users = Vec::new();
            for one in &activities {
                users.push(server_user(&one["user"]));
                authors(&one["comment"], &mut users);
            }
            let known = self.people.find(&users).await?;
            people.extend(known.new.clone());
            all.push(self.happened(row, &activities, &known));
            if following.is_some() || pause.is_some() {
                let start = following.unwrap_or_default();
                next = Some(ActivityCursor { number: row.iid, start });
                break;
            }
        }
        Ok(Step {
            batch: Batch::Details(all),
            fetched: None,
            failures: Vec::new(),
            people,
            next: next.map(ActivityCursor::text),
            pause,
        })
    }

    /// A page of the activities of a pull request; none where it is gone.
    async fn activities(
        &self,
        iid: i64,
        start: i64,
    ) -> Result<(Vec<Value>, Option<i64>, Option<i64>), SourceError> {
        let api = &self.origin.api;
        let url = format!("{api}/pull-requests/{iid}/activities?start={start}&limit={PAGE}");
        match page(self.client, url).await {
            Err(SourceError::Missing) => Ok((Vec::new(), None, None)),
            found => {
                let (activities, next, pause) = found?;
                // A source that goes back would be asked for ever.
                Ok((activities, next.filter(|next| *next > start), pause))
            }
        }
    }

    fn happened(
        &self,
        row: &MergeRequest,
        activities: &[Value],
        known: &KnownPeople,
    ) -> MergeRequestDetails {
        let mut details = MergeRequestDetails {
            number: row.iid,
            merged_by: None,
            approvals: Vec::new(),
            notes: Vec::new(),
        };
        for one in activities {
            let user = known.find(&server_user(&one["user"]));
            let at = millis(one, "createdDate").unwrap_or(row.created_at);
            match text(one, "action") {
                "MERGED" => details.merged_by = user,
                "APPROVED" => details.approvals.extend(user.map(|user| (user, at))),
                "COMMENTED" if text(one, "commentAction") == "ADDED" => {
                    let Some(id) = number(&one["comment"], "id") else { continue };
                    let place = position(&one["commentAnchor"], row);
                    let is_line = one.get("commentAnchor").is_some_and(Value::is_object);
                    let thread = Thread {
                        row,
                        root: id,
                        is_line,
                        has_replies: !list(&one["comment"]["comments"]).is_empty(),
                        place,
                    };
                    self.comment(&one["comment"], &thread, known, &mut details.notes);
                }
                _ => {}
            }
        }
        details
    }

    /// A comment and the replies to it, which the reader of JSON lets be nested only so deep.
    fn comment(
        &self,
        comment: &Value,
        thread: &Thread<'_>,
        known: &KnownPeople,
        notes: &mut Vec<(Relation, NumberedNote)>,
    ) {
        let author = server_user(&comment["author"]);
        let relation = if thread.is_line { Relation::DiffNote } else { Relation::Note };
        let body = fitting(&known.text(&author, text(comment, "text")));
        if let (Some(id), Some(body)) = (number(comment, "id"), body) {
            let created_at = millis(comment, "createdDate").unwrap_or(thread.row.created_at);
            let note = NumberedNote {
                id: id.to_string(),
                number: thread.row.iid,
                discussion: self.discussion(thread.root),
                note_type: match (&thread.place, thread.is_line || thread.has_replies) {
                    (Some(_), _) => Some(NoteType::Diff),
                    (None, true) => Some(NoteType::Discussion),
                    (None, false) => None,
                },
                body,
                author: known.author(&author),
                is_system: false,
                position: thread.place.clone(),
                created_at,
                updated_at: millis(comment, "updatedDate").unwrap_or(created_at),
            };
            notes.push((relation, note));
        }
        for reply in list(&comment["comments"]) {
            self.comment(reply, thread, known, notes);
        }
    }

    fn discussion(&self, id: i64) -> String {
        let place = format!("{}/{}/comment/{id}", self.import.correlation_id, self.project());
        hex::encode(Sha1::digest(place.as_bytes()))
    }
}

/// Values that the notes of a thread share.
struct Thread<'a> {
    row: &'a MergeRequest,
    root: i64,
    is_line: bool,
    has_replies: bool,
    place: Option<String>,
}

fn authors(comment: &Value, users: &mut Vec<SourceUser>) {
    if !comment.is_object() {
        return;
    }
    users.push(server_user(&comment["author"]));
    for reply in list(&comment["comments"]) {
        authors(reply, users);
    }
}

/// The branch of a pull request; one of a fork gets a name of its own.
fn source_branch(from: &Value, to: &Value) -> String {
    let name = text(from, "displayId");
    let id = |end: &Value| number(&end["repository"], "id");
    match id(from).is_some() && id(from) == id(to) {
        true => name.to_owned(),
        false => format!("fork/{}/{name}", text(&from["repository"]["project"], "key")),
    }
}

fn position(anchor: &Value, row: &MergeRequest) -> Option<String> {
    let path = text(anchor, "path");
    let old_path = Some(text(anchor, "srcPath")).filter(|path| !path.is_empty()).unwrap_or(path);
    let line = number(anchor, "line")?;
    let lines = match text(anchor, "lineType") {
        "ADDED" => (None, Some(line)),
        "REMOVED" => (Some(line), None),
        // The number of the other side is not told.
        _ => return None,
    };
    let commits = (row.base_sha.as_deref()?, row.start_sha.as_deref()?, row.head_sha.as_deref()?);
    diff_line::place(commits, (old_path, path), lines).filter(|_| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ActivityCursor, source_branch};

    #[test]
    fn a_pull_request_with_another_page_is_gone_on_with() {
        let within = ActivityCursor { number: 7, start: 100 };
        assert_eq!(ActivityCursor::parse(Some(&within.text())), within);
        assert_eq!((within.after(), within.start_of(7), within.start_of(8)), (6, 100, 0));
        let behind = ActivityCursor::parse(Some("7"));
        assert_eq!((behind.after(), behind.start_of(8)), (7, 0));
        assert_eq!(ActivityCursor::parse(None).after(), 0);
    }

    #[test]
    fn branches_of_forks_have_names_of_their_own() {
        let end = |id: i64| json!({ "displayId": "fix", "repository": { "id": id, "project": { "key": "~MIA" } } });
        assert_eq!(source_branch(&end(1), &end(1)), "fix");
        assert_eq!(source_branch(&end(2), &end(1)), "fork/~MIA/fix");
    }
}
