//! How a list finds its page: from where it begins, and which index is walked.

use db::{
    Tx,
    listing::{Bind, count_up_to, ids, list_of, value},
};
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{
    conditions::{Conditions, Part, Probe},
    order::{Direction, Order, Sorting},
    search::by_rarest,
    searched::{gathered, searched},
};
use crate::ports::Readable;

/// Where a list looks.
#[derive(Clone, Debug)]
pub enum Place {
    Project(ProjectId),
    Projects(Readable),
    /// For what belongs to groups themselves.
    Groups(Vec<NamespaceId>),
}

/// Which items a list shows.
#[derive(Clone, Debug)]
pub struct Query {
    pub place: Place,
    pub conditions: Conditions,
}

/// A condition that holds for so many is begun with: they are gathered and put in order.
pub(super) const FEW: i64 = COUNT_LIMIT;
/// So many are not worth to be counted before they are gathered.
const MANY: i64 = 25;
/// So many labels are named one by one in a question.
const LISTED: usize = 2_000;
/// All of so many texts are looked through rather than an index asked.
const SCANNED: i64 = 20_000;
/// So far into a list, each project's own part of it is taken and the parts are merged.
const MERGED: i64 = 1000;
/// Among so many of the newest ids a page is looked for before all of them are walked.
const STRETCH: i64 = 30_000;

/// One page of ids, and how long the whole list is as far as lists tell it.
pub fn page_of(
    tx: &mut Tx<'_>,
    query: &Query,
    sorting: Sorting,
    page: PageRequest,
) -> Result<Page<i64>> {
    let asked = query;
    let Some(query) = &sharpened(tx, query)? else {
        return Ok(Page { items: Vec::new(), total: Total::Counted(0) });
    };
    if query.conditions.is_searched() {
        return searched(tx, asked, query, sorting, page);
    }
    let walk = Walk { query, begun: beginning(tx, query)?, projects: Projects::Joined };
    if let Some(common) = walk.common(tx, page)? {
        let walk = Walk::of(query);
        let found = page.uncounted(walk.select(tx, sorting, page.probe(), page.offset())?);
        return Ok(Page { total: Total::Counted(common), ..found });
    }
    if walk.begun.is_some() {
        // All of them have to be gathered for any page, so they are counted as well.
        return Ok(page.slice(walk.select(tx, sorting, FEW, 0)?));
    }
    let found = page.uncounted(walk.select(tx, sorting, page.probe(), page.offset())?);
    let Total::Uncounted { more } = found.total else { return Ok(found) };
    let listed = i64::try_from(found.items.len()).unwrap_or(i64::MAX);
    // The last page tells the length by itself.
    if !more && (listed > 0 || page.page == 1) {
        return Ok(Page { total: Total::Counted(page.offset() + listed), ..found });
    }
    let total = match walk.count(tx)? {
        total if total > COUNT_LIMIT => Total::Uncounted { more },
        total => Total::Counted(total),
    };
    Ok(Page { total, ..found })
}

/// How many items there are, however many.
pub fn count_all(tx: &mut Tx<'_>, query: &Query) -> Result<i64> {
    let Some(query) = &sharpened(tx, query)? else { return Ok(0) };
    let (from, binds) = match query.conditions.is_searched() {
        true => gathered(tx, query)?,
        false => {
            Walk { query, begun: beginning(tx, query)?, projects: Projects::Joined }.by_project()
        }
    };
    let sql = format!("SELECT COUNT(*) AS id FROM {from}");
    Ok(ids(tx, &sql, &binds)?.first().copied().unwrap_or_default())
}

