//! Imported activity of items from another installation, a page at a time.

use std::collections::{BTreeSet, HashMap};

use db::{
    Tx, each_backend, error,
    schema::{milestones, resource_events as events},
};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{LabelId, MilestoneId, ProjectId, UserId},
};

use super::{ResourceAction, ResourceKind, ResourceState};
use crate::{
    Home,
    item::{ItemId, ItemKind, import::ids_by_iid, milestones::sentence_of},
    label::{LabelFilter, LabelStore as _},
    note::{
        fresh_discussion,
        import::{ImportedNote, insert_notes},
        sentence,
    },
    ports::People,
};

/// Somebody whom an event names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedPerson {
    /// Their account here; `None` for those who have none.
    pub account: Option<UserId>,
    /// Their name at the other installation.
    pub login: String,
}

/// The change of an imported event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportedChange {
    State(ResourceState),
    /// With the label's name.
    Label(ResourceAction, String),
    /// With the milestone's title.
    Milestone(ResourceAction, String),
    /// The titles before and after.
    Title(String, String),
    Assignee(ResourceAction, ImportedPerson),
    Reviewer(ResourceAction, ImportedPerson),
    /// An item of the same project names this one: its kind and number.
    Mention(ItemKind, i64),
}

/// Something that happened to an item in another installation.
#[derive(Clone, Debug)]
pub struct ImportedEvent {
    pub item: ItemId,
    pub user: UserId,
    pub change: ImportedChange,
    pub at: Ts,
}

/// Writes what happened, as resource events and system notes, as the same change leaves them here; returns how many
/// of these events left something. Labels, milestones and items that are not there are left out.
pub fn insert_events(
    tx: &mut Tx<'_>,
    people: &impl People,
    project: ProjectId,
    new: &[ImportedEvent],
) -> Result<usize> {
    let names = EventNames::load(tx, people, project, new)?;
    insert_resource_events(tx, project, &names, new)?;
    let notes: Vec<ImportedNote> = new.iter().filter_map(|one| names.note(one)).collect();
    insert_notes(tx, project, &notes)?;
    let is_written = |one: &&ImportedEvent| {
        names.columns(&one.change).is_some() || names.sentence(&one.change).is_some()
    };
    Ok(new.iter().filter(is_written).count())
}

