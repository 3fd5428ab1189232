//! Filters of lists of pipelines, and their conditions in SQL.

use std::collections::BTreeSet;

use db::{
    Conn, Tx,
    listing::{self, Bind, Conditions, list_of},
};
use kernel::{
    Error, Result, Ts,
    ids::{PipelineId, ProjectId, UserId},
};

use crate::{
    Status,
    pipeline::{Pipeline, Source},
};

/// Without the children of other pipelines, which are listed only where they are asked for.
pub(crate) const OWN: &str = "source <> 'parent_pipeline'";

/// The id of no pipeline.
const NO_PIPELINE: i64 = 0;

kernel::text_enum! {
    pub enum PipelineOrder {
        Id = "id",
        Status = "status",
        Ref = "ref",
        UpdatedAt = "updated_at",
        UserId = "user_id",
    }
}

/// Of each of these branches or tags only the newest.
#[derive(Clone, Debug)]
pub struct NewestOfRefs {
    pub tags: bool,
    pub names: Vec<String>,
}

/// Which pipelines of a project are wanted, and in which order.
#[derive(Clone, Debug)]
pub struct PipelineFilter {
    /// Any of these; empty for all.
    pub statuses: Vec<Status>,
    pub source: Option<Source>,
    pub ref_name: Option<String>,
    pub sha: Option<String>,
    pub newest: Option<NewestOfRefs>,
    /// Those whose configuration cannot be read, or those alone for which it can.
    pub yaml_errors: Option<bool>,
    /// By one of these people.
    pub users: Option<Vec<UserId>>,
    /// Those alone that have this name.
    pub name: Option<String>,
    /// Until the [end of it](Ts::end_of_shown).
    pub created_before: Option<Ts>,
    pub created_after: Option<Ts>,
    /// Until the [end of it](Ts::end_of_shown).
    pub updated_before: Option<Ts>,
    pub updated_after: Option<Ts>,
    /// Only older ones than this.
    pub id_before: Option<PipelineId>,
    /// Only younger ones than this.
    pub id_after: Option<PipelineId>,
    pub order: PipelineOrder,
    pub descending: bool,
}

/// All of them, the newest first.
impl Default for PipelineFilter {
    fn default() -> Self {
        Self {
            statuses: Vec::new(),
            source: None,
            ref_name: None,
            sha: None,
            newest: None,
            yaml_errors: None,
            users: None,
            name: None,
            created_before: None,
            created_after: None,
            updated_before: None,
            updated_after: None,
            id_before: None,
            id_after: None,
            order: PipelineOrder::Id,
            descending: true,
        }
    }
}

/// What a page is taken from where the order is walked. By the time of the last change SQLite would look in that column's
/// index and put all that it finds in order: the sign makes it an expression, which no index has.
pub(super) fn walk(from: &str, order: PipelineOrder) -> String {
    match order {
        PipelineOrder::UpdatedAt => from.to_owned(),
        PipelineOrder::Id | PipelineOrder::Status | PipelineOrder::Ref | PipelineOrder::UserId => {
            from.replace("updated_at", "+updated_at")
        }
    }
}

pub(super) fn column_of(order: PipelineOrder) -> &'static str {
    match order {
        PipelineOrder::Id => "id",
        PipelineOrder::Status => "status",
        PipelineOrder::Ref => "ref_name",
        PipelineOrder::UpdatedAt => "updated_at",
        PipelineOrder::UserId => "user_id",
    }
}

