//! Boards of issues and of epics.

mod epic_board;
mod epic_loader;
mod epic_mutations;
mod fields;
mod filter;
mod issue_loader;
mod issue_move;
mod list;
mod list_mutations;
mod mutations;
mod record;

use graphql::Registry;

use super::context::Context;

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.ids(&[
        ("BoardsEpicBoardID", &["Boards::EpicBoard"]),
        ("BoardsEpicListID", &["Boards::EpicList"]),
    ]);
    fields::register(registry);
    list::register(registry);
    epic_board::register(registry);
    mutations::register(registry);
    list_mutations::register(registry);
    issue_move::register(registry);
    epic_mutations::register(registry);
}