fn insert_resource_events(
    tx: &mut Tx<'_>,
    project: ProjectId,
    names: &EventNames,
    new: &[ImportedEvent],
) -> Result<()> {
    let rows: Vec<_> = new
        .iter()
        .filter_map(|one| {
            let columns = names.columns(&one.change)?;
            Some((
                events::project_id.eq(project),
                events::item_kind.eq(one.item.kind),
                events::item_id.eq(one.item.id),
                events::user_id.eq(one.user),
                events::kind.eq(columns.kind),
                events::action.eq(columns.action),
                events::label_id.eq(columns.label),
                events::milestone_id.eq(columns.milestone),
                events::state.eq(columns.state),
                events::created_at.eq(one.at),
            ))
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    each_backend!(tx, |conn| diesel::insert_into(events::table)
        .values(&rows)
        .execute(conn)
        .map_err(error("Event")))?;
    Ok(())
}

/// The columns of a resource event that say what changed.
struct ChangeColumns {
    kind: ResourceKind,
    action: Option<ResourceAction>,
    label: Option<LabelId>,
    milestone: Option<MilestoneId>,
    state: Option<ResourceState>,
}

impl ChangeColumns {
    fn of(kind: ResourceKind, action: Option<ResourceAction>) -> Self {
        Self { kind, action, label: None, milestone: None, state: None }
    }
}

/// What events name, by the ids and names that it has here.
struct EventNames {
    labels: HashMap<String, LabelId>,
    milestones: HashMap<String, MilestoneId>,
    people: HashMap<UserId, String>,
    items: HashMap<(ItemKind, i64), i64>,
}

impl EventNames {
    fn load(
        tx: &mut Tx<'_>,
        people: &impl People,
        project: ProjectId,
        new: &[ImportedEvent],
    ) -> Result<Self> {
        let accounts: BTreeSet<UserId> = new
            .iter()
            .filter_map(|one| match &one.change {
                ImportedChange::Assignee(_, person) | ImportedChange::Reviewer(_, person) => {
                    person.account
                }
                _ => None,
            })
            .collect();
        let accounts: Vec<UserId> = accounts.into_iter().collect();
        Ok(Self {
            labels: labels(tx, project, new)?,
            milestones: milestones(tx, project, new)?,
            people: if accounts.is_empty() {
                HashMap::new()
            } else {
                people.names(tx, &accounts)?
            },
            items: items(tx, project, new)?,
        })
    }

    /// The resource event of a change; `None` for those that leave a system note alone.
    fn columns(&self, change: &ImportedChange) -> Option<ChangeColumns> {
        Some(match change {
            ImportedChange::State(state) => ChangeColumns {
                state: Some(*state),
                ..ChangeColumns::of(ResourceKind::State, None)
            },
            ImportedChange::Label(action, name) => ChangeColumns {
                label: Some(*self.labels.get(name)?),
                ..ChangeColumns::of(ResourceKind::Label, Some(*action))
            },
            ImportedChange::Milestone(action, title) => ChangeColumns {
                milestone: Some(*self.milestones.get(title)?),
                ..ChangeColumns::of(ResourceKind::Milestone, Some(*action))
            },
            ImportedChange::Title(..)
            | ImportedChange::Assignee(..)
            | ImportedChange::Reviewer(..)
            | ImportedChange::Mention(..) => return None,
        })
    }

    /// What the system note of a change says; `None` for those that leave a resource event alone.
    fn sentence(&self, change: &ImportedChange) -> Option<String> {
        match change {
            ImportedChange::State(ResourceState::Opened) | ImportedChange::Label(..) => None,
            ImportedChange::State(state) => Some(state.to_string()),
            ImportedChange::Milestone(ResourceAction::Add, title) => {
                self.milestones.contains_key(title).then(|| sentence_of(Some(title)))
            }
            ImportedChange::Milestone(ResourceAction::Remove, title) => {
                self.milestones.contains_key(title).then(|| sentence_of(None))
            }
            ImportedChange::Title(before, after) => Some(sentence::title(before, after)),
            ImportedChange::Assignee(action, person) => {
                let (added, removed) = self.sides(*action, person);
                Some(sentence::assignees(&added, &removed))
            }
            ImportedChange::Reviewer(action, person) => {
                let (added, removed) = self.sides(*action, person);
                Some(sentence::reviewers(&added, &removed))
            }
            ImportedChange::Mention(kind, iid) => {
                self.items.get(&(*kind, *iid))?;
                Some(sentence::mention(*kind, &format!("{}{iid}", kind.sign())))
            }
        }
    }

    /// Who came, and who went.
    fn sides(&self, action: ResourceAction, person: &ImportedPerson) -> (Vec<String>, Vec<String>) {
        let name = person.account.and_then(|account| self.people.get(&account));
        let name = match name {
            Some(name) => format!("@{name}"),
            // As code: somebody else may have the name here, and is not meant.
            None => format!("`@{}`", person.login),
        };
        match action {
            ResourceAction::Add => (vec![name], Vec::new()),
            ResourceAction::Remove => (Vec::new(), vec![name]),
        }
    }

    fn note(&self, one: &ImportedEvent) -> Option<ImportedNote> {
        let about = match &one.change {
            ImportedChange::Mention(kind, iid) => {
                self.items.get(&(*kind, *iid)).map(|id| ItemId { kind: *kind, id: *id })
            }
            _ => None,
        };
        Some(ImportedNote {
            item: one.item,
            discussion: fresh_discussion(),
            note_type: None,
            body: self.sentence(&one.change)?,
            author: one.user,
            is_system: true,
            position: None,
            about,
            created_at: one.at,
            updated_at: one.at,
        })
    }
}

/// The items that mentions come from, by kind and number.
fn items(
    tx: &mut Tx<'_>,
    project: ProjectId,
    new: &[ImportedEvent],
) -> Result<HashMap<(ItemKind, i64), i64>> {
    let mut found = HashMap::new();
    for kind in [ItemKind::Issue, ItemKind::MergeRequest] {
        let iids: BTreeSet<i64> = new
            .iter()
            .filter_map(|one| match one.change {
                ImportedChange::Mention(of, iid) if of == kind => Some(iid),
                _ => None,
            })
            .collect();
        if !iids.is_empty() {
            let iids: Vec<i64> = iids.into_iter().collect();
            let ids = ids_by_iid(tx, project, kind, &iids)?;
            found.extend(ids.into_iter().map(|(iid, id)| ((kind, iid), id)));
        }
    }
    Ok(found)
}

fn labels(
    tx: &mut Tx<'_>,
    project: ProjectId,
    new: &[ImportedEvent],
) -> Result<HashMap<String, LabelId>> {
    let names: BTreeSet<String> = new
        .iter()
        .filter_map(|one| match &one.change {
            ImportedChange::Label(_, name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let names: Vec<String> = names.into_iter().collect();
    let found = tx.labels_named(&LabelFilter::of(Home::Project(project)), &names)?;
    Ok(found.into_iter().map(|label| (label.name, label.id)).collect())
}

fn milestones(
    tx: &mut Tx<'_>,
    project: ProjectId,
    new: &[ImportedEvent],
) -> Result<HashMap<String, MilestoneId>> {
    let titles: BTreeSet<&String> = new
        .iter()
        .filter_map(|one| match &one.change {
            ImportedChange::Milestone(_, title) => Some(title),
            _ => None,
        })
        .collect();
    if titles.is_empty() {
        return Ok(HashMap::new());
    }
    let found = milestones::table
        .filter(milestones::project_id.eq(project).and(milestones::title.eq_any(titles)))
        .select((milestones::title, milestones::id));
    let found: Vec<(String, MilestoneId)> =
        each_backend!(tx, |conn| found.load(conn).map_err(error("Milestone")))?;
    Ok(found.into_iter().collect())
}
