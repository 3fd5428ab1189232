//! The issues of lists of boards, loaded for all lists of a request at once.

use std::{
    collections::HashMap,
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use db::Tx;
use forge::{ports::review::OrgHierarchy, urls::Urls};
use kernel::{Actor, Result as Kept};
use review::{
    issue::{
        list::{IssueFilter, IssueQuery, IssueSet},
        lists,
    },
    item::list::{HeadPart, ListFigures},
};

use super::{
    filter::ListedIssues,
    record::{BoardHome, ListRecord},
};
use crate::{
    context::Context,
    loaders::BatchLoader,
    review::{issue::IssueRecord, item_pages::ItemHead},
};

/// Loader key of the issues of a board list.
#[derive(Clone)]
pub(super) struct ListKey {
    pub(super) one: Arc<ListRecord>,
    pub(super) wanted: ListedIssues,
    /// What was said of the issues, as a text, by which questions are told apart.
    pub(super) given: String,
}

/// Loader key of the first or last issues of a board list between two cursors.
#[derive(Clone)]
pub(super) struct ListHeadKey {
    pub(super) list: ListKey,
    pub(super) head: ItemHead,
}

impl ListKey {
    fn name(&self) -> (i64, &str) {
        (self.one.list.id, &self.given)
    }
}

impl ListHeadKey {
    fn name(&self) -> (i64, &str, String) {
        let (list, given) = self.list.name();
        (list, given, format!("{:?}", self.head))
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
                write!(f, "{:?}", self.name())
            }
        }
    };
}

named!(ListKey);
named!(ListHeadKey);

/// Loaders of board list issues.
pub(super) struct ListLoaders {
    pub(super) figures: BatchLoader<ListKey, ListFigures>,
    pub(super) heads: BatchLoader<ListHeadKey, Arc<Vec<IssueRecord>>>,
}

impl ListLoaders {
    pub(super) fn of(context: &Context) -> Arc<Self> {
        let (actor, urls) = (context.actor(), context.forge.urls.clone());
        context.loaders.of(|db| Self {
            figures: BatchLoader::new(db, move |tx, keys: &[ListKey]| figures(tx, actor, keys)),
            heads: BatchLoader::new(db, move |tx, keys: &[ListHeadKey]| {
                heads(tx, &urls, actor, keys)
            }),
        })
    }
}

/// Where the issues of a list are.
fn among(one: &ListRecord) -> IssueSet<'_> {
    match &one.board.place {
        BoardHome::Project(project) => IssueSet::Project(project.id(), &project.who),
        BoardHome::Group(group) => IssueSet::Group(&group.facts.full_path),
    }
}

/// What each list asks. People are looked up once for all lists of which the same was said.
fn filters<'q>(
    tx: &mut Tx<'_>,
    actor: Actor,
    questions: impl Iterator<Item = &'q ListKey>,
) -> Kept<Vec<IssueFilter>> {
    let mut known: HashMap<&str, IssueFilter> = HashMap::new();
    let mut all = Vec::new();
    for question in questions {
        let common = match known.get(question.given.as_str()) {
            Some(common) => common.clone(),
            None => {
                let common = question.wanted.common(tx, actor)?;
                known.insert(&question.given, common.clone());
                common
            }
        };
        all.push(question.wanted.of_list(common, &question.one));
    }
    Ok(all)
}

fn figures(tx: &mut Tx<'_>, actor: Actor, keys: &[ListKey]) -> Kept<HashMap<ListKey, ListFigures>> {
    let filters = filters(tx, actor, keys.iter())?;
    let asked: Vec<IssueQuery<'_>> = keys
        .iter()
        .zip(&filters)
        .map(|(key, filter)| IssueQuery { actor, among: among(&key.one), archived: false, filter })
        .collect();
    let found = lists::figures(tx, &OrgHierarchy, &asked)?;
    Ok(keys.iter().cloned().zip(found).collect())
}

fn heads(
    tx: &mut Tx<'_>,
    urls: &Urls,
    actor: Actor,
    keys: &[ListHeadKey],
) -> Kept<HashMap<ListHeadKey, Arc<Vec<IssueRecord>>>> {
    let mut filters = filters(tx, actor, keys.iter().map(|key| &key.list))?;
    for (filter, key) in filters.iter_mut().zip(keys) {
        filter.common.bounds.clone_from(&key.head.edges);
    }
    let asked: Vec<IssueQuery<'_>> = keys
        .iter()
        .zip(&filters)
        .map(|(key, filter)| {
            let among = among(&key.list.one);
            IssueQuery { actor, among, archived: false, filter }
        })
        .collect();
    let parts: Vec<HeadPart> = keys.iter().map(|key| key.head.part).collect();
    let found = lists::heads(tx, &OrgHierarchy, &asked, &parts)?;
    let lengths: Vec<usize> = found.iter().map(Vec::len).collect();
    let mut records =
        IssueRecord::all(tx, urls, actor, found.into_iter().flatten().collect())?.into_iter();
    let own = |length: usize| Arc::new(records.by_ref().take(length).collect());
    let records: Vec<Arc<Vec<IssueRecord>>> = lengths.into_iter().map(own).collect();
    Ok(keys.iter().cloned().zip(records).collect())
}
