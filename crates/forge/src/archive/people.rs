//! Local users for the users that an archive names.

use std::collections::{BTreeSet, HashMap};

use db::{
    Tx,
    archive::{ArchiveRow, Field, Relation},
};
use kernel::{Result, ids::UserId};
use org::user::{User, addresses, store::UserStore as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Somebody as archives name them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Person {
    pub(super) id: i64,
    pub(super) username: String,
    pub(super) name: String,
    /// An address that they show; any for administrators.
    #[serde(default)]
    pub(super) email: Option<String>,
}

/// People of one archive, and of one statement.
pub(super) const MOST: usize = 200_000;
const AT_ONCE: usize = 400;

/// Notes whom a row names.
pub(super) fn note(relation: &Relation, row: &ArchiveRow, into: &mut BTreeSet<i64>) {
    for column in relation.columns {
        if matches!(column.field, Field::Author | Field::Doer(..) | Field::Person) {
            into.extend(row.get(column.name).and_then(Value::as_i64));
        }
    }
}

/// People with these ids, as whoever exports may know them.
pub(super) fn describe(
    tx: &mut Tx<'_>,
    ids: &BTreeSet<i64>,
    sees_addresses: bool,
) -> Result<Vec<Person>> {
    let ids: Vec<UserId> = ids.iter().copied().map(UserId).collect();
    let mut all = Vec::with_capacity(ids.len());
    for some in ids.chunks(AT_ONCE) {
        let found = tx.users_by_id(some)?;
        let person = |user: &User| Person {
            id: user.id.0,
            username: user.username.clone(),
            name: user.name.clone(),
            email: user.public_email.clone().or(sees_addresses.then(|| user.email.clone())),
        };
        all.extend(some.iter().filter_map(|id| found.get(id)).map(person));
    }
    Ok(all)
}

/// Who these people are here. Administrators know that by addresses that people have confirmed, and by user names; of
/// anybody else only they themselves are found, so that nobody speaks in the name of others.
pub(super) fn find(
    tx: &mut Tx<'_>,
    people: &[Person],
    importer: UserId,
    private_host: &str,
) -> Result<HashMap<i64, i64>> {
    let own = tx.user(importer)?;
    let mut found = HashMap::new();
    for some in people.chunks(AT_ONCE) {
        let emails: Vec<String> = some
            .iter()
            .filter_map(|one| one.email.as_ref())
            .map(|text| text.to_lowercase())
            .collect();
        let holders = addresses::holders(tx, &emails, private_host)?;
        for person in some {
            let email = person.email.as_ref().map(|email| email.to_lowercase());
            let by_address = email.and_then(|email| holders.get(&email).copied());
            let user = match (by_address, own.admin) {
                (Some(user), _) => Some(user),
                (None, true) => tx.find_user_named(&person.username)?.map(|user| user.id),
                (None, false) => {
                    let same = person.username.eq_ignore_ascii_case(&own.username);
                    same.then_some(importer)
                }
            };
            let user = user.filter(|user| own.admin || *user == importer);
            found.extend(user.map(|user| (person.id, user.0)));
        }
    }
    Ok(found)
}
