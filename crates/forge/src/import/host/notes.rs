//! Comments on items and on lines: from lists of the repository, or of one item after the other.

use std::collections::{HashMap, HashSet};

use admin::import::Relation;
use review::{
    item::ItemKind,
    merge_request::{MergeRequest, MergeRequestStore as _},
    note::NoteType,
};
use serde_json::Value;

use super::step::HostStep;
use crate::import::{
    SourceError,
    batch::{Batch, NumberedNote, Step},
    diff_line,
    json::{fitting, host_user, moment, number, text},
    people::{KnownPeople, SourceUser},
};

impl HostStep<'_> {
    pub(super) async fn notes(&self) -> Result<Step, SourceError> {
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

    pub(super) async fn diff_notes(&self) -> Result<Step, SourceError> {
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

    pub(super) async fn notes_of_items(&self) -> Result<Step, SourceError> {
        let both = [ItemKind::Issue, ItemKind::MergeRequest];
        let paths = |number: i64| vec![format!("issues/{number}/comments")];
        match self.of_item(&both, paths).await? {
            Some((_, found, step)) => self.noted(found, step).await,
            None => Ok(Step::default()),
        }
    }

    pub(super) async fn diff_notes_of_items(&self) -> Result<Step, SourceError> {
        let paths = |number: i64| vec![format!("pulls/{number}/comments")];
        match self.of_item(&[ItemKind::MergeRequest], paths).await? {
            Some((_, found, step)) => self.diff_noted(found, step).await,
            None => Ok(Step::default()),
        }
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

#[cfg(test)]
mod tests {
    use super::last_number;

    #[test]
    fn the_number_of_an_item_is_at_the_end_of_its_address() {
        assert_eq!(last_number("https://api/repos/a/b/issues/12"), Some(12));
        assert_eq!(last_number("https://api/repos/a/b/issues/x"), None);
    }
}
