//! People whom filters name.

use db::Tx;
use kernel::{Result, ids::UserId};
use org::user::names;
use review::item::list::Choice;

use super::choices::NumberChoice;

/// Somebody's id where nobody is meant.
const NOBODY: UserId = UserId(0);

/// Somebody, by number.
pub fn one_of(choice: &NumberChoice) -> Choice<Vec<UserId>> {
    match &choice.0 {
        // Older clients say 0 for nobody.
        Choice::Nothing | Choice::These(0) => Choice::Nothing,
        Choice::Anything => Choice::Anything,
        Choice::These(id) => Choice::These(vec![UserId(*id)]),
    }
}

pub fn person(tx: &mut Tx<'_>, name: &str) -> Result<Option<UserId>> {
    Ok(names::ids_of(tx, &[name.to_owned()])?.into_values().next())
}

pub fn person_or_nobody(tx: &mut Tx<'_>, name: &str) -> Result<UserId> {
    Ok(person(tx, name)?.unwrap_or(NOBODY))
}

/// Each of these people; who is unknown is nobody.
pub fn all_people(tx: &mut Tx<'_>, given: &[String]) -> Result<Vec<UserId>> {
    let found = names::ids_of(tx, given)?;
    Ok(given.iter().map(|name| found.get(name).copied().unwrap_or(NOBODY)).collect())
}

pub fn known_people(tx: &mut Tx<'_>, given: &[String]) -> Result<Vec<UserId>> {
    Ok(names::ids_of(tx, given)?.into_values().collect())
}
