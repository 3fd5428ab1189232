//! Lists of projects: which ones, in which order, one page at a time.
//!
//! The conditions are written as SQL, since finding a page among a hundred thousand projects in time depends on which
//! index is walked. First the ids of the page are found, then its rows.

use std::collections::HashMap;

use db::{Conn, Tx, each_backend, error, rare::rarest, schema::projects};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Actor, Result, Ts, Visibility,
    ids::{NamespaceId, ProjectId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
    words::{Wanted, understand},
};

use super::{
    Project, STORAGE,
    in_group::{self, GroupScope},
    search::{likeness, question, together},
};
use crate::{
    custom_attribute::{self, CustomAttribute},
    listing::{self, Bind, ids},
    namespace::{networks, seen},
    search::containing as containing_text,
};

kernel::text_enum! {
    /// What a list is ordered by; the id decides between equals.
    pub enum OrderBy {
        Id = "id", Name = "name", Path = "path", CreatedAt = "created_at", UpdatedAt = "updated_at",
        LastActivityAt = "last_activity_at", Similarity = "similarity", StarCount = "star_count",
        RepositorySize = "repository_size", StorageSize = "storage_size", PackagesSize = "packages_size",
        WikiSize = "wiki_size",
    }
}
kernel::text_enum! { pub enum Sort { Ascending = "asc", Descending = "desc" } }

/// Among which projects is looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Among {
    #[default]
    All,
    Nothing,
    /// Directly in a namespace.
    Namespace(NamespaceId),
    Group(GroupScope),
    StarredBy(UserId),
    ForksOf(ProjectId),
    These(Vec<ProjectId>),
}

/// Which projects are wanted.
#[derive(Clone, Debug, Default)]
pub struct ProjectFilter {
    pub among: Among,
    pub archived: Option<bool>,
    pub visibility: Option<Visibility>,
    pub search: Option<String>,
    pub search_namespaces: bool,
    pub owned: bool,
    pub starred: bool,
    pub imported: bool,
    pub membership: bool,
    pub with_issues: bool,
    pub with_merge_requests: bool,
    pub language: Option<String>,
    pub min_access_level: Option<AccessLevel>,
    pub id_after: Option<i64>,
    pub id_before: Option<i64>,
    pub last_activity_after: Option<Ts>,
    pub last_activity_before: Option<Ts>,
    pub updated_after: Option<Ts>,
    pub updated_before: Option<Ts>,
    pub topics: Vec<String>,
    pub topic_id: Option<i64>,
    pub repository_storage: Option<String>,
    /// What administrators noted of them; all of these.
    pub attributes: Vec<CustomAttribute>,
    /// Only those in which a job of the pipeline told of security findings.
    pub with_security_reports: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Order {
    pub by: OrderBy,
    pub sort: Sort,
}

/// Ordering by likeness looks at so many of the newest matches.
const COMPARED: i64 = 1000;

/// Conditions, and the values that they speak of.
#[derive(Clone, Debug, Default)]
struct Conditions {
    sql: Vec<String>,
    binds: Vec<Bind>,
    /// What SQLite's index of texts is asked: it is walked in an order of its own.
    indexed: Option<Indexed>,
    /// How many rows fulfil the first so many conditions, where that had to be found out.
    counted: Option<(usize, i64)>,
    /// Whether the matches are put in order, instead of looked for in a walk through all projects.
    gathered: bool,
}

/// A question to the index of texts, and the same as a condition on each row.
#[derive(Clone, Debug)]
struct Indexed {
    question: String,
    words: Vec<String>,
    columns: [&'static str; 3],
}

impl Conditions {
    /// Adds a condition in which `{}` stands for the value.
    fn with(&mut self, condition: &str, value: Bind) {
        self.binds.push(value);
        let place = format!("${}", self.binds.len());
        self.sql.push(condition.replace("{}", &place));
    }

    fn number(&mut self, condition: &str, value: i64) {
        self.with(condition, Bind::Number(value));
    }

    fn word(&mut self, condition: &str, value: impl Into<String>) {
        self.with(condition, Bind::Word(value.into()));
    }