/// The query with how its words are looked for, and with what is better known of a project: labels and milestones by
/// their ids, which the databases plan better. None where nothing can be found.
fn sharpened(tx: &mut Tx<'_>, query: &Query) -> Result<Option<Query>> {
    let mut query = query.clone();
    let (kind, table) = (query.conditions.kind, query.conditions.table());
    let are_few = match &query.place {
        Place::Project(project) if !query.conditions.words.is_empty() => {
            most_in(tx, table, *project)? <= SCANNED
        }
        _ => false,
    };
    for words in &query.conditions.words {
        let looked_for = by_rarest(tx, table, words, are_few)?;
        query.conditions.plain.push(looked_for);
    }
    let project = match &query.place {
        Place::Projects(Readable { few: Some(few), .. }) if few.is_empty() => return Ok(None),
        Place::Project(project) => *project,
        Place::Projects(_) | Place::Groups(_) => return Ok(Some(query)),
    };
    for probe in &mut query.conditions.probes {
        if let Some(wanted) = &probe.milestones {
            let milestones = milestones_in(tx, project, wanted)?;
            match milestones.len() {
                0 => return Ok(None),
                LISTED.. => {}
                _ => *probe = Probe::of_milestones(table, &milestones),
            }
            continue;
        }
        let Some(label) = probe.label.clone() else { continue };
        let named = format!(
            "SELECT l.id FROM labels l WHERE l.name = $1 AND (l.project_id = {} OR l.namespace_id IS NOT NULL) LIMIT {LISTED}",
            value(project)
        );
        let labels = ids(tx, &named, &[Bind::Word(label)])?;
        match labels.len() {
            0 => return Ok(None),
            LISTED.. => {}
            _ => *probe = Probe::of_labels(kind, &labels),
        }
    }
    Ok(Some(query))
}

/// Which of the wanted milestones something in a project may be in.
fn milestones_in(tx: &mut Tx<'_>, project: ProjectId, wanted: &Part) -> Result<Vec<i64>> {
    let mut binds = Vec::new();
    let sql = format!(
        "SELECT m.id AS id FROM ({}) AS wanted CROSS JOIN milestones m WHERE m.id = wanted.id \
         AND (m.project_id = {} OR m.project_id IS NULL) LIMIT {LISTED}",
        wanted.render(&mut binds),
        value(project)
    );
    ids(tx, &sql, &binds)
}

/// A condition that a walk begins with.
struct Begun {
    position: usize,
    /// For how many it holds.
    found: i64,
    /// Whether so many are all that is wanted.
    is_all: bool,
}

/// The condition that holds for the fewest, where it holds for few.
fn beginning(tx: &mut Tx<'_>, query: &Query) -> Result<Option<Begun>> {
    let mut best: Option<Begun> = None;
    for (position, probe) in query.conditions.probes.iter().enumerate() {
        let mut binds = Vec::new();
        let set = probe.within(&query.place, &mut binds);
        let alone = query.conditions.probes.len() == 1;
        let is_all = alone && query.conditions.plain.is_empty() && !probe.repeats;
        let (found, is_all) = match &query.place {
            // With all conditions at once, nothing has to be counted again.
            Place::Project(project) if alone && !is_all && probe.project.is_some() => {
                (count_from(tx, query, position, *project)?, true)
            }
            _ => (count_up_to(tx, &format!("({set}) AS chosen"), &binds, FEW + 1)?, is_all),
        };
        if found <= FEW && best.as_ref().is_none_or(|best| found < best.found) {
            best = Some(Begun { position, found, is_all });
        }
    }
    Ok(best)
}

/// How many of a project are wanted, from what one condition holds for to the others; at most one more than are gathered.
fn count_from(tx: &mut Tx<'_>, query: &Query, position: usize, project: ProjectId) -> Result<i64> {
    let conditions = &query.conditions;
    let Some(probe) = conditions.probes.get(position) else { return Ok(0) };
    let mut binds = Vec::new();
    let set = probe.within(&query.place, &mut binds);
    let others = conditions.probes.iter().enumerate().filter(|(at, _)| *at != position);
    let others = others.map(|(_, probe)| &probe.check).chain(&conditions.plain);
    let others: Vec<String> =
        others.map(|part| format!(" AND {}", part.render(&mut binds))).collect();
    let from = format!(
        "(SELECT {}i.id FROM ({set}) AS chosen CROSS JOIN {} i \
         WHERE i.id = chosen.item_id AND i.project_id = {}{}) AS wanted",
        if probe.repeats { "DISTINCT " } else { "" },
        conditions.table(),
        value(project),
        others.concat(),
    );
    count_up_to(tx, &from, &binds, FEW + 1)
}

