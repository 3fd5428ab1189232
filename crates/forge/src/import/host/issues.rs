//! Issues.

use admin::import::Relation;
use review::issue::{IssueState, import::ImportedIssue};
use serde_json::Value;

use super::step::{HostStep, NO_NUMBER, failure, names};
use crate::import::{
    SourceError,
    batch::{Batch, Step},
    json::{fitting, host_user, list, moment, number, text, title},
};

impl HostStep<'_> {
    pub(super) async fn issues(&self) -> Result<Step, SourceError> {
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
}
