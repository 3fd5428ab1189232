//! People whom filters name.

use kernel::ids::UserId;
use review::item::list::Choice;

use super::choices::NumberChoice;

/// Somebody, by number.
pub fn one_of(choice: &NumberChoice) -> Choice<Vec<UserId>> {
    match &choice.0 {
        // Older clients say 0 for nobody.
        Choice::Nothing | Choice::These(0) => Choice::Nothing,
        Choice::Anything => Choice::Anything,
        Choice::These(id) => Choice::These(vec![UserId(*id)]),
    }
}
