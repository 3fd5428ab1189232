//! The hosted service: its REST API, one page of one stage at a time.

use std::collections::{HashMap, HashSet};

use admin::import::{Import, NewFailure, Origin, Relation, Stage};
use kernel::{AccessLevel, Error, TextEnum as _, Ts, ids::ProjectId};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use review::{
    activity::{ResourceAction, ResourceState, import::ImportedChange},
    issue::{IssueState, import::ImportedIssue},
    item::{ItemKind, import::iids_after},
    label::import::ImportedLabel,
    merge_request::{
        MergeRequest, MergeRequestState, MergeRequestStore as _, import::ImportedMergeRequest,
    },
    milestone::{MilestoneState, import::ImportedMilestone},
    note::NoteType,
};
use serde_json::Value;
use sha1::{Digest as _, Sha1};

use super::{
    SourceClient, SourceError,
    batch::{Batch, MergeRequestDetails, NumberedEvent, NumberedNote, Step},
    client::SourcePage,
    diff_line,
    git::land_branches,
    heads::{self, Ends},
    json::{fitting, host_user, list, moment, number, text, title},
    people::{KnownPeople, People, SourceUser},
};
use crate::Forge;

/// Entries of a page.
const PAGE: usize = 100;
/// Items that one step asks about one by one.
const ITEMS: i64 = 10;

const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A name as a part of an address.
pub(crate) fn encoded(name: &str) -> String {
    utf8_percent_encode(name, SEGMENT).to_string()
}

/// What a step works with.
pub(crate) struct HostStep<'a> {
    pub(crate) forge: &'a Forge,
    pub(crate) import: &'a Import,
    pub(crate) origin: &'a Origin,
    pub(crate) client: &'a SourceClient,
    pub(crate) people: &'a People<'a>,
}

