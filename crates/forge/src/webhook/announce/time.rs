//! Time that was estimated or spent: told as a change of the item.

use db::Tx;
use kernel::{
    Result,
    ids::{IssueId, MergeRequestId},
};
use review::{
    event::{Change, EarlierValues},
    item::{ItemKind, time},
};

use super::{issue::tell_issue, merge_request::tell_merge_request};
use crate::webhook::{
    announcer::Announcer,
    payload::{issue::IssueAction, merge_request::MergeRequestAction},
};

pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &time::event::Event) -> Result<()> {
    let Some(project) = fact.project else { return Ok(()) };
    let changes = time_changes(fact);
    let earlier =
        EarlierValues { updated_at: Some(fact.updated_before), ..EarlierValues::default() };
    match fact.item_kind {
        ItemKind::Issue => {
            let deed = (IssueAction::Update(&changes), &earlier);
            tell_issue(tx, by, (IssueId(fact.item), project), fact.user, deed)
        }
        ItemKind::MergeRequest => {
            let deed = (MergeRequestAction::Update(&changes), &earlier);
            let place = (MergeRequestId(fact.item), project);
            tell_merge_request(tx, by, place, Some(fact.user), deed)
        }
        ItemKind::Epic => Ok(()),
    }
}

fn time_changes(fact: &time::event::Event) -> Vec<Change> {
    let mut all = Vec::new();
    let mut add = |field, before: i64, after: i64| {
        let (before, after) = (Some(before.to_string()), Some(after.to_string()));
        all.push(Change { field, before, after });
    };
    if fact.estimated_more != 0 {
        let before = fact.estimate.saturating_sub(fact.estimated_more);
        add("time_estimate", before, fact.estimate);
    }
    if fact.spent_more != 0 {
        add("total_time_spent", fact.spent.saturating_sub(fact.spent_more), fact.spent);
        add("time_change", 0, fact.spent_more);
    }
    all
}
