//! Local users for the users that an archive names.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use db::{
    Tx,
    archive::{ArchiveRow, Field, Relation},
};
use kernel::{Result, TextEnum as _, ids::UserId};
use org::user::{User, addresses, internal::InternalKind, names, store::UserStore as _};
use review::merge_request::MergeRequestState;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Forge;

/// Somebody as archives name them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Person {
    pub(super) id: i64,
    pub(super) username: String,
    pub(super) name: String,
    /// An address that they show; any for administrators.
    #[serde(default)]
    pub(super) email: Option<String>,
    /// Set for accounts of the installation itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<InternalKind>,
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
            kind: InternalKind::of(user),
        };
        all.extend(some.iter().filter_map(|id| found.get(id)).map(person));
    }
    Ok(all)
}

/// Who these people are here. Administrators know that by addresses that people have confirmed, and by user names; of
/// anybody else only they themselves are found, so that nobody speaks in the name of others. Nobody is found twice: rows
/// name somebody once.
pub(super) fn find(
    tx: &mut Tx<'_>,
    people: &[Person],
    importer: UserId,
    private_host: &str,
) -> Result<HashMap<i64, i64>> {
    let own = tx.user(importer)?;
    let mut matches = Vec::new();
    for some in people.chunks(AT_ONCE) {
        matches.extend(matches_of(tx, some, &own, private_host)?);
    }
    Ok(settle(matches))
}

/// How it is known who somebody is; the first is the surest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    Address,
    Username,
}

/// Somebody of an archive, who may be a user here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Match {
    evidence: Evidence,
    person: i64,
    user: UserId,
}

/// The user whom each of some people may be. A token of a project or group is nobody here: as a member of the copy it
/// would open that, too.
fn matches_of(
    tx: &mut Tx<'_>,
    some: &[Person],
    own: &User,
    private_host: &str,
) -> Result<Vec<Match>> {
    let small = |text: &String| text.to_lowercase();
    let emails: Vec<String> = some.iter().filter_map(|one| one.email.as_ref().map(small)).collect();
    let holders = addresses::holders(tx, &emails, private_host)?;
    let named = match own.admin {
        true => {
            let usernames: Vec<String> = some.iter().map(|one| one.username.clone()).collect();
            names::ids_of(tx, &usernames)?
        }
        false => some
            .iter()
            .filter(|one| is_called(own, one))
            .map(|one| (one.username.clone(), own.id))
            .collect(),
    };
    let ids: Vec<UserId> = holders.values().chain(named.values()).copied().collect();
    let users = names::people_by_id(tx, &ids)?;
    let found = |one: &Person| {
        let holder = one.email.as_ref().and_then(|email| users.get(holders.get(&small(email))?));
        let (evidence, user) = match holder {
            Some(user) => (Evidence::Address, user),
            None => (Evidence::Username, users.get(named.get(&one.username)?)?),
        };
        let may_be = own.admin || user.id == own.id;
        may_be.then_some(Match { evidence, person: one.id, user: user.id })
    };
    // Accounts of the installation are found by their kind alone.
    Ok(some.iter().filter(|one| one.kind.is_none()).filter_map(found).collect())
}

fn is_called(user: &User, person: &Person) -> bool {
    user.username.to_lowercase() == person.username.to_lowercase()
}

/// Each user for one of the people whom the user may be: for whom this is surest, then for the first.
fn settle(mut matches: Vec<Match>) -> HashMap<i64, i64> {
    matches.sort_unstable();
    let (mut settled, mut taken) = (HashMap::new(), HashSet::new());
    for Match { person, user, .. } in matches {
        if !settled.contains_key(&person) && taken.insert(user) {
            settled.insert(person, user.0);
        }
    }
    settled
}

/// The accounts of this installation for those of the other one, the first of each kind.
pub(super) async fn find_internal(forge: &Forge, people: &[Person]) -> Result<HashMap<i64, i64>> {
    let mut firsts: BTreeMap<InternalKind, i64> = BTreeMap::new();
    for person in people {
        if let Some(kind) = person.kind {
            let first = firsts.entry(kind).or_insert(person.id);
            *first = person.id.min(*first);
        }
    }
    if firsts.is_empty() {
        return Ok(HashMap::new());
    }
    let find = move |tx: &mut Tx<'_>| {
        let mut found = HashMap::new();
        for (kind, id) in &firsts {
            found.insert(*id, kind.account(tx)?.id.0);
        }
        Ok(found)
    };
    forge.db.write(find).await
}

/// Relations whose rows tell what was said and done, of which nothing follows for whoever did it.
const RECORDS: [&str; 10] = [
    "alert_notes",
    "award_emoji",
    "commit_notes",
    "epics",
    "events",
    "issues",
    "notes",
    "releases",
    "resource_events",
    "timelogs",
];

/// Whether an account of the installation may have written a row. Everybody may write an archive, and nobody approves what
/// is their own: whatever is still to be merged, and whatever runs for somebody, is the importer's instead.
pub(super) fn may_be_internal(relation: &Relation, row: &ArchiveRow) -> bool {
    let state = row.get("state").and_then(Value::as_str);
    let is_merged = state.and_then(MergeRequestState::find) == Some(MergeRequestState::Merged);
    RECORDS.contains(&relation.name) || relation.name == "merge_requests" && is_merged
}

#[cfg(test)]
mod tests {
    use kernel::ids::UserId;
    use serde_json::{Value, json};

    use super::{Evidence, Match, may_be_internal, settle};

    #[test]
    fn nobody_who_approves_what_is_their_own_hides_behind_the_installation() {
        for (name, state, may) in [
            ("issues", json!("opened"), true),
            ("notes", Value::Null, true),
            ("merge_requests", json!("merged"), true),
            ("merge_requests", json!("closed"), false),
            ("merge_requests", json!("opened"), false),
            ("approvals", Value::Null, false),
            ("item_assignees", Value::Null, false),
        ] {
            let all = review::archive::PROJECT.iter().find(|relation| relation.name == name);
            let row = json!({ "state": state });
            let found = may_be_internal(all.unwrap(), row.as_object().unwrap());
            assert_eq!(found, may, "{name} {state}");
        }
    }

    #[test]
    fn no_user_stands_for_two_people_of_an_archive() {
        let one = |evidence, person, user| Match { evidence, person, user: UserId(user) };
        let matches = vec![
            one(Evidence::Username, 1, 50),
            one(Evidence::Address, 900, 50),
            one(Evidence::Address, 7, 60),
            one(Evidence::Address, 6, 60),
            one(Evidence::Username, 6, 70),
            one(Evidence::Username, 8, 70),
        ];
        let mut settled: Vec<_> = settle(matches).into_iter().collect();
        settled.sort_unstable();
        assert_eq!(settled, [(6, 60), (8, 70), (900, 50)]);
    }
}
