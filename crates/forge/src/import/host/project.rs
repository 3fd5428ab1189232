//! Import of a project's labels, milestones, members and protected branches.

use admin::import::Relation;
use kernel::{AccessLevel, Ts};
use review::{
    label::import::ImportedLabel,
    milestone::{MilestoneState, import::ImportedMilestone},
};
use serde_json::Value;

use super::step::{HostStep, NO_NUMBER, failure};
use crate::import::{
    SourceError,
    batch::{Batch, Step},
    json::{fitting, host_user, moment, name, number, text, title},
    people::SourceUser,
};

impl HostStep<'_> {
    pub(super) async fn labels(&self) -> Result<Step, SourceError> {
        let (items, step) = self.list("labels").await?;
        let label = |item: &Value| {
            Some(ImportedLabel {
                name: name(item, "name")?,
                color: format!("#{}", text(item, "color")),
                description: fitting(text(item, "description")),
            })
        };
        let rows = items.iter().filter_map(label).collect();
        let fetched = Some((Relation::Label, items.len()));
        Ok(Step { batch: Batch::Labels(rows), fetched, ..step })
    }

    pub(super) async fn milestones(&self) -> Result<Step, SourceError> {
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

    pub(super) async fn collaborators(&self) -> Result<Step, SourceError> {
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

    pub(super) async fn protected_branches(&self) -> Result<Step, SourceError> {
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
