//! Lists of iterations, and who sees which: whoever may look around in their group.

use db::{
    Tx,
    listing::{Bind, Conditions, Selection, count, ids, list_of, page_of_ids},
};
use kernel::{
    Actor, Result, Ts,
    ids::NamespaceId,
    like::containing,
    page::{Page, PageRequest},
};

use super::{Iteration, IterationState, IterationStore as _};
use crate::ports::GroupHierarchy;

/// Which iterations are wanted. Filters act only when they are set.
#[derive(Clone, Debug, Default)]
pub struct IterationFilter {
    pub groups: Vec<NamespaceId>,
    /// Any of these.
    pub states: Option<Vec<IterationState>>,
    pub search: Option<Search>,
    pub updated_after: Option<Ts>,
    pub updated_before: Option<Ts>,
    pub id: Option<i64>,
    /// Number within the group.
    pub iid: Option<i64>,
    /// First and last day of a span that the iteration meets.
    pub timeframe: Option<(Ts, Ts)>,
}

/// A part of a title.
#[derive(Clone, Debug)]
pub struct Search {
    pub text: String,
    pub in_title: bool,
    pub in_cadence_title: bool,
}

/// A page of the iterations that somebody may see, those first that end first.
pub fn list(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    actor: Actor,
    filter: &IterationFilter,
    page: PageRequest,
) -> Result<Page<Iteration>> {
    let groups: Vec<i64> = filter.groups.iter().map(|group| group.0).collect();
    let mut all = Conditions::default();
    all.plain(format!("i.namespace_id IN ({})", list_of(&groups)));
    all.plain(places.sees_group(tx, actor, "i.namespace_id")?);
    if let Some(states) = &filter.states {
        let any: Vec<String> = states.iter().map(|state| lies(*state, tx.now, "i")).collect();
        all.plain(format!("({})", any.join(" OR ")));
    }
    if let Some(search) = &filter.search {
        add_search(tx, &mut all, search);
    }
    if let Some(after) = filter.updated_after {
        all.number("i.updated_at >= {}", after.0);
    }
    if let Some(before) = filter.updated_before {
        all.number("i.updated_at <= {}", before.end_of_shown().0);
    }
    if let Some(id) = filter.id {
        all.number("i.id = {}", id);
    }
    if let Some(iid) = filter.iid {
        all.number("i.iid = {}", iid);
    }
    if let Some((first, last)) = filter.timeframe {
        all.number("i.start_date <= {}", last.0);
        all.number("i.due_date >= {}", first.0);
    }
    let from = format!(
        "iterations i JOIN iteration_cadences c ON c.id = i.cadence_id WHERE {}",
        all.text()
    );
    let order = "i.due_date, i.id".to_owned();
    let selection = Selection { id: "i.id", from, binds: all.binds, order };
    let found =
        page_of_ids(tx, &selection, page, |tx| count(tx, &selection.from, &selection.binds))?;
    Ok(Page { items: tx.iterations_in_order(&found.items)?, total: found.total })
}

fn add_search(tx: &Tx<'_>, all: &mut Conditions, search: &Search) {
    let pattern = all.bind(Bind::Word(containing(&search.text)));
    let like = |column: &str| {
        let text = tx.folded(&format!("coalesce({column}, '')"));
        format!("{text} LIKE {pattern} ESCAPE '\\'")
    };
    let mut any = Vec::new();
    if search.in_title {
        any.push(like("i.title"));
    }
    if search.in_cadence_title {
        any.push(like("c.title"));
    }
    all.plain(format!("({})", any.join(" OR ")));
}

/// Whether the iteration of a row lies so, as SQL.
pub(crate) fn lies(state: IterationState, now: Ts, row: &str) -> String {
    let today = Ts::from_date(now.date()).0;
    match state {
        IterationState::Upcoming => format!("{row}.start_date > {today}"),
        IterationState::Current => {
            format!("({row}.start_date <= {today} AND {row}.due_date >= {today})")
        }
        IterationState::Closed => format!("{row}.due_date < {today}"),
    }
}

/// Those of these iterations that somebody may see.
pub fn readable(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    actor: Actor,
    iterations: &[i64],
) -> Result<Vec<Iteration>> {
    if iterations.is_empty() {
        return Ok(Vec::new());
    }
    let seen = places.sees_group(tx, actor, "i.namespace_id")?;
    let sql = format!(
        "SELECT i.id AS id FROM iterations i WHERE i.id IN ({}) AND {seen}",
        list_of(iterations)
    );
    let seen = ids(tx, &sql, &[])?;
    tx.iterations_in_order(&seen)
}
