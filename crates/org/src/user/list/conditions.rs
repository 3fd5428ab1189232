//! The conditions of a list of people in SQL, and which index each of them is asked of.

use db::trigram;
use kernel::{
    AccessLevel, Ts,
    words::{SearchTerms, understand},
};

use super::{TwoFactor, UserFilter};
use crate::{
    custom_attribute::filter::condition,
    listing::{Bind, list_of},
    namespace::visible_groups,
    search::containing,
};

/// Conditions, and the values that they speak of.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditions {
    pub(super) sql: Vec<String>,
    binds: Vec<Bind>,
    /// What SQLite's index of texts is asked, and the words of it.
    pub(super) indexed: Option<(String, Vec<String>)>,
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

    pub(super) fn word(&mut self, condition: &str, value: &str) {
        self.with(condition, Bind::Word(value.to_owned()));
    }

    fn filter(&self) -> String {
        if self.sql.is_empty() { "1 = 1".to_owned() } else { self.sql.join(" AND ") }
    }

    /// `FROM` and `WHERE` for a walk by id, and the column that is the id there.
    pub(super) fn by_id(&self) -> (String, &'static str, Vec<Bind>) {
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
    pub(super) fn in_other_order(&self) -> (String, Vec<Bind>) {
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
pub(super) fn words(search: &str) -> Vec<String> {
    match understand(search) {
        SearchTerms::Words(words) => words,
        SearchTerms::Exactly(text) => vec![text],
    }
}

/// Asks SQLite's index of texts for all words in one column.
pub(super) fn question(words: &[String]) -> String {
    let phrases: Vec<String> =
        words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
    let phrases = phrases.join(" AND ");
    format!("username : ({phrases}) OR name : ({phrases})")
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
pub(super) fn conditions(
    filter: &UserFilter,
    parts: &[Option<String>],
    on_sqlite: bool,
    now: Ts,
) -> Conditions {
    let mut all = Conditions::default();
    let reached = visible_groups::reached(now, AccessLevel::Minimal);
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
        all.with("u.created_at <= {}", Bind::Number(at.end_of_shown().0));
    }
    all
}