    fn plain(&mut self, condition: &str) {
        self.sql.push(condition.to_owned());
    }

    /// `FROM` and `WHERE` for a walk by id.
    fn by_id(&self) -> (String, Vec<Bind>) {
        match &self.indexed {
            None => self.plain_walk(),
            Some(indexed) => {
                let mut all = self.clone();
                all.word("projects_search MATCH {}", indexed.question.clone());
                // In this order and no other: the index of texts gives its rows by id.
                let from = "projects_search CROSS JOIN projects p ON p.id = projects_search.rowid";
                (format!("{from} WHERE {}", all.sql.join(" AND ")), all.binds)
            }
        }
    }

    /// `FROM` and `WHERE` for a walk in another order, to which the few that match are brought.
    fn few_matches(&self, join: &str) -> (String, Vec<Bind>) {
        let mut all = self.clone();
        if let Some(indexed) = &self.indexed {
            let matching =
                "p.id IN (SELECT rowid FROM projects_search WHERE projects_search MATCH {})";
            all.word(matching, indexed.question.clone());
        }
        (format!("projects p{join} WHERE {}", all.sql.join(" AND ")), all.binds)
    }

    /// As [`few_matches`](Self::few_matches), where looking at each row in turn soon finds enough.
    fn many_matches(&self, join: &str) -> (String, Vec<Bind>) {
        let mut all = self.clone();
        if let Some(indexed) = &self.indexed {
            all.contains(indexed);
        }
        (format!("projects p{join} WHERE {}", all.sql.join(" AND ")), all.binds)
    }

    fn plain_walk(&self) -> (String, Vec<Bind>) {
        (format!("projects p WHERE {}", self.sql.join(" AND ")), self.binds.clone())
    }

    fn contains(&mut self, indexed: &Indexed) {
        let first = self.binds.len() + 1;
        let last = first + indexed.words.len();
        // SQLite compares ASCII without regard to case by itself, and much faster than our function.
        let ascii = indexed.words.iter().all(|word| word.is_ascii());
        self.binds.extend(indexed.words.iter().map(|word| Bind::Word(containing_text(word))));
        let each = indexed.columns.map(|column| {
            let text = if ascii { format!("p.{column}") } else { format!("lower(p.{column})") };
            let words = (first..last).map(|place| format!("{text} LIKE ${place} ESCAPE '\\'"));
            format!("({})", words.collect::<Vec<_>>().join(" AND "))
        });
        self.plain(&format!("({})", each.join(" OR ")));
    }
}

pub trait ProjectLists {
    /// One page of the projects that the actor may see.
    fn projects(
        &mut self,
        actor: Actor,
        filter: &ProjectFilter,
        order: Order,
        page: PageRequest,
    ) -> Result<Page<Project>>;
    /// The first so many, uncounted: for lists that go on after their last id.
    fn first_projects(
        &mut self,
        actor: Actor,
        filter: &ProjectFilter,
        order: Order,
        most: i64,
    ) -> Result<Vec<Project>>;
    /// Rows in the order of their ids here; what is gone is left out.
    fn projects_in_order(&mut self, ids: &[i64]) -> Result<Vec<Project>>;
}

impl ProjectLists for Tx<'_> {
    fn projects(
        &mut self,
        actor: Actor,
        filter: &ProjectFilter,
        order: Order,
        page: PageRequest,
    ) -> Result<Page<Project>> {
        let conditions = conditions(self, actor, filter)?;
        if let (OrderBy::Similarity, Some(search)) = (order.by, &filter.search) {
            return by_likeness(self, &conditions, search, order.sort, page);
        }
        let found = page_of_ids(self, &conditions, order, page)?;
        let items = self.projects_in_order(&found.items)?;
        Ok(Page { items, total: found.total })
    }

    fn first_projects(
        &mut self,
        actor: Actor,
        filter: &ProjectFilter,
        order: Order,
        most: i64,
    ) -> Result<Vec<Project>> {
        let conditions = conditions(self, actor, filter)?;
        let found = select(self, &conditions, order, most, 0)?;
        self.projects_in_order(&found)
    }

