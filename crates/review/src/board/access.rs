//! Grants that give access to boards.

use kernel::{Actor, Grant, Standing};

use crate::{
    Home, ManageGrant, ReadGrant, ScopedCaller,
    item::ItemKind,
    policy::{
        ManageBoards, ManageGroupBoards, ManageGroupEpics, ReadBoards, ReadGroupBoards,
        ReadGroupEpics, ViewBoards, ViewGroupBoards,
    },
};

/// The kind of items that boards of a kind show.
pub trait BoardItems: Copy + Send + 'static {
    const KIND: ItemKind;
}

/// Boards of issues.
#[derive(Clone, Copy, Debug)]
pub struct Boards;

/// Boards of epics.
#[derive(Clone, Copy, Debug)]
pub struct EpicBoards;

impl BoardItems for Boards {
    const KIND: ItemKind = ItemKind::Issue;
}

impl BoardItems for EpicBoards {
    const KIND: ItemKind = ItemKind::Epic;
}

macro_rules! opens { ($($proof:ident $what:ident in $place:ident by $method:ident: $ability:ident);* $(;)?) => { $(
    impl ScopedCaller for Grant<$ability> {
        fn home(&self) -> Home {
            Home::$place(self.$method())
        }
        fn actor(&self) -> Actor {
            Grant::actor(self)
        }
        fn standing(&self) -> Standing {
            *Grant::who(self)
        }
    }
    impl $proof<$what> for Grant<$ability> {}
)* } }

opens! {
    ReadGrant Boards in Project by project: ReadBoards;
    ReadGrant Boards in Project by project: ViewBoards;
    ReadGrant Boards in Group by group: ReadGroupBoards;
    ReadGrant Boards in Group by group: ViewGroupBoards;
    ReadGrant EpicBoards in Group by group: ReadGroupEpics;
    ManageGrant Boards in Project by project: ManageBoards;
    ManageGrant Boards in Group by group: ManageGroupBoards;
    ManageGrant EpicBoards in Group by group: ManageGroupEpics;
}
