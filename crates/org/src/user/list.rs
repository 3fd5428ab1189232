//! Lists of people: whom they show, in which order, one page at a time.
//!
//! As with projects, the conditions are written as SQL: which index is walked decides how long a page of a hundred
//! thousand accounts takes. First the ids of the page are found, then its rows.

mod conditions;

use std::collections::HashMap;

use db::{
    Conn, OneOf as _, Tx, each_backend, error,
    keyset::{ListOrder, ListWindow, RowPosition, WHOLE},
    schema::users,
    trigram::rarest,
};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{NamespaceId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use self::conditions::{Conditions, conditions, words};
use super::User;
use crate::{
    custom_attribute::CustomAttribute,
    listing::{self, Bind, ids, json_of},
};

kernel::text_enum! { #[derive(Default)] pub enum Order {
    #[default] Id = "id", Name = "name", Username = "username", CreatedAt = "created_at", UpdatedAt = "updated_at",
} }
kernel::text_enum! { pub enum TwoFactor { Enabled = "enabled", Disabled = "disabled" } }

/// Filters of a user list; unset ones have no effect.
#[derive(Clone, Debug, Default)]
pub struct UserFilter {
    pub username: Option<String>,
    /// Any of these; letter case does not matter.
    pub usernames: Option<Vec<String>>,
    /// Only these.
    pub ids: Option<Vec<UserId>>,
    pub search: Option<String>,
    /// Whether a search may find addresses that are not public.
    pub any_email: bool,
    pub active: bool,
    pub blocked: bool,
    pub external: bool,
    pub exclude_external: bool,
    pub exclude_internal: bool,
    pub without_bots: bool,
    /// No bots and nobody who belongs to the installation.
    pub humans: bool,
    pub without_projects: bool,
    pub admins: bool,
    pub two_factor: Option<TwoFactor>,
    /// An account elsewhere: the provider, and the name there.
    pub identity: Option<(String, String)>,
    pub saml_provider: Option<i64>,
    /// The group that brought them here.
    pub provisioned_by: Option<NamespaceId>,
    pub created_after: Option<Ts>,
    pub created_before: Option<Ts>,
    /// All of these notes of administrators.
    pub custom_attributes: Vec<CustomAttribute>,
    pub order: Order,
    pub descending: bool,
}

impl UserFilter {
    /// The order of a list by dates; of others only numbers tell where a page begins.
    fn by_date(&self) -> Option<ListOrder> {
        let column = match self.order {
            Order::CreatedAt => "u.created_at",
            Order::UpdatedAt => "u.updated_at",
            Order::Id | Order::Name | Order::Username => return None,
        };
        Some(ListOrder::of_number(column, self.descending, "u.id"))
    }

    /// The place of somebody in a list by dates.
    pub fn position(&self, row: &User) -> RowPosition {
        let at = match self.order {
            Order::UpdatedAt => row.updated_at,
            _ => row.created_at,
        };
        RowPosition::of_number(at.0, row.id.0)
    }
}

pub trait UserLists {
    fn users(&mut self, filter: &UserFilter, page: PageRequest) -> Result<Page<User>> {
        self.users_in(filter, &WHOLE, page)
    }
    /// As [`users`](Self::users), of a part of a list by dates.
    fn users_in(
        &mut self,
        filter: &UserFilter,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<User>>;
}

impl UserLists for Tx<'_> {
    fn users_in(
        &mut self,
        filter: &UserFilter,
        window: &ListWindow,
        page: PageRequest,
    ) -> Result<Page<User>> {
        let on_sqlite = matches!(self.conn, Conn::Sqlite(_));
        let parts = rare_parts(self, filter)?;
        let mut conditions = conditions(filter, &parts, on_sqlite, self.now);
        if let Some(order) = filter.by_date().filter(|_| *window != WHOLE) {
            let mut narrowed = listing::Conditions::default();
            order.narrow(&mut narrowed, window);
            conditions.sql.extend(Some(narrowed.text()).filter(|text| !text.is_empty()));
        }
        gather(self, &mut conditions)?;
        let found = select(self, &conditions, filter, window, page)?;
        let total = Total::Counted(count(self, &conditions)?);
        Ok(Page { items: in_order(self, &found)?, total })
    }
}

/// Of each word of a search, the part that PostgreSQL's index is best asked for.
fn rare_parts(tx: &mut Tx<'_>, filter: &UserFilter) -> Result<Vec<Option<String>>> {
    let words = words(filter.search.as_deref().unwrap_or_default());
    let parts = words.iter().map(|word| {
        let part = rarest(tx, "users", "username", word)?;
        Ok(part.map(|part| part.text.to_owned()))
    });
    parts.collect()
}

/// More matches of a search than this are not gathered before they are put in order.
const FEW: i64 = 2000;

/// The ids of one page, in their order.
fn select(
    tx: &mut Tx<'_>,
    conditions: &Conditions,
    filter: &UserFilter,
    window: &ListWindow,
    page: PageRequest,
) -> Result<Vec<i64>> {
    let direction = if filter.descending { "DESC" } else { "ASC" };
    let tied = |order: String| format!("{order}, u.id {direction}");
    let order = match filter.order {
        Order::Name => Some(tied(tx.reading_order("u.name", direction))),
        Order::Username => Some(tied(tx.reading_order("u.username", direction))),
        Order::Id | Order::CreatedAt | Order::UpdatedAt => {
            filter.by_date().map(|order| order.sql(window))
        }
    };
    let (from, order, binds) = match order {
        None => {
            let (from, id, binds) = conditions.by_id();
            (from, format!("{id} {direction}"), binds)
        }
        Some(order) => {
            let (from, binds) = conditions.in_other_order();
            (from, order, binds)
        }
    };
    let (most, skip) = (page.per_page, page.offset());
    let sql = format!("SELECT u.id AS id FROM {from} ORDER BY {order} LIMIT {most} OFFSET {skip}");
    ids(tx, &sql, &binds)
}

/// Where a search matches few, SQLite's index is asked once, in its own order, and not for the page and its count again.
fn gather(tx: &mut Tx<'_>, conditions: &mut Conditions) -> Result<()> {
    let Some((question, _)) = &conditions.indexed else { return Ok(()) };
    let few = FEW + 1;
    let sql =
        format!("SELECT rowid AS id FROM users_search WHERE users_search MATCH $1 LIMIT {few}");
    let found = ids(tx, &sql, &[Bind::Word(question.clone())])?;
    if i64::try_from(found.len()).is_ok_and(|found| found < few) {
        conditions.indexed = None;
        let listed = json_of(&found);
        conditions.word("u.id IN (SELECT value FROM json_each({}))", &listed);
    }
    Ok(())
}

/// How many there are, at most one more than lists tell.
fn count(tx: &mut Tx<'_>, conditions: &Conditions) -> Result<i64> {
    let (from, _, binds) = conditions.by_id();
    let most = COUNT_LIMIT + 1;
    let sql = format!("SELECT COUNT(*) AS id FROM (SELECT 1 FROM {from} LIMIT {most}) AS counted");
    Ok(ids(tx, &sql, &binds)?.first().copied().unwrap_or_default())
}

fn in_order(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<User>> {
    let rows: Vec<User> = each_backend!(tx, |conn| users::table
        .filter(users::id.one_of(ids))
        .select(User::as_select())
        .load(conn)
        .map_err(error("User")))?;
    let mut rows: HashMap<i64, User> = rows.into_iter().map(|user| (user.id.0, user)).collect();
    Ok(ids.iter().filter_map(|id| rows.remove(id)).collect())
}
