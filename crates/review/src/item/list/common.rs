//! What lists of issues and of merge requests can both be asked.

use db::Tx;
use kernel::{Ts, ids::UserId};

use super::{Choice, Conditions, MilestoneChoice, Search};

/// Which items are wanted. Filters act only when they are set.
#[derive(Clone, Debug, Default)]
pub struct Common {
    pub created_after: Option<Ts>,
    pub created_before: Option<Ts>,
    pub updated_after: Option<Ts>,
    pub updated_before: Option<Ts>,
    pub search: Option<Search>,
    /// All of these must hold, as the caller's own share and a person who was named do.
    pub authors: Vec<UserId>,
    pub assignees: Vec<Choice<Vec<UserId>>>,
    pub iids: Option<Vec<i64>>,
    pub labels: Option<Choice<Vec<String>>>,
    pub milestone: Option<Choice<MilestoneChoice>>,
    /// What the caller reacted to, by the name of an emoji.
    pub reaction: Option<Choice<String>>,
    /// One of each that is not empty must hold.
    pub any: AnyCommon,
    pub not: NotCommon,
}

/// Alternatives: an item has one of these authors, one of these assignees, and one of these labels.
#[derive(Clone, Debug, Default)]
pub struct AnyCommon {
    pub authors: Vec<UserId>,
    pub assignees: Vec<UserId>,
    pub labels: Vec<String>,
}

/// Which items are left out.
#[derive(Clone, Debug, Default)]
pub struct NotCommon {
    pub labels: Vec<String>,
    pub milestone: Option<Choice<MilestoneChoice>>,
    pub author: Option<UserId>,
    pub assignee: Option<Choice<Vec<UserId>>>,
}

impl Common {
    /// Asks for what is set, for somebody.
    pub(crate) fn ask(&self, tx: &Tx<'_>, all: &mut Conditions, reader: Option<UserId>) {
        let today = midnight(tx.now);
        all.between("created_at", self.created_after, self.created_before);
        all.between("updated_at", self.updated_after, self.updated_before);
        if let Some(search) = &self.search {
            all.containing(tx, search);
        }
        self.authors.iter().for_each(|author| all.written_by(*author));
        self.assignees.iter().for_each(|choice| all.assigned(choice));
        if let Some(iids) = &self.iids {
            all.numbered(iids);
        }
        if let Some(labels) = &self.labels {
            all.labelled(labels);
        }
        if let Some(milestone) = &self.milestone {
            all.milestone(milestone, today);
        }
        if let Some(reaction) = &self.reaction {
            all.reacted(reader, reaction);
        }
        self.any.ask(all);
        self.not.ask(all, today);
    }
}

impl AnyCommon {
    fn ask(&self, all: &mut Conditions) {
        all.written_by_one_of(&self.authors);
        all.assigned_to_one_of(&self.assignees);
        all.labelled_with_one_of(&self.labels);
    }
}

impl NotCommon {
    fn ask(&self, all: &mut Conditions, today: Ts) {
        all.not_labelled(&self.labels);
        if let Some(milestone) = &self.milestone {
            all.not_milestone(milestone, today);
        }
        if let Some(author) = self.author {
            all.plain(format!("i.author_id <> {author}"));
        }
        if let Some(choice) = &self.assignee {
            all.not_assigned(choice);
        }
    }
}

/// The moment at which a day began.
pub(crate) fn midnight(now: Ts) -> Ts {
    Ts::from_date(now.date())
}
