//! Lists of people: whom they show, in which order, one page at a time.
//!
//! As with projects, the conditions are written as SQL: which index is walked decides how long a page of a hundred
//! thousand accounts takes. First the ids of the page are found, then its rows.

use std::collections::HashMap;

use db::{
    Conn, OneOf as _, Tx, each_backend, error,
    keyset::{ListOrder, ListWindow, RowPosition, WHOLE},
    schema::users,
    trigram::{self, rarest},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Result, Ts,
    ids::{NamespaceId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
    words::{SearchTerms, understand},
};

use super::User;
use crate::{
    custom_attribute::{CustomAttribute, filter::condition},
    listing::{self, Bind, ids, json_of, list_of},
    namespace::seen,
    search::containing,
};

kernel::text_enum! { #[derive(Default)] pub enum Order {
    #[default] Id = "id", Name = "name", Username = "username", CreatedAt = "created_at", UpdatedAt = "updated_at",
} }
kernel::text_enum! { pub enum TwoFactor { Enabled = "enabled", Disabled = "disabled" } }

/// Whom a list shows. Filters act only when they are set.
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

/// Conditions, and the values that they speak of.
#[derive(Clone, Debug, Default)]
struct Conditions {
    sql: Vec<String>,
    binds: Vec<Bind>,
    /// What SQLite's index of texts is asked, and the words of it.
    indexed: Option<(String, Vec<String>)>,
}

impl Conditions {
    fn plain(&mut self, condition: &str) {
        self.sql.push(condition.to_owned());
    }

    /// The placeholder of a value.
    fn bind(&mut self, value: Bind) -> String {
        self.binds.push(value);
        format!("${}", self.binds.len())
    }

    /// Adds a condition in which `{}` stands for the value.
    fn with(&mut self, condition: &str, value: Bind) {
        let place = self.bind(value);
        self.sql.push(condition.replace("{}", &place));
    }

    fn word(&mut self, condition: &str, value: &str) {
        self.with(condition, Bind::Word(value.to_owned()));
    }

    fn filter(&self) -> String {
        if self.sql.is_empty() { "1 = 1".to_owned() } else { self.sql.join(" AND ") }
    }

    /// `FROM` and `WHERE` for a walk by id, and the column that is the id there.
    fn by_id(&self) -> (String, &'static str, Vec<Bind>) {
        let Some((question, _)) = &self.indexed else {
            return (format!("users u WHERE {}", self.filter()), "u.id", self.binds.clone());
        };
        let mut all = self.clone();
        all.word("users_search MATCH {}", question);
        // In this order and no other: the index of texts gives its rows by id.
        let from = "users_search CROSS JOIN users u ON u.id = users_search.rowid";
        (format!("{from} WHERE {}", all.filter()), "users_search.rowid", all.binds)
    }

    /// `FROM` and `WHERE` for a walk in another order.
    fn in_other_order(&self) -> (String, Vec<Bind>) {
        let mut all = self.clone();
        // There are many matches: looking at each row in turn soon finds enough.
        if let Some((_, words)) = &self.indexed {
            all.contains(words, &[], true);
        }
        (format!("users u WHERE {}", all.filter()), all.binds)
    }

    fn named(&mut self, words: &[String], parts: &[Option<String>], on_sqlite: bool) -> String {
        let mut each: [Vec<String>; 2] = Default::default();
        for (index, word) in words.iter().enumerate() {
            let part = parts.get(index).and_then(Option::as_deref);
            for (column, conditions) in ["u.username", "u.name"].iter().zip(&mut each) {
                let mut bind = |value: String| self.bind(Bind::Word(value));
                conditions.push(match on_sqlite {
                    false => trigram::contains(column, word, part, &mut bind),
                    // SQLite's own comparison knows ASCII alone, and is much faster than ours.
                    true if word.is_ascii() => {
                        format!("{column} LIKE {} ESCAPE '\\'", bind(containing(word)))
                    }
                    true => format!("lower({column}) LIKE {} ESCAPE '\\'", bind(containing(word))),
                });
            }
        }
        each.map(|conditions| format!("({})", conditions.join(" AND "))).join(" OR ")
    }

    fn contains(&mut self, words: &[String], parts: &[Option<String>], on_sqlite: bool) {
        let named = self.named(words, parts, on_sqlite);
        self.plain(&format!("({named})"));
    }
}

/// The words of a search; of a short one, the whole of it.
fn words(search: &str) -> Vec<String> {
    match understand(search) {
        SearchTerms::Words(words) => words,
        SearchTerms::Exactly(text) => vec![text],
    }
}