impl HostStep<'_> {
    fn project(&self) -> ProjectId {
        self.import.project_id
    }

    /// Does the next step of the import's stage.
    pub(crate) async fn run(&self) -> Result<Step, SourceError> {
        let optional = self.origin.optional;
        match self.import.stage {
            Stage::Labels => self.labels().await,
            Stage::Milestones => self.milestones().await,
            Stage::Collaborators => self.collaborators().await,
            Stage::ProtectedBranches => self.protected_branches().await,
            Stage::PullRequests => self.pull_requests().await,
            Stage::PullRequestDetails => self.details().await,
            Stage::Issues => self.issues().await,
            Stage::Notes if optional.single_endpoint_notes => self.notes_of_items().await,
            Stage::Notes => self.notes().await,
            Stage::DiffNotes if optional.single_endpoint_notes => self.diff_notes_of_items().await,
            Stage::DiffNotes => self.diff_notes().await,
            Stage::Events if optional.single_endpoint_issue_events => self.events_of_items().await,
            Stage::Events => self.events().await,
            Stage::Repository
            | Stage::Wiki
            | Stage::LfsObjects
            | Stage::Attachments
            | Stage::Done => Ok(Step::default()),
        }
    }

    /// The page at which the stage goes on.
    fn page(&self) -> i64 {
        self.import.cursor.as_deref().and_then(|text| text.parse().ok()).unwrap_or(1)
    }

    /// A page of a list below the repository's address, and the cursor behind it.
    async fn list(&self, path: &str) -> Result<(Vec<Value>, Step), SourceError> {
        let (page, sign) = (self.page(), if path.contains('?') { '&' } else { '?' });
        let url = format!("{}/{path}{sign}per_page={PAGE}&page={page}", self.origin.api);
        let found = self.client.get(url).await?;
        let items = items(&found)?.to_vec();
        let has_next = found.has_next.unwrap_or(items.len() >= PAGE) && !items.is_empty();
        let next = has_next.then(|| (page + 1).to_string());
        Ok((items, Step { next, pause: found.pause, ..Step::default() }))
    }

    /// As [`list`](Self::list), for lists that not every token may read: what cannot be read is told, and left out.
    async fn open_list(
        &self,
        path: &str,
        relation: Relation,
    ) -> Result<(Vec<Value>, Step), SourceError> {
        match self.list(path).await {
            Err(SourceError::Missing | SourceError::Denied(_)) => {
                let failure = failure(relation, path, "the token may not read this");
                Ok((Vec::new(), Step { failures: vec![failure], ..Step::default() }))
            }
            found => found,
        }
    }

    async fn labels(&self) -> Result<Step, SourceError> {
        let (items, step) = self.list("labels").await?;
        let rows = items
            .iter()
            .filter(|item| !text(item, "name").is_empty())
            .map(|item| ImportedLabel {
                name: text(item, "name").chars().take(255).collect(),
                color: format!("#{}", text(item, "color")),
                description: fitting(text(item, "description")),
            })
            .collect();
        let fetched = Some((Relation::Label, items.len()));
        Ok(Step { batch: Batch::Labels(rows), fetched, ..step })
    }

    async fn milestones(&self) -> Result<Step, SourceError> {
        let (items, mut step) = self.list("milestones?state=all&sort=due_on&direction=asc").await?;
        let mut rows = Vec::new();
        for item in &items {
            let Some(iid) = number(item, "number") else {
                step.failures.push(failure(Relation::Milestone, text(item, "title"), NO_NUMBER));
                continue;
            };
            let created_at = moment(item, "created_at").unwrap_or(self.import.created_at);
            rows.push(ImportedMilestone {
                iid,
                title: title(item),
                description: fitting(text(item, "description")),
                state: match text(item, "state") {
                    "closed" => MilestoneState::Closed,
                    _ => MilestoneState::Active,
                },
                due_date: moment(item, "due_on").map(|due| Ts::from_date(due.date())),
                created_at,
                updated_at: moment(item, "updated_at").unwrap_or(created_at),
            });
        }
        let fetched = Some((Relation::Milestone, items.len()));
        Ok(Step { batch: Batch::Milestones(rows), fetched, ..step })
    }

    async fn collaborators(&self) -> Result<Step, SourceError> {
        let (items, mut step) =
            self.open_list("collaborators?affiliation=direct", Relation::Collaborator).await?;
        let users: Vec<SourceUser> = items.iter().map(host_user).collect();
        let known = self.people.find(&users).await?;
        let mut rows = Vec::new();
        for (item, user) in items.iter().zip(&users) {
            match known.find(user) {
                Some(id) if id != self.import.user_id => rows.push((id, level(item))),
                Some(_) => {}
                None => {
                    let told = failure(Relation::Collaborator, &user.login, "no account here");
                    step.failures.push(told);
                }
            }
        }
        let fetched = Some((Relation::Collaborator, items.len()));
        Ok(Step { batch: Batch::Collaborators(rows), fetched, people: known.new, ..step })
    }

    async fn protected_branches(&self) -> Result<Step, SourceError> {
        let path = "branches?protected=true";
        let (items, step) = self.open_list(path, Relation::ProtectedBranch).await?;
        let names: Vec<String> = items
            .iter()
            .filter(|item| item["protected"].as_bool() != Some(false))
            .map(|item| text(item, "name").to_owned())
            .filter(|name| !name.is_empty() && name.len() <= 255)
            .collect();
        let fetched = Some((Relation::ProtectedBranch, items.len()));
        Ok(Step { batch: Batch::ProtectedBranches(names), fetched, ..step })
    }

    async fn pull_requests(&self) -> Result<Step, SourceError> {
        let (items, mut step) = self.list("pulls?state=all&sort=created&direction=asc").await?;
        let mut users = Vec::new();
        for item in &items {
            users.push(host_user(&item["user"]));
            users.extend(list(&item["assignees"]).iter().map(host_user));
            users.extend(list(&item["requested_reviewers"]).iter().map(host_user));
        }
        let known = self.people.find(&users).await?;
        let ends = items
            .iter()
            .map(|item| Ends {
                head: text(&item["head"], "sha").to_owned(),
                start: text(&item["base"], "sha").to_owned(),
            })
            .collect();
        let heads = heads::of_all(self.forge, self.project(), ends).await?;
        let (mut rows, mut branches) = (Vec::new(), Vec::new());
        for (item, heads) in items.iter().zip(heads) {
            let Some(iid) = number(item, "number") else {
                step.failures.push(failure(Relation::PullRequest, text(item, "title"), NO_NUMBER));
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
        let fetched = Some((Relation::PullRequest, items.len()));
        Ok(Step { batch: Batch::MergeRequests(rows), fetched, people: known.new, ..step })
    }

    fn pull_request(
        &self,
        iid: i64,
        item: &Value,
        known: &KnownPeople,
        heads: review::merge_request::Heads,
    ) -> ImportedMergeRequest {
        let author = host_user(&item["user"]);
        let merged_at = moment(item, "merged_at");
        let state = match (merged_at, text(item, "state")) {
            (Some(_), _) => MergeRequestState::Merged,
            (None, "closed") => MergeRequestState::Closed,
            _ => MergeRequestState::Opened,
        };
        let accounts = |value: &Value| {
            list(value).iter().filter_map(|user| known.find(&host_user(user))).collect()
        };
        let mut title = title(item);
        if item["draft"].as_bool() == Some(true) {
            title = review::merge_request::draft::drafted(&title).chars().take(255).collect();
        }
        let created_at = moment(item, "created_at").unwrap_or(self.import.created_at);
        let merge_commit = Some(text(item, "merge_commit_sha").to_owned());
        ImportedMergeRequest {
            iid,
            title,
            description: fitting(&known.text(&author, text(item, "body"))),
            state,
            author: known.author(&author),
            source_branch: source_branch(item),
            target_branch: text(&item["base"], "ref").to_owned(),
            heads,
            assignees: accounts(&item["assignees"]),
            reviewers: accounts(&item["requested_reviewers"]),
            labels: names(&item["labels"]),
            milestone: number(&item["milestone"], "number"),
            discussion_locked: item["locked"].as_bool().unwrap_or_default(),
            merge_commit_sha: merge_commit.filter(|sha| merged_at.is_some() && sha.len() == 40),
            merged_at,
            merged_by: None,
            closed_at: moment(item, "closed_at").filter(|_| merged_at.is_none()),
            created_at,
            updated_at: moment(item, "updated_at").unwrap_or(created_at),
        }
    }

    async fn issues(&self) -> Result<Step, SourceError> {
        let (all, mut step) = self.list("issues?state=all&sort=created&direction=asc").await?;
        // The list has pull requests, too.
        let items: Vec<&Value> =
            all.iter().filter(|item| item.get("pull_request").is_none_or(Value::is_null)).collect();
        let mut users = Vec::new();
        for item in &items {
            users.push(host_user(&item["user"]));
            users.push(host_user(&item["closed_by"]));
            users.extend(list(&item["assignees"]).iter().map(host_user));
        }
        let known = self.people.find(&users).await?;
        let mut rows = Vec::new();
        for item in &items {
            let Some(iid) = number(item, "number") else {
                step.failures.push(failure(Relation::Issue, text(item, "title"), NO_NUMBER));
                continue;
            };
            let author = host_user(&item["user"]);
            let is_closed = text(item, "state") == "closed";
            let created_at = moment(item, "created_at").unwrap_or(self.import.created_at);
            let assignees = list(&item["assignees"]).iter();
            rows.push(ImportedIssue {
                iid,
                title: title(item),
                description: fitting(&known.text(&author, text(item, "body"))),
                state: if is_closed { IssueState::Closed } else { IssueState::Opened },
                author: known.author(&author),
                assignees: assignees.filter_map(|user| known.find(&host_user(user))).collect(),
                labels: names(&item["labels"]),
                milestone: number(&item["milestone"], "number"),
                discussion_locked: item["locked"].as_bool().unwrap_or_default(),
                closed_at: moment(item, "closed_at").filter(|_| is_closed),
                closed_by: known.find(&host_user(&item["closed_by"])).filter(|_| is_closed),
                created_at,
                updated_at: moment(item, "updated_at").unwrap_or(created_at),
            });
        }
        let fetched = Some((Relation::Issue, items.len()));
        Ok(Step { batch: Batch::Issues(rows), fetched, people: known.new, ..step })
    }

    async fn notes(&self) -> Result<Step, SourceError> {
        let (items, step) = self.list("issues/comments?sort=created&direction=asc").await?;
        self.noted(items, step).await
    }

    async fn noted(&self, items: Vec<Value>, step: Step) -> Result<Step, SourceError> {
        let users: Vec<SourceUser> = items.iter().map(|item| host_user(&item["user"])).collect();
        let known = self.people.find(&users).await?;
        let rows = items
            .iter()
            .filter_map(|item| self.note(item, last_number(text(item, "issue_url"))?, &known))
            .collect();
        let fetched = Some((Relation::Note, items.len()));
        Ok(Step { batch: Batch::Notes(Relation::Note, rows), fetched, people: known.new, ..step })
    }

    fn note(&self, item: &Value, number_of: i64, known: &KnownPeople) -> Option<NumberedNote> {
        let (id, user) = (number(item, "id")?, host_user(&item["user"]));
        let created_at = moment(item, "created_at").unwrap_or(self.import.created_at);
        Some(NumberedNote {
            id: id.to_string(),
            number: number_of,
            discussion: self.discussion("note", id),
            note_type: None,
            body: fitting(&known.text(&user, text(item, "body")))?,
            author: known.author(&user),
            is_system: false,
            position: None,
            created_at,
            updated_at: moment(item, "updated_at").unwrap_or(created_at),
        })
    }

    /// The name of a thread, the same each time it is asked for.
    fn discussion(&self, kind: &str, id: i64) -> String {
        let place = format!("{}/{}/{kind}/{id}", self.import.correlation_id, self.project());
        hex::encode(Sha1::digest(place.as_bytes()))
    }

    async fn diff_notes(&self) -> Result<Step, SourceError> {
        let (items, step) = self.list("pulls/comments?sort=created&direction=asc").await?;
        self.diff_noted(items, step).await
    }

    async fn diff_noted(&self, items: Vec<Value>, step: Step) -> Result<Step, SourceError> {
        let users: Vec<SourceUser> = items.iter().map(|item| host_user(&item["user"])).collect();
        let known = self.people.find(&users).await?;
        let numbers: HashSet<i64> = items.iter().filter_map(pull_number).collect();
        let requests = self.merge_requests(numbers).await?;
        let rows = items
            .iter()
            .filter_map(|item| {
                let request = requests.get(&pull_number(item)?)?;
                let root = number(item, "in_reply_to_id").or(number(item, "id"))?;
                let mut note = self.note(item, request.iid, &known)?;
                note.discussion = self.discussion("diff_note", root);
                note.position = position(item, request);
                note.note_type = Some(match note.position {
                    Some(_) => NoteType::Diff,
                    None => NoteType::Discussion,
                });
                Some(note)
            })
            .collect();
        let fetched = Some((Relation::DiffNote, items.len()));
        let batch = Batch::Notes(Relation::DiffNote, rows);
        Ok(Step { batch, fetched, people: known.new, ..step })
    }

    async fn merge_requests(
        &self,
        numbers: HashSet<i64>,
    ) -> Result<HashMap<i64, MergeRequest>, SourceError> {
        let project = self.project();
        let found = self.forge.db.read(move |tx| {
            let numbers: Vec<i64> = numbers.into_iter().collect();
            let kind = ItemKind::MergeRequest;
            let ids = review::item::import::ids_by_iid(tx, project, kind, &numbers)?;
            tx.merge_requests_in_order(&ids.into_values().collect::<Vec<_>>())
        });
        Ok(found.await?.into_iter().map(|row| (row.iid, row)).collect())
    }

    async fn events(&self) -> Result<Step, SourceError> {
        let (items, step) = self.list("issues/events").await?;
        let numbered = items.iter().map(|item| (number(&item["issue"], "number"), item)).collect();
        self.happened(numbered, items.len(), step).await
    }

    async fn happened(
        &self,
        items: Vec<(Option<i64>, &Value)>,
        count: usize,
        step: Step,
    ) -> Result<Step, SourceError> {
        let users: Vec<SourceUser> =
            items.iter().map(|(_, item)| host_user(&item["actor"])).collect();
        let known = self.people.find(&users).await?;
        let rows = items
            .iter()
            .filter_map(|(of, item)| {
                Some(NumberedEvent {
                    id: number(item, "id")?.to_string(),
                    number: (*of)?,
                    user: known.author(&host_user(&item["actor"])),
                    change: change(item)?,
                    at: moment(item, "created_at").unwrap_or(self.import.created_at),
                })
            })
            .collect();
        let fetched = Some((Relation::IssueEvent, count));
        Ok(Step { batch: Batch::Events(rows), fetched, people: known.new, ..step })
    }

    /// Merges and reviews, asked for one pull request at a time.
    async fn details(&self) -> Result<Step, SourceError> {
        let (project, after) = (self.project(), self.page() - 1);
        let numbers = self
            .forge
            .db
            .read(move |tx| iids_after(tx, project, ItemKind::MergeRequest, after, ITEMS));
        let numbers = numbers.await?;
        let (mut all, mut people, mut pause) = (Vec::new(), HashMap::new(), None);
        for iid in &numbers {
            let api = &self.origin.api;
            let pull = match self.client.get(format!("{api}/pulls/{iid}")).await {
                Err(SourceError::Missing) => continue,
                found => found?,
            };
            let url = format!("{api}/pulls/{iid}/reviews?per_page={PAGE}");
            let reviews = self.client.get(url).await?;
            pause = reviews.pause.or(pause);
            let reviews = items(&reviews)?;
            let mut users = vec![host_user(&pull.body["merged_by"])];
            users.extend(reviews.iter().map(|review| host_user(&review["user"])));
            let known = self.people.find(&users).await?;
            people.extend(known.new.clone());
            all.push(self.reviewed(*iid, &pull.body, reviews, &known));
        }
        let next = numbers.last().filter(|_| i64::try_from(numbers.len()) == Ok(ITEMS));
        let next = next.map(|last| (last + 1).to_string());
        Ok(Step { batch: Batch::Details(all), people, next, pause, ..Step::default() })
    }

    fn reviewed(
        &self,
        iid: i64,
        pull: &Value,
        reviews: &[Value],
        known: &KnownPeople,
    ) -> MergeRequestDetails {
        let at = |review: &Value| moment(review, "submitted_at").unwrap_or(self.import.created_at);
        let approvals = reviews
            .iter()
            .filter(|review| text(review, "state") == "APPROVED")
            .filter_map(|review| Some((known.find(&host_user(&review["user"]))?, at(review))))
            .collect();
        let notes = reviews
            .iter()
            .filter_map(|review| {
                let (id, user) = (number(review, "id")?, host_user(&review["user"]));
                let body = text(review, "body");
                let body = match (body.is_empty(), text(review, "state")) {
                    (false, state) => format!("**Review:** {}\n\n{body}", words(state)),
                    // The approval itself is there, where its author has an account.
                    (true, "APPROVED") if known.find(&user).is_none() => {
                        "**Review:** Approved".to_owned()
                    }
                    (true, _) => return None,
                };
                let note = NumberedNote {
                    id: id.to_string(),
                    number: iid,
                    discussion: self.discussion("review", id),
                    note_type: None,
                    body: fitting(&known.text(&user, &body))?,
                    author: known.author(&user),
                    is_system: false,
                    position: None,
                    created_at: at(review),
                    updated_at: at(review),
                };
                Some((Relation::PullRequestReview, note))
            })
            .collect();
        let merged_by = known.find(&host_user(&pull["merged_by"]));
        MergeRequestDetails { number: iid, merged_by, approvals, notes }
    }
}

const NO_NUMBER: &str = "it has no number";

fn failure(relation: Relation, name: &str, message: &str) -> NewFailure {
    NewFailure { relation, source_name: name.to_owned(), message: message.to_owned() }
}

fn items(page: &SourcePage) -> Result<&[Value], SourceError> {
    page.body
        .as_array()
        .map(Vec::as_slice)
        .ok_or_else(|| SourceError::malformed("the list of the source"))
}

fn names(labels: &Value) -> Vec<String> {
    let names = list(labels).iter().map(|label| text(label, "name"));
    names.filter(|name| !name.is_empty()).map(|name| name.chars().take(255).collect()).collect()
}

fn words(state: &str) -> &'static str {
    match state {
        "APPROVED" => "Approved",
        "CHANGES_REQUESTED" => "Changes requested",
        "DISMISSED" => "Dismissed",
        _ => "Commented",
    }
}

