//! Taking approvals back, because what was approved is no longer what is there.

use std::collections::HashSet;

use db::Tx;
use kernel::{Result, ids::UserId};

use super::{event::Event, load::refresh, ports::Branches, store::ApprovalStore as _};
use crate::{
    merge_request::{MergeRequest, MergeRequestState},
    note::write_system_note,
    ports::People,
    todo::{TodoAction, TodoStore as _},
};

/// The effect of a push on approvals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reset {
    /// Whose approvals are gone.
    pub taken_from: Vec<UserId>,
}

/// To be called for each merge request that is not merged to whose source branch somebody pushed; not for what the
/// platform itself did, such as a rebase. `from` is where the branch was. Takes all approvals back where the project
/// wants that, or sees to it that those of the owners of what was changed are.
pub fn reset_on_push(
    tx: &mut Tx<'_>,
    branches: &impl Branches,
    people: &impl People,
    request: &MergeRequest,
    pusher: UserId,
    from: Option<&str>,
) -> Result<Reset> {
    let settings = tx.approval_settings(request.project_id)?;
    let open = request.state != MergeRequestState::Merged;
    if open && settings.selective_removals {
        let from = from.map(str::to_owned);
        tx.emit(Event::Pushed { of: request.into(), user: pusher, from })?;
    }
    if !settings.reset_on_push || !open {
        return Ok(Reset::default());
    }
    let taken_from = take_back(tx, people, request, pusher, None)?;
    refresh(tx, branches, request)?;
    Ok(Reset { taken_from })
}

/// Takes back the approvals of these people, or of everybody, says so, and asks them again.
pub(super) fn take_back(
    tx: &mut Tx<'_>,
    people: &impl People,
    request: &MergeRequest,
    pusher: UserId,
    of: Option<&HashSet<UserId>>,
) -> Result<Vec<UserId>> {
    let gone = tx.delete_approvals(request.id, of)?;
    if gone.is_empty() {
        return Ok(gone);
    }
    let item = request.item();
    let names = people.names(tx, &gone)?;
    let names: Vec<String> =
        gone.iter().filter_map(|user| Some(format!("@{}", names.get(user)?))).collect();
    let told = format!("reset approvals from {} by pushing to the branch", joined(&names));
    write_system_note(tx, &item, pusher, &told)?;
    for user in gone.iter().filter(|user| **user != pusher) {
        tx.raise_todo(&item, *user, pusher, TodoAction::ApprovalRequired, None)?;
    }
    tx.emit(Event::Reset { of: request.into(), user: Some(pusher), taken_from: gone.clone() })?;
    Ok(gone)
}

/// `a, b, and c`
fn joined(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [others @ .., last] => format!("{}, and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn people_are_told_in_one_sentence() {
        let names = |count: usize| -> Vec<String> {
            ["@a", "@b", "@c"].iter().take(count).map(|name| (*name).to_owned()).collect()
        };
        let told: Vec<String> = (0..4).map(|count| joined(&names(count))).collect();
        assert_eq!(told, ["", "@a", "@a and @b", "@a, @b, and @c"]);
    }
}
