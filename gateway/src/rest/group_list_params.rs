//! What lists of groups take.

use kernel::{Actor, ids::NamespaceId};
use org::namespace::{
    GroupFilter,
    model::{GroupOrder, Place, Reach},
};

use super::small_numbers::MinAccessLevel;
use crate::{
    extract::{Csv, Sort},
    param_enums, params,
};

param_enums! { GroupOrder }

params! {
    pub(super) struct ListGroups: keyset {
        search: Option<String>,
        skip_groups: Option<Csv<NamespaceId>>,
        all_available: Option<bool>,
        owned: bool = false,
        min_access_level: Option<MinAccessLevel>,
        top_level_only: bool = false,
        order_by: GroupOrder = GroupOrder::Name,
        sort: Sort = Sort::Asc,
        cursor: Option<String>,
    }
}

impl ListGroups {
    /// `place` is where to look, unless the caller asks for the top level.
    pub(super) fn filter(self, actor: Actor, place: Place) -> GroupFilter {
        let place = match (place, self.top_level_only) {
            (Place::Anywhere, true) => Place::TopLevel,
            (place, _) => place,
        };
        GroupFilter {
            reach: self.reach(actor),
            place,
            search: self.search.filter(|term| !term.trim().is_empty()),
            skip: self.skip_groups.map(|ids| ids.0).unwrap_or_default(),
            order: self.order_by,
            descending: self.sort == Sort::Desc,
            after: None,
        }
    }

    fn reach(&self, actor: Actor) -> Reach {
        use kernel::AccessLevel::Minimal;
        let Some(user) = actor.id else { return Reach::Open { user: None, internal: false } };
        if self.owned {
            return Reach::Owned { user };
        }
        if let Some(least) = self.min_access_level {
            return Reach::Member { user, level: least.0 };
        }
        match self.all_available.unwrap_or(actor.admin) {
            true if actor.admin => Reach::All,
            true => Reach::Open { user: Some(user), internal: !actor.external },
            false => Reach::Member { user, level: Minimal },
        }
    }
}