/// Asks SQLite's index of texts for all words in one column.
fn question(words: &[String]) -> String {
    let phrases: Vec<String> =
        words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
    let phrases = phrases.join(" AND ");
    format!("username : ({phrases}) OR name : ({phrases})")
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

fn searched(
    all: &mut Conditions,
    filter: &UserFilter,
    search: &str,
    parts: &[Option<String>],
    on_sqlite: bool,
) {
    let words = words(search);
    let indexable = words.iter().all(|word| word.chars().count() >= 3);
    if search.contains('@') {
        // Names rarely look like an address, so the few that do are gathered with whoever has the address.
        let named = if on_sqlite && indexable {
            let question = all.bind(Bind::Word(question(&words)));
            format!("SELECT rowid FROM users_search WHERE users_search MATCH {question}")
        } else {
            format!("SELECT u.id FROM users u WHERE {}", all.named(&words, parts, on_sqlite))
        };
        let key = all.bind(Bind::Word(search.trim().to_lowercase()));
        // Only an address of one's own is ever public, so the indexes of addresses find these, too.
        let shown = if filter.any_email {
            String::new()
        } else {
            format!(" AND lower(a.public_email) = {key}")
        };
        let own = format!("SELECT a.id FROM users a WHERE a.email_key = {key}{shown}");
        let further = format!(
            "SELECT a.id FROM user_emails e JOIN users a ON a.id = e.user_id WHERE e.email_key = {key} \
             AND e.confirmed_at IS NOT NULL{shown}"
        );
        return all.plain(&format!("u.id IN ({named} UNION {own} UNION {further})"));
    }
    if on_sqlite && indexable {
        all.indexed = Some((question(&words), words));
    } else {
        all.contains(&words, parts, on_sqlite);
    }
}

#[expect(clippy::too_many_lines, reason = "one query, a filter after the other")]
fn conditions(
    filter: &UserFilter,
    parts: &[Option<String>],
    on_sqlite: bool,
    now: Ts,
) -> Conditions {
    let mut all = Conditions::default();
    let reached = seen::reached(now, AccessLevel::Minimal);
    let without =
        format!("NOT EXISTS (SELECT 1 FROM project_access a WHERE a.user_id = u.id AND {reached})");
    if let Some(username) = &filter.username {
        all.word("u.username_key = {}", &username.to_lowercase());
    }
    if let Some(usernames) = &filter.usernames {
        let places: Vec<String> =
            usernames.iter().map(|name| all.bind(Bind::Word(name.to_lowercase()))).collect();
        match places.is_empty() {
            true => all.plain("1 = 0"),
            false => all.plain(&format!("u.username_key IN ({})", places.join(", "))),
        }
    }
    if let Some(ids) = &filter.ids {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        all.plain(&format!("u.id IN ({})", list_of(&ids)));
    }
    if let Some(search) = filter.search.as_deref().filter(|search| !search.trim().is_empty()) {
        searched(&mut all, filter, search, parts, on_sqlite);
    }
    // Written as the partial indexes are, so that what is rare is found by them.
    for (wanted, condition) in [
        // Nearly everybody is, so no index is to be tempted.
        (
            filter.active,
            "u.state NOT IN ('blocked', 'ldap_blocked', 'deactivated', 'banned', 'blocked_pending_approval')",
        ),
        (filter.blocked, "u.state IN ('blocked', 'ldap_blocked')"),
        (filter.external, "u.external"),
        (filter.exclude_external, "NOT u.external"),
        (filter.exclude_internal, "NOT u.internal"),
        (filter.without_bots, "NOT u.bot"),
        (filter.humans, "NOT u.bot AND NOT u.internal"),
        (filter.admins, "u.admin"),
        (filter.without_projects, without.as_str()),
        (
            filter.two_factor == Some(TwoFactor::Enabled),
            "u.id IN (SELECT c.user_id FROM user_accounts c WHERE c.two_factor)",
        ),
        (
            filter.two_factor == Some(TwoFactor::Disabled),
            "u.id NOT IN (SELECT c.user_id FROM user_accounts c WHERE c.two_factor)",
        ),
    ] {
        if wanted {
            all.plain(condition);
        }
    }
    for note in &filter.custom_attributes {
        all.bind(Bind::Word(note.key.clone()));
        all.bind(Bind::Word(note.value.clone()));
        let (key, value) = (all.binds.len() - 1, all.binds.len());
        all.plain(&condition("u.id", "user_id", key, value));
    }
    if let Some((provider, uid)) = &filter.identity {
        let provider = all.bind(Bind::Word(provider.clone()));
        let uid = all.bind(Bind::Word(uid.clone()));
        all.plain(&format!(
            "u.id IN (SELECT i.user_id FROM user_identities i WHERE i.provider = {provider} AND i.extern_uid = {uid})"
        ));
    }
    if let Some(provider) = filter.saml_provider {
        let theirs =
            "u.id IN (SELECT i.user_id FROM user_identities i WHERE i.saml_provider_id = {})";
        all.with(theirs, Bind::Number(provider));
    }
    if let Some(group) = filter.provisioned_by {
        let brought =
            "u.id IN (SELECT c.user_id FROM user_accounts c WHERE c.provisioned_by_group_id = {})";
        all.with(brought, Bind::Number(group.0));
    }
    if let Some(at) = filter.created_after {
        all.with("u.created_at >= {}", Bind::Number(at.0));
    }
    if let Some(at) = filter.created_before {
        all.with("u.created_at <= {}", Bind::Number(at.0));
    }
    all
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
