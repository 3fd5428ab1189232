//! Merges and reviews, which are asked for one pull request at a time.

use std::collections::HashMap;

use admin::import::Relation;
use review::item::{ItemKind, import::iids_after};
use serde_json::Value;

use super::step::{HostStep, PAGE, items};
use crate::import::{
    SourceError,
    batch::{Batch, MergeRequestDetails, NumberedNote, Step},
    json::{fitting, host_user, moment, number, text},
    people::KnownPeople,
};

/// Items that one step asks about one by one.
const ITEMS: i64 = 10;

impl HostStep<'_> {
    /// Merges and reviews, asked for one pull request at a time.
    pub(super) async fn details(&self) -> Result<Step, SourceError> {
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

fn words(state: &str) -> &'static str {
    match state {
        "APPROVED" => "Approved",
        "CHANGES_REQUESTED" => "Changes requested",
        "DISMISSED" => "Dismissed",
        _ => "Commented",
    }
}