    fn projects_in_order(&mut self, ids: &[i64]) -> Result<Vec<Project>> {
        let rows: Vec<Project> = each_backend!(self, |conn| projects::table
            .filter(projects::id.eq_any(ids))
            .select(Project::as_select())
            .load(conn)
            .map_err(error("Project")))?;
        let mut rows: HashMap<i64, Project> =
            rows.into_iter().map(|project| (project.id.0, project)).collect();
        Ok(ids.iter().filter_map(|id| rows.remove(id)).collect())
    }
}

/// More matches of a search than this are not gathered before they are put in order.
const FEW: i64 = 2000;

/// The ids of some projects, in their order.
fn select(
    tx: &mut Tx<'_>,
    conditions: &Conditions,
    order: Order,
    most: i64,
    skip: i64,
) -> Result<Vec<i64>> {
    let (join, by) = ordering(order);
    let (from, binds) = if by.starts_with("p.id ") {
        conditions.by_id()
    } else if matches_many(tx, conditions)? {
        conditions.many_matches(join)
    } else {
        conditions.few_matches(join)
    };
    let by = match conditions.indexed {
        Some(_) => by.replace("p.id", "projects_search.rowid"),
        None => by,
    };
    let by = if from.starts_with("projects_search") {
        by
    } else {
        by.replace("projects_search.rowid", "p.id")
    };
    // PostgreSQL takes an index of numbers for an order by the number, but not for one by a sum.
    let by = match (&tx.conn, conditions.gathered) {
        (Conn::Postgres(_), true) => by.replace("p.id ", "p.id + 0 "),
        _ => by,
    };
    ids(
        tx,
        &format!("SELECT p.id AS id FROM {from} ORDER BY {by} LIMIT {most} OFFSET {skip}"),
        &binds,
    )
}

fn matches_many(tx: &mut Tx<'_>, conditions: &Conditions) -> Result<bool> {
    let Some(indexed) = &conditions.indexed else { return Ok(false) };
    let sql = format!(
        "SELECT rowid AS id FROM projects_search WHERE projects_search MATCH $1 LIMIT 1 OFFSET {FEW}"
    );
    Ok(!ids(tx, &sql, &[Bind::Word(indexed.question.clone())])?.is_empty())
}

/// What to join for an order, and the order.
fn ordering(order: Order) -> (&'static str, String) {
    let direction = match order.sort {
        Sort::Ascending => "ASC",
        Sort::Descending => "DESC",
    };
    let column = match order.by {
        // Ids are given in the order in which projects are made.
        OrderBy::Id | OrderBy::CreatedAt | OrderBy::Similarity => {
            return ("", format!("p.id {direction}"));
        }
        OrderBy::PackagesSize => return ("", format!("p.id {direction}")),
        OrderBy::RepositorySize | OrderBy::WikiSize | OrderBy::StorageSize => {
            let join = " JOIN project_statistics s ON s.project_id = p.id";
            let bytes = match order.by {
                OrderBy::WikiSize => "s.wiki_size",
                OrderBy::StorageSize => {
                    "s.repository_size + s.wiki_size + s.lfs_objects_size + s.uploads_size"
                }
                _ => "s.repository_size",
            };
            return (join, format!("{bytes} {direction}, p.id {direction}"));
        }
        OrderBy::Name => "name",
        OrderBy::Path => "path",
        OrderBy::UpdatedAt => "updated_at",
        OrderBy::LastActivityAt => "last_activity_at",
        OrderBy::StarCount => "star_count",
    };
    ("", format!("p.{column} {direction}, p.id {direction}"))
}

fn page_of_ids(
    tx: &mut Tx<'_>,
    conditions: &Conditions,
    order: Order,
    page: PageRequest,
) -> Result<Page<i64>> {
    let found = page.uncounted(select(tx, conditions, order, page.probe(), page.offset())?);
    let Total::Uncounted { more } = found.total else { return Ok(found) };
    let listed = i64::try_from(found.items.len()).unwrap_or(i64::MAX);
    // The last page tells the length by itself.
    if !more && (listed > 0 || page.page == 1) {
        return Ok(Page { total: Total::Counted(page.offset() + listed), ..found });
    }
    let total = match conditions.counted {
        Some((those, total)) if those == conditions.sql.len() && conditions.indexed.is_none() => {
            total
        }
        _ => {
            let (from, binds) = conditions.by_id();
            listing::count(tx, &from, &binds)?
        }
    };
    let total = match total {
        total if total > COUNT_LIMIT => Total::Uncounted { more },
        total => Total::Counted(total),
    };
    Ok(Page { total, ..found })
}

/// The same measure on both databases, so it is taken here.
fn by_likeness(
    tx: &mut Tx<'_>,
    conditions: &Conditions,
    search: &str,
    sort: Sort,
    page: PageRequest,
) -> Result<Page<Project>> {
    let newest = Order { by: OrderBy::Id, sort: Sort::Descending };
    let found = select(tx, conditions, newest, COMPARED, 0)?;
    let mut rows = tx.projects_in_order(&found)?;
    rows.sort_by_cached_key(|project| {
        let description = project.description.as_deref().unwrap_or_default();
        let alike = likeness(&project.path, search) * 10
            + likeness(&project.name, search) * 7
            + likeness(description, search) * 2;
        std::cmp::Reverse((alike, project.id))
    });
    if sort == Sort::Ascending {
        rows.reverse();
    }
    Ok(page.slice(rows))
}

fn conditions(tx: &mut Tx<'_>, actor: Actor, filter: &ProjectFilter) -> Result<Conditions> {
    let mut all = Conditions::default();
    all.plain("p.deleted_at IS NULL");
    let open = match &filter.among {
        Among::Group(scope) if needed_level(filter).is_none() => {
            in_group::is_all_visible(tx, actor, scope)?
        }
        _ => false,
    };
    if !open {
        visible(tx, &mut all, actor, filter)?;
    }
    among(tx, &mut all, filter)?;
    within_reach(tx, &mut all, actor)?;
    about_the_caller(&mut all, actor, filter, tx.now);
    about_the_project(&mut all, filter);
    if let Some(search) = filter.search.as_deref().filter(|search| !search.trim().is_empty()) {
        containing(tx, &mut all, search, filter.search_namespaces)?;
    }
    Ok(all)
}

/// The roles that the caller must have; none where seeing suffices.
fn needed_level(filter: &ProjectFilter) -> Option<AccessLevel> {
    let owned = filter.owned.then_some(AccessLevel::Owner);
    let member = filter.membership.then_some(AccessLevel::Guest);
    [owned, filter.min_access_level, member].into_iter().flatten().max()
}

/// So many memberships are gathered; of more, each project is asked for.
const GATHERED: i64 = 1000;

/// The projects in which somebody has at least a role, as a condition.
fn reached(tx: &mut Tx<'_>, all: &mut Conditions, user: UserId, level: AccessLevel) -> Result<()> {
    let reached = seen::reached(tx.now, level);
    let sql = format!(
        "SELECT a.project_id AS id FROM project_access a WHERE a.user_id = $1 LIMIT 1 OFFSET {GATHERED}"
    );
    let many = !ids(tx, &sql, &[Bind::Number(user.0)])?.is_empty();
    let mine = format!("project_access a WHERE a.user_id = {{}} AND {reached}");
    let condition = match many {
        true => format!("EXISTS (SELECT 1 FROM {mine} AND a.project_id = p.id)"),
        false => format!("p.id IN (SELECT a.project_id FROM {mine})"),
    };
    all.number(&condition, user.0);
    Ok(())
}

fn visible(
    tx: &mut Tx<'_>,
    all: &mut Conditions,
    actor: Actor,
    filter: &ProjectFilter,
) -> Result<()> {
    match (actor.id, needed_level(filter)) {
        (None, Some(_)) => all.plain("1 = 0"),
        (None, None) => all.plain("p.visibility = 'public'"),
        (Some(user), Some(level)) => reached(tx, all, user, level)?,
        (Some(_), None) if actor.admin => {}
        // Private ones are seen by members only.
        (Some(user), None) if filter.visibility == Some(Visibility::Private) => {
            reached(tx, all, user, AccessLevel::Minimal)?;
        }
        (Some(user), None) => {
            let open = match actor.external {
                true => "p.visibility = 'public'",
                false => "p.visibility <> 'private'",
            };
            let reached = seen::reached(tx.now, AccessLevel::Minimal);
            let access = format!(
                "SELECT 1 FROM project_access a WHERE a.user_id = {{}} AND a.project_id = p.id AND {reached}"
            );
            all.number(&format!("({open} OR EXISTS ({access}))"), user.0);
        }
    }
    Ok(())
}

/// Leaves out what is in groups that the caller's network does not reach.
fn within_reach(tx: &mut Tx<'_>, all: &mut Conditions, actor: Actor) -> Result<()> {
    for ranges in networks::closed_to(tx, actor)? {
        all.word(
            "p.namespace_id NOT IN (SELECT n.id FROM namespaces n WHERE n.ip_ranges = {})",
            ranges,
        );
    }
    Ok(())
}

fn among(tx: &mut Tx<'_>, all: &mut Conditions, filter: &ProjectFilter) -> Result<()> {
    match filter.among {
        Among::All => {}
        Among::Nothing => all.plain("1 = 0"),
        Among::StarredBy(user) => all.number(
            "p.id IN (SELECT s.project_id FROM project_stars s WHERE s.user_id = {})",
            user.0,
        ),
        Among::ForksOf(source) => all.number("p.forked_from_id = {}", source.0),
        Among::These(ref ids) if ids.is_empty() => all.plain("1 = 0"),
        Among::These(ref ids) => {
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            all.plain(&format!("p.id IN ({})", ids.join(", ")));
        }
        Among::Namespace(id) => all.number("p.namespace_id = {}", id.0),
        Among::Group(ref scope) => {
            let within = in_group::condition(tx, scope)?;
            let mut sql = within.sql;
            for word in within.words {
                all.binds.push(Bind::Word(word));
                sql = sql.replacen("{}", &format!("${}", all.binds.len()), 1);
            }
            all.plain(&sql);
            all.gathered = within.gathered;
            // Nothing but that, and that they are there.
            all.counted = within.total.filter(|_| all.sql.len() == 2).map(|total| (2, total));
        }
    }
    Ok(())
}

fn about_the_caller(all: &mut Conditions, actor: Actor, filter: &ProjectFilter, now: Ts) {
    if filter.starred {
        let mine = "p.id IN (SELECT s.project_id FROM project_stars s WHERE s.user_id = {})";
        all.number(mine, actor.id.map_or(0, |user| user.0));
    }
    for (wanted, column) in [
        (filter.with_issues, "issues_access"),
        (filter.with_merge_requests, "merge_requests_access"),
    ] {
        if wanted && actor.admin {
            all.plain(&format!("p.{column} <> 'disabled'"));
        } else if wanted {
            let reached = seen::reached(now, AccessLevel::Minimal);
            let member = format!(
                "SELECT 1 FROM project_access a WHERE a.user_id = {{}} AND a.project_id = p.id AND {reached}"
            );
            all.number(
                &format!("(p.{column} IN ('enabled', 'public') OR (p.{column} = 'private' AND EXISTS ({member})))"),
                actor.id.map_or(0, |user| user.0),
            );
        }
    }
}

fn about_the_project(all: &mut Conditions, filter: &ProjectFilter) {
    match filter.archived {
        Some(true) => all.plain("p.archived"),
        Some(false) => all.plain("NOT p.archived"),
        None => {}
    }
    if let Some(visibility) = filter.visibility {
        all.word("p.visibility = {}", visibility.to_string());
    }
    let bounds = [
        ("p.id > {}", filter.id_after),
        ("p.id < {}", filter.id_before),
        ("p.last_activity_at > {}", filter.last_activity_after.map(|at| at.0)),
        ("p.last_activity_at < {}", filter.last_activity_before.map(|at| at.0)),
        ("p.updated_at > {}", filter.updated_after.map(|at| at.0)),
        ("p.updated_at < {}", filter.updated_before.map(|at| at.0)),
    ];
    for (condition, bound) in bounds {
        if let Some(bound) = bound {
            all.number(condition, bound);
        }
    }
    if let Some(language) = &filter.language {
        all.word(
            "p.id IN (SELECT l.project_id FROM project_languages l WHERE l.name = {})",
            language.clone(),
        );
    }
    for topic in &filter.topics {
        all.word(
            "p.id IN (SELECT t.project_id FROM project_topics t JOIN topics n ON n.id = t.topic_id WHERE n.name = {})",
            topic.clone(),
        );
    }
    if let Some(topic) = filter.topic_id {
        all.number(
            "p.id IN (SELECT t.project_id FROM project_topics t WHERE t.topic_id = {})",
            topic,
        );
    }
    having(all, &filter.attributes);
    // No job has told of any so far, and a project that comes from elsewhere is refused.
    if filter.with_security_reports || filter.imported {
        all.plain("1 = 0");
    }
    if filter.repository_storage.as_deref().is_some_and(|storage| storage != STORAGE) {
        all.plain("1 = 0");
    }
}

fn having(all: &mut Conditions, attributes: &[CustomAttribute]) {
    for wanted in attributes {
        all.binds.push(Bind::Word(wanted.key.clone()));
        all.binds.push(Bind::Word(wanted.value.clone()));
        let (key, value) = (all.binds.len() - 1, all.binds.len());
        all.plain(&custom_attribute::filter::condition("p.id", "project_id", key, value));
    }
}

/// All words are in one of the columns. Each database has an index for that, and a language to ask it.
fn containing(tx: &mut Tx<'_>, all: &mut Conditions, search: &str, namespaces: bool) -> Result<()> {
    let on_sqlite = matches!(tx.conn, Conn::Sqlite(_));
    let columns = match namespaces {
        true => ["full_path", "full_name", "description"],
        false => ["path", "name", "description"],
    };
    match understand(search) {
        // SQLite compares ASCII without regard to case by itself, and much faster than our function.
        Wanted::Exactly(text) if on_sqlite && text.is_ascii() => {
            let pattern = containing_text(&text);
            all.binds.push(Bind::Word(pattern[1..pattern.len() - 1].to_owned()));
            let place = all.binds.len();
            let same = columns.map(|column| format!("p.{column} LIKE ${place} ESCAPE '\\'"));
            all.plain(&format!("({})", same.join(" OR ")));
        }
        Wanted::Exactly(text) => {
            all.binds.push(Bind::Word(text));
            let place = all.binds.len();
            let same = columns.map(|column| format!("lower(p.{column}) = ${place}"));
            all.plain(&format!("({})", same.join(" OR ")));
        }
        Wanted::Words(words) if on_sqlite => {
            all.indexed = Some(Indexed { question: question(&words, &columns), words, columns });
        }
        Wanted::Words(words) => {
            let first = all.binds.len() + 1;
            all.binds.extend(words.iter().map(|word| Bind::Word(containing_text(word))));
            for word in &words {
                // One look into an index instead of three, by the rarest part of the word; then each column by itself.
                let part = rarest(tx, "projects", columns[0], word)?
                    .map_or(word.as_str(), |part| part.text);
                all.binds.push(Bind::Word(containing_text(part)));
                all.plain(&format!("{} ILIKE ${}", together(columns), all.binds.len()));
            }
            let each = columns.map(|column| {
                let text = format!("p.{column} COLLATE \"default\"");
                let words =
                    (first..first + words.len()).map(|place| format!("{text} ILIKE ${place}"));
                format!("({})", words.collect::<Vec<_>>().join(" AND "))
            });
            all.plain(&format!("({})", each.join(" OR ")));
        }
    }
    Ok(())
}