/// The role that a collaborator has here.
fn level(item: &Value) -> AccessLevel {
    match text(item, "role_name") {
        "admin" => AccessLevel::Owner,
        "maintain" => AccessLevel::Maintainer,
        "write" => AccessLevel::Developer,
        "triage" => AccessLevel::Reporter,
        "read" => AccessLevel::Guest,
        _ if item["permissions"]["admin"].as_bool() == Some(true) => AccessLevel::Owner,
        _ if item["permissions"]["push"].as_bool() == Some(true) => AccessLevel::Developer,
        _ => AccessLevel::Guest,
    }
}

/// The branch of a pull request; one of a fork gets a name of its own.
fn source_branch(item: &Value) -> String {
    let (head, base) = (&item["head"], &item["base"]);
    let name = text(head, "ref");
    let same = number(&head["repo"], "id").is_some()
        && number(&head["repo"], "id") == number(&base["repo"], "id");
    match same {
        true => name.to_owned(),
        false => format!("fork/{}/{name}", text(&head["user"], "login")),
    }
}

/// The number at the end of an address.
fn last_number(url: &str) -> Option<i64> {
    url.rsplit('/').next()?.parse().ok()
}

fn pull_number(item: &Value) -> Option<i64> {
    last_number(text(item, "pull_request_url"))
}