impl PipelineFilter {
    /// Whether a pipeline that was read already is one of those that are wanted; which is the newest of its ref, the list
    /// of all knows alone.
    fn fits(&self, pipeline: &Pipeline) -> bool {
        let is =
            |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|one| one == value);
        (self.statuses.is_empty() || self.statuses.contains(&pipeline.status))
            && self.source.is_none_or(|source| source == pipeline.source)
            && is(&self.ref_name, &pipeline.ref_name)
            && is(&self.sha, &pipeline.sha)
            && self.yaml_errors.is_none_or(|with| with == pipeline.yaml_errors.is_some())
            && (self.users.as_ref())
                .is_none_or(|users| pipeline.user_id.is_some_and(|user| users.contains(&user)))
            && (self.name.as_ref()).is_none_or(|name| pipeline.name.as_ref() == Some(name))
            && (self.created_before.map(Ts::end_of_shown))
                .is_none_or(|before| pipeline.created_at <= before)
            && self.created_after.is_none_or(|after| pipeline.created_at >= after)
            && (self.updated_before.map(Ts::end_of_shown))
                .is_none_or(|before| pipeline.updated_at <= before)
            && self.updated_after.is_none_or(|after| pipeline.updated_at >= after)
    }

    /// Those of a list in memory that are wanted, in its order.
    pub fn choose(&self, all: Vec<Pipeline>) -> Vec<Pipeline> {
        let mut chosen: Vec<Pipeline> = all.into_iter().filter(|one| self.fits(one)).collect();
        if let Some(newest) = &self.newest {
            let mut seen = BTreeSet::new();
            chosen.retain(|one| {
                one.tag == newest.tags
                    && newest.names.contains(&one.ref_name)
                    && seen.insert(one.ref_name.clone())
            });
        }
        chosen
    }

    /// The order without columns that have one value in the whole list.
    pub(super) fn order(&self) -> PipelineOrder {
        let is_fixed = match self.order {
            PipelineOrder::Status => self.statuses.len() == 1,
            PipelineOrder::Ref => self.ref_name.is_some(),
            PipelineOrder::UserId => self.users.as_ref().is_some_and(|users| users.len() == 1),
            PipelineOrder::Id | PipelineOrder::UpdatedAt => false,
        };
        if is_fixed { PipelineOrder::Id } else { self.order }
    }

    /// Whether one index holds what is wanted in the order in which it is wanted.
    pub(super) fn is_indexed(&self) -> bool {
        let each = [
            self.statuses.len(),
            usize::from(self.source.is_some()),
            usize::from(self.ref_name.is_some()),
            usize::from(self.sha.is_some()),
            self.users.as_ref().map_or(0, Vec::len),
            usize::from(self.yaml_errors.is_some()),
        ];
        let of_one_column = each.iter().sum::<usize>() <= 1;
        let of_one_status_and_ref = each == [1, 0, 1, 0, 0, 0];
        let others =
            [self.updated_before, self.updated_after, self.created_before, self.created_after];
        let is_plain =
            others.iter().all(Option::is_none) && self.newest.is_none() && self.name.is_none();
        is_plain && self.order() == PipelineOrder::Id && (of_one_column || of_one_status_and_ref)
    }

    /// `table` stands before each column, with its point.
    pub(super) fn order_of(&self, table: &str) -> String {
        let direction = if self.descending { "DESC" } else { "ASC" };
        match self.order() {
            PipelineOrder::Id => format!("{table}id {direction}"),
            order => {
                format!("{table}{} {direction}, {table}id {direction}", column_of(order))
            }
        }
    }
}

/// Words that come from here are in the text, so that each plan is made for what they match.
pub(super) fn conditions(
    tx: &mut Tx<'_>,
    project: ProjectId,
    filter: &PipelineFilter,
) -> Result<Conditions> {
    let mut all = Conditions::default();
    all.number("project_id = {}", project.0);
    match filter.source {
        Some(source) => all.plain(format!("source = '{source}'")),
        None => all.plain(OWN),
    }
    if !filter.statuses.is_empty() {
        let statuses = filter.statuses.iter().map(|status| format!("'{status}'"));
        all.plain(format!("status IN ({})", statuses.collect::<Vec<_>>().join(", ")));
    }
    if let Some(name) = &filter.ref_name {
        all.word("ref_name = {}", name);
    }
    if let Some(sha) = &filter.sha {
        all.word("sha = {}", sha);
    }
    if let Some(newest) = &filter.newest {
        all.plain(format!("id IN ({})", list_of(&newest_of(tx, project, newest)?)));
    }
    if let Some(users) = &filter.users {
        let users: Vec<i64> = users.iter().map(|user| user.0).collect();
        all.plain(format!("user_id IN ({})", list_of(&users)));
    }
    if let Some(name) = &filter.name {
        all.word("name = {}", name);
    }
    for (condition, bound) in [
        ("created_at <= {}", filter.created_before.map(|before| before.end_of_shown().0)),
        ("created_at >= {}", filter.created_after.map(|after| after.0)),
        ("updated_at <= {}", filter.updated_before.map(|before| before.end_of_shown().0)),
        ("updated_at >= {}", filter.updated_after.map(|after| after.0)),
        ("id < {}", filter.id_before.map(|before| before.0)),
        ("id > {}", filter.id_after.map(|after| after.0)),
    ] {
        if let Some(bound) = bound {
            all.number(condition, bound);
        }
    }
    match filter.yaml_errors {
        Some(true) => all.plain("yaml_errors IS NOT NULL"),
        Some(false) => all.plain("yaml_errors IS NULL"),
        None => {}
    }
    Ok(all)
}

/// Of each of these branches or tags the newest.
fn newest_of(tx: &mut Tx<'_>, project: ProjectId, newest: &NewestOfRefs) -> Result<Vec<i64>> {
    let names = match &tx.conn {
        Conn::Sqlite(_) => "json_each($2) AS n",
        Conn::Postgres(_) => "json_array_elements_text(CAST($2 AS json)) AS n(value)",
    };
    let tag = if newest.tags { "TRUE" } else { "FALSE" };
    let sql = format!(
        "SELECT COALESCE((SELECT p.id FROM pipelines p WHERE p.project_id = $1 AND p.ref_name = n.value \
         AND p.{OWN} AND p.tag = {tag} ORDER BY p.id DESC LIMIT 1), {NO_PIPELINE}) AS id FROM {names}"
    );
    let names = serde_json::to_string(&newest.names).map_err(Error::internal)?;
    let mut newest = listing::ids(tx, &sql, &[Bind::Number(project.0), Bind::Word(names)])?;
    newest.retain(|id| *id != NO_PIPELINE);
    Ok(newest)
}
