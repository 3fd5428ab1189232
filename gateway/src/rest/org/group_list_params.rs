//! Parameters of group lists.

use kernel::{Actor, ids::NamespaceId};
use org::{
    namespace::{
        GroupFilter,
        model::{GroupOrder, GroupSelection, TreeLevel},
    },
    project::STORAGE,
};

use super::custom_attribute_params::AttributeFilter;
use crate::{
    extract::{Csv, Sort},
    param_enums, params,
    rest::shared::int_enums::MinAccessLevel,
};

kernel::text_enum! {
    /// What groups inside another are ordered by.
    pub enum SubgroupOrder { Name = "name", Path = "path", Id = "id" }
}
param_enums! { GroupOrder, SubgroupOrder }

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
        statistics: bool = false,
        with_custom_attributes: bool = false,
        custom_attributes: Option<AttributeFilter>,
        repository_storage: Option<String>,
        cursor: Option<String>,
    }
}

params! {
    pub(super) struct ListSubgroups: paged {
        search: Option<String>,
        skip_groups: Option<Csv<NamespaceId>>,
        all_available: Option<bool>,
        owned: bool = false,
        min_access_level: Option<MinAccessLevel>,
        order_by: SubgroupOrder = SubgroupOrder::Name,
        sort: Sort = Sort::Asc,
        statistics: bool = false,
        with_custom_attributes: bool = false,
        custom_attributes: Option<AttributeFilter>,
        repository_storage: Option<String>,
    }
}

/// What a list tells of each group beside its record; only administrators are told.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupListDetails {
    pub(super) statistics: bool,
    pub(super) custom_attributes: bool,
}

impl ListGroups {
    pub(super) fn further(&self, actor: Actor) -> GroupListDetails {
        GroupListDetails {
            statistics: actor.admin && self.statistics,
            custom_attributes: actor.admin && self.with_custom_attributes,
        }
    }

    pub(super) fn filter(self, actor: Actor) -> GroupFilter {
        let place = if self.top_level_only { TreeLevel::TopLevel } else { TreeLevel::Anywhere };
        self.filter_in(actor, place)
    }

    fn filter_in(self, actor: Actor, place: TreeLevel) -> GroupFilter {
        let elsewhere = self.repository_storage.as_deref().is_some_and(|name| name != STORAGE);
        GroupFilter {
            actor,
            reach: self.reach(actor),
            place,
            search: self.search.filter(|term| !term.trim().is_empty()),
            skip: self.skip_groups.map(|ids| ids.0).unwrap_or_default(),
            ids: None,
            attributes: AttributeFilter::of(self.custom_attributes, actor),
            elsewhere: actor.admin && elsewhere,
            order: self.order_by,
            descending: self.sort == Sort::Desc,
            after: None,
        }
    }

    fn reach(&self, actor: Actor) -> GroupSelection {
        let Some(user) = actor.id else {
            return GroupSelection::Open { user: None, internal: false };
        };
        if self.owned {
            return GroupSelection::Owned { user };
        }
        if let Some(least) = self.min_access_level {
            return GroupSelection::AtLeast { user, level: least.0 };
        }
        match self.all_available.unwrap_or(actor.admin) {
            true if actor.admin => GroupSelection::All,
            true => GroupSelection::Open { user: Some(user), internal: !actor.external },
            false => GroupSelection::Member { user },
        }
    }
}

impl ListSubgroups {
    /// The same list, as if it were asked for everywhere.
    fn anywhere(self) -> ListGroups {
        ListGroups {
            search: self.search,
            skip_groups: self.skip_groups,
            all_available: self.all_available,
            owned: self.owned,
            min_access_level: self.min_access_level,
            top_level_only: false,
            order_by: match self.order_by {
                SubgroupOrder::Name => GroupOrder::Name,
                SubgroupOrder::Path => GroupOrder::Path,
                SubgroupOrder::Id => GroupOrder::Id,
            },
            sort: self.sort,
            statistics: self.statistics,
            with_custom_attributes: self.with_custom_attributes,
            custom_attributes: self.custom_attributes,
            repository_storage: self.repository_storage,
            cursor: None,
        }
    }

    pub(super) fn into_filter(
        self,
        actor: Actor,
        place: TreeLevel,
    ) -> (GroupFilter, GroupListDetails) {
        let list = self.anywhere();
        let further = list.further(actor);
        (list.filter_in(actor, place), further)
    }
}