fn position(item: &Value, request: &MergeRequest) -> Option<String> {
    let path = text(item, "path");
    let lines = diff_line::last_line(text(item, "diff_hunk"))?;
    let commits =
        (request.base_sha.as_deref()?, request.start_sha.as_deref()?, request.head_sha.as_deref()?);
    diff_line::place(commits, (path, path), lines).filter(|_| !path.is_empty())
}

/// What an event changed; nothing for those that leave no trace here.
fn change(item: &Value) -> Option<ImportedChange> {
    let label = || Some(text(&item["label"], "name").to_owned()).filter(|name| !name.is_empty());
    let title =
        || Some(text(&item["milestone"], "title").to_owned()).filter(|name| !name.is_empty());
    Some(match text(item, "event") {
        "closed" => ImportedChange::State(ResourceState::Closed),
        "reopened" => ImportedChange::State(ResourceState::Reopened),
        "merged" => ImportedChange::State(ResourceState::Merged),
        "labeled" => ImportedChange::Label(ResourceAction::Add, label()?),
        "unlabeled" => ImportedChange::Label(ResourceAction::Remove, label()?),
        "milestoned" => ImportedChange::Milestone(ResourceAction::Add, title()?),
        "demilestoned" => ImportedChange::Milestone(ResourceAction::Remove, title()?),
        _ => return None,
    })
}

