//! Pull requests as the list tells of them.

use admin::import::Relation;
use repo::git::Oid;
use review::merge_request::{MergeRequestState, import::ImportedMergeRequest};
use serde_json::Value;

use super::step::{HostStep, NO_NUMBER, failure, names};
use crate::import::{
    SourceError,
    batch::{Batch, Step},
    git::land_branches,
    heads::{self, PullRequestCommits},
    json::{fitting, host_user, list, merge_request_title, moment, number, text},
    people::KnownPeople,
};

impl HostStep<'_> {
    pub(super) async fn pull_requests(&self) -> Result<Step, SourceError> {
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
            .map(|item| PullRequestCommits {
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
        let created_at = moment(item, "created_at").unwrap_or(self.import.created_at);
        let merge_commit = text(item, "merge_commit_sha").parse::<Oid>().ok();
        ImportedMergeRequest {
            iid,
            title: merge_request_title(item),
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
            merge_commit_sha: merged_at.and(merge_commit).map(|id| id.to_string()),
            merged_at,
            merged_by: None,
            closed_at: moment(item, "closed_at").filter(|_| merged_at.is_none()),
            created_at,
            updated_at: moment(item, "updated_at").unwrap_or(created_at),
        }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::source_branch;

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
}
