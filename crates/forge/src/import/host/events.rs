//! Import of item events: from the repository's list, or item by item.

use admin::import::Relation;
use review::{
    activity::{ResourceAction, ResourceState, import::ImportedChange},
    item::ItemKind,
};
use serde_json::Value;

use super::{item_cursor::ItemCursor, step::HostStep};
use crate::import::{
    SourceError,
    batch::{Batch, NumberedEvent, Step},
    json::{host_user, moment, number, text},
    people::SourceUser,
};

impl HostStep<'_> {
    pub(super) async fn events(&self) -> Result<Step, SourceError> {
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

    pub(super) async fn events_of_items(&self) -> Result<Step, SourceError> {
        let both = [ItemKind::Issue, ItemKind::MergeRequest];
        let path = |cursor: ItemCursor| format!("issues/{}/events", cursor.number);
        let Some((number, found, step)) = self.of_item(&both, path).await? else {
            return Ok(Step::default());
        };
        let numbered = found.iter().map(|item| (Some(number), item)).collect();
        self.happened(numbered, found.len(), step).await
    }
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