/// About how many items of a table a project has, and never fewer.
fn most_in(tx: &mut Tx<'_>, table: &str, project: ProjectId) -> Result<i64> {
    let sql = format!(
        "SELECT COALESCE(MAX(iid), 0) AS id FROM {table} WHERE project_id = {}",
        value(project)
    );
    Ok(ids(tx, &sql, &[])?.first().copied().unwrap_or_default())
}

pub(super) struct Walk<'a> {
    query: &'a Query,
    begun: Option<Begun>,
    projects: Projects,
}

/// How it is known whether the project of an item is among those that are looked in.
#[derive(Clone, Copy)]
pub(super) enum Projects {
    /// As the database thinks best.
    Joined,
    /// Asked for each item: joining is bad where PostgreSQL expects few items and there are many.
    AskedEach,
    /// All projects are gone through first, where these are few.
    ListedFirst,
}

impl<'a> Walk<'a> {
    /// From no condition in particular.
    pub(super) fn of(query: &'a Query) -> Self {
        Self { query, begun: None, projects: Projects::Joined }
    }

    /// As [`of`](Self::of), with the projects found in this way.
    pub(super) fn with_projects(query: &'a Query, projects: Projects) -> Self {
        Self { projects, ..Self::of(query) }
    }

    fn table(&self) -> &'static str {
        self.query.conditions.table()
    }

    /// How many are wanted, where that is so much of a project that walking it finds a page sooner than gathering all.
    fn common(&self, tx: &mut Tx<'_>, page: PageRequest) -> Result<Option<i64>> {
        let (Some(begun), Place::Project(project)) = (&self.begun, &self.query.place) else {
            return Ok(None);
        };
        let conditions = &self.query.conditions;
        let probe = conditions.probes.get(begun.position);
        if begun.found < MANY || probe.is_none_or(|probe| probe.project.is_none()) {
            return Ok(None);
        }
        let wanted = match begun.is_all {
            true => begun.found,
            false => count_from(tx, self.query, begun.position, *project)?,
        };
        let all = most_in(tx, self.table(), *project)?;
        let walked = (page.offset() + page.probe()).saturating_mul(all);
        Ok((wanted > 0 && walked < wanted.saturating_mul(begun.found)).then_some(wanted))
    }

    /// The conditions without where they look, and their values.
    fn wanted(&self) -> (Vec<String>, Vec<Bind>) {
        let (mut all, mut binds) = (Vec::new(), Vec::new());
        for (position, probe) in self.query.conditions.probes.iter().enumerate() {
            all.push(match &self.begun {
                Some(begun) if begun.position == position => {
                    format!("i.id IN ({})", probe.within(&self.query.place, &mut binds))
                }
                _ => probe.check.render(&mut binds),
            });
        }
        all.extend(self.query.conditions.plain.iter().map(|part| part.render(&mut binds)));
        (all, binds)
    }

    /// The conditions, with where they look as a question about each row.
    pub(super) fn all(&self) -> (Vec<String>, Vec<Bind>) {
        let (mut all, binds) = self.wanted();
        // With the plus, the index of projects is left alone.
        let plus = if self.begun.is_some() { "+" } else { "" };
        all.push(match &self.query.place {
            Place::Project(project) => format!("{plus}i.project_id = {}", value(project)),
            Place::Projects(Readable { few: Some(few), .. }) => {
                format!("{plus}i.project_id IN ({})", list_of(few))
            }
            Place::Projects(Readable { condition, few: None }) => {
                let fence = match self.projects {
                    // What is compared with a truth is not made a join.
                    Projects::ListedFirst => {
                        let listed = format!("SELECT p.id FROM projects p WHERE {condition}");
                        all.push(format!("(i.project_id IN ({listed})) IS TRUE"));
                        return (all, binds);
                    }
                    Projects::AskedEach => " LIMIT 1 OFFSET 0",
                    Projects::Joined => "",
                };
                format!(
                    "EXISTS (SELECT 1 FROM projects p WHERE p.id = i.project_id AND {condition}{fence})"
                )
            }
            Place::Groups(groups) => {
                let groups: Vec<i64> = groups.iter().map(|group| group.0).collect();
                format!("{plus}i.namespace_id IN ({})", list_of(&groups))
            }
        });
        (all, binds)
    }

    fn select(&self, tx: &mut Tx<'_>, sorting: Sorting, most: i64, skip: i64) -> Result<Vec<i64>> {
        if let (Order::Id, None, Place::Projects(readable)) =
            (sorting.by, &self.begun, &self.query.place)
        {
            return match &readable.few {
                Some(few) if most + skip <= MERGED => self.merged(tx, few, sorting, most, skip),
                Some(_) => self.plain(tx, sorting, most, skip, None),
                None => {
                    let near = self.near(sorting.direction, STRETCH);
                    let found = self.plain(tx, sorting, most, skip, Some(near))?;
                    // A page that is not full may go on beyond the stretch.
                    match i64::try_from(found.len()).unwrap_or(i64::MAX) < most {
                        true => self.plain(tx, sorting, most, skip, None),
                        false => Ok(found),
                    }
                }
            };
        }
        self.plain(tx, sorting, most, skip, None)
    }

    /// The newest ids, or the oldest.
    pub(super) fn near(&self, direction: Direction, stretch: i64) -> String {
        let table = self.table();
        match direction {
            Direction::Descending => {
                format!("i.id > (SELECT MAX(y.id) FROM {table} y) - {stretch}")
            }
            Direction::Ascending => {
                format!("i.id < (SELECT MIN(y.id) FROM {table} y) + {stretch}")
            }
        }
    }

    pub(super) fn plain(
        &self,
        tx: &mut Tx<'_>,
        sorting: Sorting,
        most: i64,
        skip: i64,
        further: Option<String>,
    ) -> Result<Vec<i64>> {
        let (mut all, binds) = self.all();
        all.extend(further);
        let sql = format!(
            "SELECT i.id AS id FROM {} i{} WHERE {} ORDER BY {} LIMIT {most} OFFSET {skip}",
            self.table(),
            sorting.join(),
            all.join(" AND "),
            sorting.sql(tx, self.query.conditions.kind),
        );
        ids(tx, &sql, &binds)
    }

    /// The first of each project, merged.
    fn merged(
        &self,
        tx: &mut Tx<'_>,
        projects: &[i64],
        sorting: Sorting,
        most: i64,
        skip: i64,
    ) -> Result<Vec<i64>> {
        let (all, binds) = self.wanted();
        let order = sorting.sql(tx, self.query.conditions.kind);
        let first = most + skip;
        let parts = projects.iter().map(|project| {
            let mut all = all.clone();
            all.push(format!("i.project_id = {}", value(project)));
            format!(
                "SELECT part.id FROM (SELECT i.id AS id FROM {} i WHERE {} ORDER BY {order} LIMIT {first}) AS part",
                self.table(),
                all.join(" AND "),
            )
        });
        let parts = parts.collect::<Vec<_>>().join(" UNION ALL ");
        let sql = format!(
            "SELECT i.id AS id FROM ({parts}) AS i ORDER BY {order} LIMIT {most} OFFSET {skip}"
        );
        ids(tx, &sql, &binds)
    }

    /// `FROM` and `WHERE` for a walk in no order, from projects to what is in them.
    fn by_project(&self) -> (String, Vec<Bind>) {
        if let (None, Place::Projects(Readable { condition, few: None })) =
            (&self.begun, &self.query.place)
        {
            let (mut all, binds) = self.wanted();
            all.insert(0, format!("{condition} AND i.project_id = p.id"));
            let from = format!("projects p CROSS JOIN {} i", self.table());
            return (format!("{from} WHERE {}", all.join(" AND ")), binds);
        }
        let (all, binds) = self.all();
        (format!("{} i WHERE {}", self.table(), all.join(" AND ")), binds)
    }

    fn count(&self, tx: &mut Tx<'_>) -> Result<i64> {
        let (from, binds) = self.by_project();
        count_up_to(tx, &from, &binds, COUNT_LIMIT + 1)
    }
}
