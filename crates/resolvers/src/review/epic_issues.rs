//! The issues of epics, as people ordered them.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use db::Tx;
use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Failure, Value};
use kernel::{Actor, Result, page::PageRequest};
use review::{
    issue::{
        Issue,
        list::{IssueFilter, IssueQuery, IssueSet, list, weight},
    },
    item::list::{Choice, Direction, Order, Sorting},
};

use super::{
    issue::EpicIssueRecord,
    loaders::ReviewLoaders,
    records::{EpicRecord, IssueRecord},
};
use crate::{
    context::Context, failure::failure_of, loaders::BatchLoader, numbered_list::NumberedList,
    values::path_of,
};

/// The issues of all epics of a query are read together up to so many; of more, each epic's are read by themselves.
const MOST: i64 = 2_000;

/// As people ordered them.
const GIVEN: Sorting =
    Sorting { by: Order::Optional("epic_position"), direction: Direction::Ascending };

/// The issues of an epic that the caller may read; nothing where there are too many.
struct EpicIssueLoader(BatchLoader<i64, Option<Arc<Vec<Issue>>>>);

impl EpicIssueLoader {
    fn of(context: &Context) -> Arc<Self> {
        let actor = context.actor();
        context.loaders.of(|db| Self(BatchLoader::new(db, move |tx, ids| in_epics(tx, actor, ids))))
    }
}

fn filter_of(epics: &[i64]) -> IssueFilter {
    let (first, others) = epics.split_first().unwrap_or((&0, &[]));
    IssueFilter {
        epic: Some(Choice::These(*first)),
        subepics: others.to_vec(),
        ..IssueFilter::default()
    }
}

fn in_epics(
    tx: &mut Tx<'_>,
    actor: Actor,
    epics: &[i64],
) -> Result<HashMap<i64, Option<Arc<Vec<Issue>>>>> {
    // An epic that the caller may not read is none: who asks for the first one alone learns nothing of the others.
    let epics = Vec::from_iter(epics.iter().copied().collect::<BTreeSet<i64>>());
    let filter = filter_of(&epics);
    let asked = IssueQuery { actor, among: IssueSet::Everywhere, archived: true, filter: &filter };
    let page = PageRequest { page: 1, per_page: MOST + 1 };
    let found = list(tx, &OrgHierarchy, &asked, GIVEN, page)?.items;
    if i64::try_from(found.len()).is_ok_and(|many| many > MOST) {
        return Ok(epics.into_iter().map(|epic| (epic, None)).collect());
    }
    let mut all: HashMap<i64, Vec<Issue>> = epics.iter().map(|epic| (*epic, Vec::new())).collect();
    for issue in found {
        if let Some(own) = issue.epic_id.and_then(|epic| all.get_mut(&epic)) {
            own.push(issue);
        }
    }
    Ok(all.into_iter().map(|(epic, issues)| (epic, Some(Arc::new(issues)))).collect())
}

/// The issues of an epic, with the sum of their weights.
pub(super) async fn issues(
    context: &Context,
    one: &EpicRecord,
    arguments: &Arguments,
) -> std::result::Result<Value, Failure> {
    let page = arguments.page()?;
    let known = EpicIssueLoader::of(context).0.load(one.row.id).await?.flatten();
    let (rows, weight) = match known {
        Some(known) => {
            let rows = NumberedList::read(&page, |part| Ok(part.slice(known.to_vec())));
            let loaders = ReviewLoaders::of(context);
            let rows = rows.map_err(failure_of)?;
            let rows = rows.load_each(|issue| loaders.issues.load(issue.id)).await?;
            let weights = known.iter().filter_map(|issue| issue.weight);
            (rows, weights.fold(0, i64::saturating_add))
        }
        None => of_one(context, one, arguments).await?,
    };
    let epic_path = path_of(&context.forge.urls, &one.shown.web_url);
    let value = |issue: Option<Arc<IssueRecord>>| -> Value {
        let record = |issue| EpicIssueRecord { issue, epic_path: epic_path.clone() };
        issue.map(|issue| Value::object("EpicIssue", Arc::new(record(issue)))).into()
    };
    Ok(rows.connection(&page, value).field("weight", weight).into())
}

/// As [`issues`], read for this epic alone.
async fn of_one(
    context: &Context,
    one: &EpicRecord,
    arguments: &Arguments,
) -> std::result::Result<(NumberedList<Option<Arc<IssueRecord>>>, i64), Failure> {
    let (page, actor, urls) = (arguments.page()?, context.actor(), context.forge.urls.clone());
    let filter = filter_of(&[one.row.id]);
    let found = context.forge.db.read(move |tx| {
        let asked =
            IssueQuery { actor, among: IssueSet::Everywhere, archived: true, filter: &filter };
        let rows = NumberedList::read(&page, |part| list(tx, &OrgHierarchy, &asked, GIVEN, part))?;
        let weight = weight(tx, &OrgHierarchy, &asked)?;
        let shown = rows.try_map_all(|rows| IssueRecord::all(tx, &urls, actor, rows))?;
        Ok((shown.map(|issue| Some(Arc::new(issue))), weight))
    });
    found.await.map_err(failure_of)
}
