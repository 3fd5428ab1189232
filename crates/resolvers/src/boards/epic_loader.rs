//! The epics of lists of boards, loaded and counted for all lists of a request at once.

use std::{
    collections::HashMap,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use db::Tx;
use forge::{ports::review::OrgHierarchy, urls::Urls};
use kernel::{Actor, Grant, Result as Kept, ids::NamespaceId};
use review::{
    epic::list::{EpicListHead, counts as epic_counts, heads as epic_heads},
    policy::ReadGroupEpics,
};

use super::{
    filter::{ListedEpics, NamedAuthors},
    record::{BoardHome, EpicListRecord},
};
use crate::{
    context::Context,
    loaders::BatchLoader,
    review::{epic::EpicRecord, item_pages::ItemHead},
};

/// A list whose epics are counted.
#[derive(Clone)]
pub(super) struct CountedList(pub(super) Arc<EpicListRecord>);

/// Loader key of the epics of a board list.
#[derive(Clone)]
pub(super) struct EpicKey {
    pub(super) one: Arc<EpicListRecord>,
    pub(super) wanted: ListedEpics,
    /// What was said of the epics, as a text, by which questions are told apart.
    pub(super) given: String,
    pub(super) head: ItemHead,
}

impl CountedList {
    fn name(&self) -> i64 {
        self.0.0.list.id
    }

    fn place(&self) -> &BoardHome {
        &self.0.0.board.place
    }
}

impl EpicKey {
    fn name(&self) -> (i64, &str, String) {
        (self.one.0.list.id, &self.given, format!("{:?}", self.head))
    }

    fn place(&self) -> &BoardHome {
        &self.one.0.board.place
    }
}

/// Questions are the same where their names are.
macro_rules! named {
    ($question:ident) => {
        impl PartialEq for $question {
            fn eq(&self, other: &Self) -> bool {
                self.name() == other.name()
            }
        }

        impl Eq for $question {}

        impl Hash for $question {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.name().hash(state);
            }
        }

        impl fmt::Debug for $question {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "epics of list {:?}", self.name())
            }
        }
    };
}

named!(CountedList);
named!(EpicKey);

/// Loaders of board list epics.
pub(super) struct EpicListLoaders {
    pub(super) counts: BatchLoader<CountedList, i64>,
    pub(super) heads: BatchLoader<EpicKey, Arc<Vec<EpicRecord>>>,
}

impl EpicListLoaders {
    pub(super) fn of(context: &Context) -> Arc<Self> {
        let (actor, urls) = (context.actor(), context.forge.urls.clone());
        context.loaders.of(|db| Self {
            counts: BatchLoader::new(db, counts),
            heads: BatchLoader::new(db, move |tx, keys: &[EpicKey]| heads(tx, &urls, actor, keys)),
        })
    }
}

/// What is asked of each group, with the proof that the caller may read its epics; whoever may not is told of none.
fn by_group<K: Clone>(
    keys: &[K],
    place: impl Fn(&K) -> &BoardHome,
) -> Vec<(Grant<ReadGroupEpics>, Vec<K>)> {
    let mut all: HashMap<NamespaceId, (Option<Grant<ReadGroupEpics>>, Vec<K>)> = HashMap::new();
    for key in keys {
        if let BoardHome::Group(group) = place(key) {
            let own = all.entry(group.id()).or_insert_with(|| (group.grant().ok(), Vec::new()));
            own.1.push(key.clone());
        }
    }
    all.into_values().filter_map(|(grant, keys)| Some((grant?, keys))).collect()
}

/// People are looked up once for all lists of which the same was said.
#[derive(Default)]
struct KnownAuthors(HashMap<String, NamedAuthors>);

impl KnownAuthors {
    fn of(&mut self, tx: &mut Tx<'_>, wanted: &ListedEpics, given: String) -> Kept<NamedAuthors> {
        if let Some(known) = self.0.get(&given) {
            return Ok(*known);
        }
        let named = wanted.people(tx)?;
        self.0.insert(given, named);
        Ok(named)
    }
}

/// The lengths of lists, those of each group's lists at once.
fn counts(tx: &mut Tx<'_>, keys: &[CountedList]) -> Kept<HashMap<CountedList, i64>> {
    let mut all = HashMap::new();
    for (grant, lists) in by_group(keys, CountedList::place) {
        let mut people = KnownAuthors::default();
        let mut filters = Vec::with_capacity(lists.len());
        for CountedList(one) in &lists {
            let wanted = ListedEpics::read(&one.0, None);
            let named = people.of(tx, &wanted, format!("{:?}", one.0.wanted))?;
            filters.push(wanted.of_list(named, &one.0.board, &one.0));
        }
        let found = epic_counts(tx, &grant, &OrgHierarchy, &filters)?;
        all.extend(lists.into_iter().zip(found));
    }
    Ok(all)
}

/// The epics of pages of lists, those of each group's lists at once.
fn heads(
    tx: &mut Tx<'_>,
    urls: &Urls,
    actor: Actor,
    keys: &[EpicKey],
) -> Kept<HashMap<EpicKey, Arc<Vec<EpicRecord>>>> {
    let mut all = HashMap::new();
    for (grant, questions) in by_group(keys, EpicKey::place) {
        let mut people = KnownAuthors::default();
        let mut lists = Vec::with_capacity(questions.len());
        for question in &questions {
            let named = people.of(tx, &question.wanted, question.given.clone())?;
            let one = &question.one.0;
            let filter = question.wanted.of_list(named, &one.board, one);
            let ItemHead { edges, part } = question.head.clone();
            lists.push(EpicListHead { filter, edges, part });
        }
        let found = epic_heads(tx, &grant, &OrgHierarchy, &lists)?;
        let lengths: Vec<usize> = found.iter().map(Vec::len).collect();
        let found = found.into_iter().flatten().collect();
        let mut records = EpicRecord::all(tx, urls, actor, found)?.into_iter();
        let own = |length: usize| Arc::new(records.by_ref().take(length).collect());
        let records: Vec<Arc<Vec<EpicRecord>>> = lengths.into_iter().map(own).collect();
        all.extend(questions.iter().cloned().zip(records));
    }
    Ok(all)
}
