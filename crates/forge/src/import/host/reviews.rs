//! Merges and reviews, which are asked for one pull request at a time.

use std::collections::HashMap;

use admin::import::Relation;
use kernel::ids::UserId;
use review::item::{ItemKind, import::iids_after};
use serde_json::Value;

use super::{
    item_cursor::ItemCursor,
    step::{HostStep, PAGE, has_next, items},
};
use crate::import::{
    SourceError,
    batch::{Batch, MergeRequestDetails, NumberedNote, Step},
    json::{fitting, host_user, moment, number, text},
    people::KnownPeople,
};

/// Items that one step asks about one by one.
const ITEMS: i64 = 10;

/// A page of the reviews of one pull request; the first one with its merge.
struct ReviewPage {
    details: MergeRequestDetails,
    people: HashMap<String, Option<UserId>>,
    has_next: bool,
    pause: Option<i64>,
}

impl HostStep<'_> {
    /// Merges and reviews, asked for one pull request at a time. A step ends with a page that another one follows.
    pub(super) async fn details(&self) -> Result<Step, SourceError> {
        let cursor = ItemCursor::parse(self.import.cursor.as_deref());
        let (project, kind, after) = (self.project(), ItemKind::MergeRequest, cursor.after());
        let numbers = self.forge.db.read(move |tx| iids_after(tx, project, kind, after, ITEMS));
        let numbers = numbers.await?;
        let last = numbers.last().filter(|_| i64::try_from(numbers.len()) == Ok(ITEMS));
        let mut next = last.map(|iid| ItemCursor::behind(kind, *iid, 1, false));
        let (mut all, mut people, mut pause) = (Vec::new(), HashMap::new(), None);
        for iid in numbers {
            let page = cursor.page_of(iid);
            let Some(found) = self.review_page(iid, page).await? else { continue };
            all.push(found.details);
            people.extend(found.people);
            pause = found.pause;
            if found.has_next || pause.is_some() {
                next = Some(ItemCursor::behind(kind, iid, page, found.has_next));
                break;
            }
        }
        let next = next.map(ItemCursor::text);
        Ok(Step { batch: Batch::Details(all), people, next, pause, ..Step::default() })
    }

    /// `None` for a pull request that is gone.
    async fn review_page(&self, iid: i64, page: i64) -> Result<Option<ReviewPage>, SourceError> {
        let api = &self.origin.api;
        let pull = match page {
            1 => match self.client.get(format!("{api}/pulls/{iid}")).await {
                Err(SourceError::Missing) => return Ok(None),
                found => found?.body,
            },
            _ => Value::Null,
        };
        let url = format!("{api}/pulls/{iid}/reviews?per_page={PAGE}&page={page}");
        let found = self.client.get(url).await?;
        let reviews = items(&found)?;
        let mut users = vec![host_user(&pull["merged_by"])];
        users.extend(reviews.iter().map(|review| host_user(&review["user"])));
        let known = self.people.find(&users).await?;
        Ok(Some(ReviewPage {
            details: self.reviewed(iid, &pull, reviews, &known),
            people: known.new,
            has_next: has_next(&found, reviews.len()),
            pause: found.pause,
        }))
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