/// Where a stage that asks for items one by one has come: the kind, the number and the page of the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ItemCursor {
    kind: ItemKind,
    number: i64,
    page: i64,
}

impl ItemCursor {
    fn parse(text: Option<&str>) -> Self {
        let first = Self { kind: ItemKind::Issue, number: 0, page: 1 };
        let Some(text) = text else { return first };
        let mut parts = text.split(':');
        let mut read = || {
            Some(Self {
                kind: ItemKind::find(parts.next()?)?,
                number: parts.next()?.parse().ok()?,
                page: parts.next()?.parse().ok()?,
            })
        };
        read().unwrap_or(first)
    }

    fn text(self) -> String {
        format!("{}:{}:{}", self.kind, self.number, self.page)
    }
}

impl HostStep<'_> {
    /// A page of what one item has, and where to go on. The next item follows once an item has no more pages.
    async fn of_item(
        &self,
        kinds: &[ItemKind],
        path: impl Fn(ItemCursor) -> String,
    ) -> Result<Option<(i64, Vec<Value>, Step)>, SourceError> {
        let mut cursor = ItemCursor::parse(self.import.cursor.as_deref());
        if !kinds.contains(&cursor.kind) {
            cursor.kind = ItemKind::MergeRequest;
        }
        let project = self.project();
        // A cursor at a later page stands on its item; one at the first page stands before it.
        let after = cursor.number;
        if cursor.page == 1 {
            let kind = cursor.kind;
            let next = self.forge.db.read(move |tx| iids_after(tx, project, kind, after, 1));
            match next.await?.first() {
                Some(number) => cursor.number = *number,
                None if kind == ItemKind::Issue && kinds.contains(&ItemKind::MergeRequest) => {
                    let next = ItemCursor { kind: ItemKind::MergeRequest, number: 0, page: 1 };
                    let step = Step { next: Some(next.text()), ..Step::default() };
                    return Ok(Some((0, Vec::new(), step)));
                }
                None => return Ok(None),
            }
        }
        let (path, page) = (path(cursor), cursor.page);
        let url = format!("{}/{path}?per_page={PAGE}&page={page}", self.origin.api);
        let (found, pause) = match self.client.get(url).await {
            Err(SourceError::Missing) => (Vec::new(), None),
            Ok(found) => (items(&found)?.to_vec(), found.pause),
            Err(failure) => return Err(failure),
        };
        let next = match found.len() >= PAGE {
            true => ItemCursor { page: page + 1, ..cursor },
            false => ItemCursor { page: 1, ..cursor },
        };
        let step = Step { next: Some(next.text()), pause, ..Step::default() };
        Ok(Some((cursor.number, found, step)))
    }

    async fn notes_of_items(&self) -> Result<Step, SourceError> {
        let both = [ItemKind::Issue, ItemKind::MergeRequest];
        let path = |cursor: ItemCursor| format!("issues/{}/comments", cursor.number);
        match self.of_item(&both, path).await? {
            Some((_, found, step)) => self.noted(found, step).await,
            None => Ok(Step::default()),
        }
    }

    async fn diff_notes_of_items(&self) -> Result<Step, SourceError> {
        let path = |cursor: ItemCursor| format!("pulls/{}/comments", cursor.number);
        match self.of_item(&[ItemKind::MergeRequest], path).await? {
            Some((_, found, step)) => self.diff_noted(found, step).await,
            None => Ok(Step::default()),
        }
    }

    async fn events_of_items(&self) -> Result<Step, SourceError> {
        let both = [ItemKind::Issue, ItemKind::MergeRequest];
        let path = |cursor: ItemCursor| format!("issues/{}/events", cursor.number);
        let Some((number, found, step)) = self.of_item(&both, path).await? else {
            return Ok(Step::default());
        };
        let numbered = found.iter().map(|item| (Some(number), item)).collect();
        self.happened(numbered, found.len(), step).await
    }
}

