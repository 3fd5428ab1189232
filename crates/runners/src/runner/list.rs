//! Lists of runners.

use std::collections::HashMap;

use db::{
    Tx,
    keyset::{ListOrder, ListWindow, RowPosition},
    listing::{self, Bind, Conditions, Selection, list_of, page_of_ids},
};
use kernel::{
    Result, TextEnum as _,
    ids::{NamespaceId, ProjectId, RunnerId},
    like,
    page::{Page, PageRequest},
};

use super::{
    Runner, RunnerStore as _, RunnerToken, RunnerType,
    rules::{ONLINE, STALE},
};

kernel::text_enum! {
    /// Runner status to filter by. They overlap: a stale runner is also offline.
    pub enum StatusFilter {
        Active = "active",
        Paused = "paused",
        Online = "online",
        Offline = "offline",
        NeverContacted = "never_contacted",
        Stale = "stale",
    }
}

kernel::text_enum! {
    /// By what runners are ordered.
    pub enum RunnerOrder { CreatedAt = "created_at", ContactedAt = "contacted_at" }
}

/// Which runners are wanted, and in which order; all that is said must fit.
#[derive(Clone, Debug)]
pub struct RunnerFilter {
    pub runner_type: Option<RunnerType>,
    pub statuses: Vec<StatusFilter>,
    pub paused: Option<bool>,
    /// All of these.
    pub tags: Vec<String>,
    /// A part of the description in any letter case, the beginning of what is shown of the token, or the whole
    /// token.
    pub search: Option<String>,
    pub order: RunnerOrder,
    pub descending: bool,
    /// The part of the list that is read.
    pub window: ListWindow,
}

/// All of them, the newest first.
impl Default for RunnerFilter {
    fn default() -> Self {
        Self {
            runner_type: None,
            statuses: Vec::new(),
            paused: None,
            tags: Vec::new(),
            search: None,
            order: RunnerOrder::CreatedAt,
            descending: true,
            window: ListWindow::default(),
        }
    }
}

/// The projects or groups whose runners to list.
#[derive(Clone, Debug, Default)]
pub struct RunnerScope {
    pub projects: Vec<ProjectId>,
    pub groups: Vec<NamespaceId>,
    pub instance: bool,
}

impl RunnerScope {
    fn condition(&self) -> String {
        let projects: Vec<i64> = self.projects.iter().map(|id| id.0).collect();
        let groups: Vec<i64> = self.groups.iter().map(|id| id.0).collect();
        let instance = if self.instance { " OR r.runner_type = 'instance_type'" } else { "" };
        format!(
            "(r.id IN (SELECT runner_id FROM runner_projects WHERE project_id IN ({})) OR r.group_id IN ({}){instance})",
            list_of(&projects),
            list_of(&groups)
        )
    }
}

impl RunnerFilter {
    fn sorting(&self) -> ListOrder {
        match self.order {
            RunnerOrder::CreatedAt => ListOrder::of_ids("r.id", self.descending),
            // Who never called comes last, in either direction.
            RunnerOrder::ContactedAt => {
                ListOrder::of_optional("r.contacted_at", self.descending, "r.id")
            }
        }
    }

    /// The place of a runner in such a list.
    pub fn position(&self, row: &Runner) -> RowPosition {
        let value = match self.order {
            RunnerOrder::CreatedAt => None,
            RunnerOrder::ContactedAt => row.contacted_at.map(|at| at.0),
        };
        RowPosition::of_number(value, row.id.0)
    }

    fn conditions(&self, tx: &Tx<'_>) -> Conditions {
        let now = tx.now;
        let mut all = Conditions::default();
        all.plain("1 = 1");
        if let Some(runner_type) = self.runner_type {
            all.word("r.runner_type = {}", runner_type.as_str());
        }
        if let Some(paused) = self.paused {
            all.plain(if paused { "r.active = FALSE" } else { "r.active = TRUE" });
        }
        for status in &self.statuses {
            match status {
                StatusFilter::Active => all.plain("r.active = TRUE"),
                StatusFilter::Paused => all.plain("r.active = FALSE"),
                StatusFilter::Online => {
                    all.number("r.contacted_at > {}", now.plus(-ONLINE).0);
                }
                StatusFilter::Offline => {
                    all.number("r.contacted_at <= {}", now.plus(-ONLINE).0);
                }
                StatusFilter::NeverContacted => all.plain("r.contacted_at IS NULL"),
                StatusFilter::Stale => {
                    let before = now.plus(-STALE).0;
                    all.number("r.created_at <= {}", before);
                    all.number("(r.contacted_at IS NULL OR r.contacted_at <= {})", before);
                }
            }
        }
        if let Some(search) = self.search.as_deref().filter(|search| !search.is_empty()) {
            let found = search_condition(tx, &mut all, search);
            all.plain(found);
        }
        for tag in &self.tags {
            let quoted = serde_json::to_string(tag).unwrap_or_default();
            // `LIKE` would not tell capitals apart on SQLite.
            let place = all.bind(Bind::Word(quoted));
            all.plain(format!("REPLACE(r.tags, {place}, '') <> r.tags"));
        }
        all
    }
}

/// Tokens are kept as digests: beside the whole one, only what is shown of it can be looked for.
fn search_condition(tx: &Tx<'_>, all: &mut Conditions, search: &str) -> String {
    let part = all.bind(Bind::Word(like::containing(search)));
    let whole = all.bind(Bind::Word(RunnerToken::given(search).digest()));
    let folded = tx.folded("r.description");
    let text = format!("{folded} LIKE {part} ESCAPE '\\' OR r.token_digest = {whole}");
    let shown = search.strip_prefix(RunnerToken::PREFIX).unwrap_or(search);
    match shown.chars().count() {
        0 => format!("({text})"),
        length => {
            let begin = all.bind(Bind::Word(shown.to_owned()));
            format!("({text} OR SUBSTR(r.short_token, 1, {length}) = {begin})")
        }
    }
}

pub trait RunnerListStore {
    /// A page; `None` for those of everybody.
    fn runners(
        &mut self,
        places: Option<&RunnerScope>,
        filter: &RunnerFilter,
        page: PageRequest,
    ) -> Result<Page<Runner>>;
}

impl RunnerListStore for Tx<'_> {
    fn runners(
        &mut self,
        places: Option<&RunnerScope>,
        filter: &RunnerFilter,
        page: PageRequest,
    ) -> Result<Page<Runner>> {
        let mut conditions = filter.conditions(self);
        if let Some(places) = places {
            conditions.plain(places.condition());
        }
        let order = filter.sorting();
        order.narrow(&mut conditions, &filter.window);
        let from = format!("runners r WHERE {}", conditions.text());
        let binds = conditions.binds.clone();
        let selection = Selection {
            id: "r.id",
            from: from.clone(),
            binds: binds.clone(),
            order: order.sql(&filter.window),
        };
        let found = page_of_ids(self, &selection, page, |tx| listing::count(tx, &from, &binds))?;
        found.try_map_all(|ids| {
            let ids: Vec<RunnerId> = ids.into_iter().map(RunnerId).collect();
            let found = self.runners_by_id(&ids)?;
            let mut by_id: HashMap<RunnerId, Runner> =
                found.into_iter().map(|runner| (runner.id, runner)).collect();
            Ok(ids.iter().filter_map(|id| by_id.remove(id)).collect())
        })
    }
}
