//! Import of item events: from the repository's list, or item by item.

use admin::import::Relation;
use review::{
    activity::{
        ResourceAction::{Add, Remove},
        ResourceState,
        import::{ImportedChange, ImportedPerson},
    },
    item::ItemKind,
};
use serde_json::Value;

use super::step::HostStep;
use crate::import::{
    SourceError,
    batch::{Batch, NumberedEvent, Step},
    json::{host_user, moment, name, number, text},
    people::{KnownPeople, SourceUser},
};

impl HostStep<'_> {
    pub(super) async fn events(&self) -> Result<Step, SourceError> {
        let (items, step) = self.list("issues/events").await?;
        let numbered = items.iter().map(|item| (number(&item["issue"], "number"), item)).collect();
        self.happened(numbered, step).await
    }

    /// Only what leaves a trace here counts as fetched.
    async fn happened(
        &self,
        mut items: Vec<(Option<i64>, &Value)>,
        step: Step,
    ) -> Result<Step, SourceError> {
        let nobody = KnownPeople::default();
        items.retain(|(_, item)| self.change(item, &nobody).is_some());
        let users: Vec<SourceUser> = items
            .iter()
            .flat_map(|(_, item)| [Some(author(item)), person(item)])
            .flatten()
            .collect();
        let known = self.people.find(&users).await?;
        let mut rows: Vec<NumberedEvent> =
            items.iter().filter_map(|(of, item)| self.event((*of)?, item, &known)).collect();
        // The list of a repository has the newest first.
        rows.sort_by_key(|row| row.at);
        let fetched = Some((Relation::IssueEvent, rows.len()));
        Ok(Step { batch: Batch::Events(rows), fetched, people: known.new, ..step })
    }

    /// The timeline of an item names what refers to it, which its events do not.
    pub(super) async fn events_of_items(&self) -> Result<Step, SourceError> {
        let both = [ItemKind::Issue, ItemKind::MergeRequest];
        let paths = |number: i64| {
            vec![format!("issues/{number}/timeline"), format!("issues/{number}/events")]
        };
        let Some((number, found, step)) = self.of_item(&both, paths).await? else {
            return Ok(Step::default());
        };
        let numbered = found.iter().map(|item| (Some(number), item)).collect();
        self.happened(numbered, step).await
    }

    fn event(&self, of: i64, item: &Value, known: &KnownPeople) -> Option<NumberedEvent> {
        let change = self.change(item, known)?;
        let id = match &change {
            // It has no id; of two items there is one.
            ImportedChange::Mention(kind, source) => format!("{of}/{}{source}", kind.sign()),
            _ => number(item, "id")?.to_string(),
        };
        let at = moment(item, "created_at").unwrap_or(self.import.created_at);
        Some(NumberedEvent { id, number: of, user: known.author(&author(item)), change, at })
    }

    /// What an event changed; `None` for those that leave no trace here. Comments and reviews, which a timeline has, too,
    /// come with stages of their own.
    fn change(&self, item: &Value, known: &KnownPeople) -> Option<ImportedChange> {
        let label = || name(&item["label"], "name");
        let milestone = || name(&item["milestone"], "title");
        let title = |side: &str| name(&item["rename"], side);
        let person = || {
            let user = person(item)?;
            Some(ImportedPerson { account: known.find(&user), login: user.login })
        };
        Some(match text(item, "event") {
            "closed" => ImportedChange::State(ResourceState::Closed),
            "reopened" => ImportedChange::State(ResourceState::Reopened),
            "merged" => ImportedChange::State(ResourceState::Merged),
            "labeled" => ImportedChange::Label(Add, label()?),
            "unlabeled" => ImportedChange::Label(Remove, label()?),
            "milestoned" => ImportedChange::Milestone(Add, milestone()?),
            "demilestoned" => ImportedChange::Milestone(Remove, milestone()?),
            "renamed" => ImportedChange::Title(title("from")?, title("to")?),
            "assigned" => ImportedChange::Assignee(Add, person()?),
            "unassigned" => ImportedChange::Assignee(Remove, person()?),
            "review_requested" => ImportedChange::Reviewer(Add, person()?),
            "review_request_removed" => ImportedChange::Reviewer(Remove, person()?),
            "cross-referenced" => self.mention(&item["source"]["issue"])?,
            _ => return None,
        })
    }

    /// Another item of the same repository that refers to this one; what lies elsewhere is not here.
    fn mention(&self, source: &Value) -> Option<ImportedChange> {
        let repository = text(&source["repository"], "full_name");
        if !repository.eq_ignore_ascii_case(&self.import.source) {
            return None;
        }
        let kind = match source["pull_request"].is_object() {
            true => ItemKind::MergeRequest,
            false => ItemKind::Issue,
        };
        Some(ImportedChange::Mention(kind, number(source, "number")?))
    }
}

/// Who did it: where somebody else is named, the actor may be either of the two.
fn author(item: &Value) -> SourceUser {
    let name = match text(item, "event") {
        "assigned" | "unassigned" => "assigner",
        "review_requested" | "review_request_removed" => "review_requester",
        _ => "actor",
    };
    host_user(if item[name].is_object() { &item[name] } else { &item["actor"] })
}

/// Who was assigned, or asked for a review; teams are nobody.
fn person(item: &Value) -> Option<SourceUser> {
    let name = match text(item, "event") {
        "assigned" | "unassigned" => "assignee",
        "review_requested" | "review_request_removed" => "requested_reviewer",
        _ => return None,
    };
    Some(host_user(&item[name])).filter(|user| !user.login.is_empty())
}