/// A repository as it is found at the service.
#[derive(Clone, Debug)]
pub(crate) struct HostRepository {
    pub(crate) name: String,
    pub(crate) full_name: String,
    pub(crate) description: Option<String>,
    pub(crate) is_private: bool,
    pub(crate) default_branch: Option<String>,
    pub(crate) clone_url: String,
    pub(crate) web_url: String,
    pub(crate) has_wiki: bool,
}

impl HostRepository {
    pub(crate) fn parse(value: &Value) -> Result<Self, SourceError> {
        let full_name = text(value, "full_name");
        if full_name.split('/').filter(|part| !part.is_empty()).count() != 2 {
            return Err(SourceError::Own(Error::unavailable("the source names no repository")));
        }
        let default_branch = Some(text(value, "default_branch").to_owned());
        Ok(Self {
            name: text(value, "name").to_owned(),
            full_name: full_name.to_owned(),
            description: fitting(text(value, "description")),
            is_private: value["private"].as_bool().unwrap_or(true),
            default_branch: default_branch.filter(|name| !name.is_empty()),
            clone_url: text(value, "clone_url").to_owned(),
            web_url: text(value, "html_url").to_owned(),
            has_wiki: value["has_wiki"].as_bool().unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use review::item::ItemKind;
    use serde_json::json;

    use super::{ItemCursor, encoded, last_number, source_branch};

    #[test]
    fn branches_of_forks_have_names_of_their_own() {
        let mut pull = json!({
            "head": { "ref": "fix", "user": { "login": "mia" }, "repo": { "id": 2 } },
            "base": { "ref": "main", "repo": { "id": 1 } },
        });
        assert_eq!(source_branch(&pull), "fork/mia/fix");
        pull["head"]["repo"]["id"] = json!(1);
        assert_eq!(source_branch(&pull), "fix");
        pull["head"]["repo"] = json!(null);
        assert_eq!(source_branch(&pull), "fork/mia/fix");
    }

    #[test]
    fn names_lead_to_no_other_address() {
        assert_eq!(encoded("../x?y#z"), "..%2Fx%3Fy%23z");
        assert_eq!(last_number("https://api/repos/a/b/issues/12"), Some(12));
        assert_eq!(last_number("https://api/repos/a/b/issues/x"), None);
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let cursor = ItemCursor { kind: ItemKind::MergeRequest, number: 7, page: 3 };
        assert_eq!(ItemCursor::parse(Some(&cursor.text())), cursor);
        assert_eq!(ItemCursor::parse(Some("odd")), ItemCursor::parse(None));
    }
}
