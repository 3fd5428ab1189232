//! Parameters of merge request lists.

use db::Tx;
use kernel::{
    Error, Result, Ts,
    ids::{ProjectId, UserId},
};
use org::user::names::{all_people, person_or_nobody};
use review::{
    item::list::{Choice, Direction, NotCommon, Order, Sorting},
    merge_request::{
        MergeRequestState,
        list::{MergeRequestFilter, NotFilter},
    },
    ports::DeploymentCondition,
};

use super::item_list_params::{FilterItems, NotItems, Share};
use crate::{
    extract::Sort,
    param_enums, params,
    rest::shared::{
        choices::{MOST_PEOPLE, NumberChoice, PeopleChoice, TextChoice, TextsChoice},
        user_filters::one_of,
    },
};

kernel::text_enum! {
    /// Which states a list shows.
    pub enum MergeRequestStates {
        Opened = "opened",
        Closed = "closed",
        Locked = "locked",
        Merged = "merged",
        All = "all",
    }
}

kernel::text_enum! {
    /// Whose merge requests a list shows.
    pub enum MergeRequestScope {
        CreatedByMe = "created_by_me",
        AssignedToMe = "assigned_to_me",
        ReviewsForMe = "reviews_for_me",
        All = "all",
        CreatedByMeDashed = "created-by-me",
        AssignedToMeDashed = "assigned-to-me",
        ReviewsForMeDashed = "reviews-for-me",
    }
}

kernel::text_enum! {
    pub enum MergeRequestOrder {
        CreatedAt = "created_at",
        LabelPriority = "label_priority",
        MilestoneDue = "milestone_due",
        Popularity = "popularity",
        Priority = "priority",
        Title = "title",
        UpdatedAt = "updated_at",
        MergedAt = "merged_at",
    }
}

kernel::text_enum! { pub enum YesOrNo { Yes = "yes", No = "no" } }
kernel::text_enum! { pub enum MergeRequestForm { Simple = "simple" } }

param_enums! { MergeRequestStates, MergeRequestScope, MergeRequestOrder, YesOrNo, MergeRequestForm }

params! {
    /// Which merge requests a list shows, beside what other items are chosen by.
    pub struct FilterMergeRequests: paged {
        scope: Option<MergeRequestScope>,
        reviewer_id: Option<NumberChoice>,
        /// Username, or `None` or `Any`.
        reviewer_username: Option<TextChoice>,
        source_branch: Option<String>,
        source_project_id: Option<ProjectId>,
        target_branch: Option<String>,
        /// `yes` for drafts only, `no` for all others.
        wip: Option<YesOrNo>,
        approved: Option<YesOrNo>,
        /// IDs of users who have all approved, or `None` or `Any`. Only the first five are used.
        approved_by_ids: Option<PeopleChoice>,
        /// Usernames of users who have all approved, or `None` or `Any`.
        approved_by_usernames: Option<TextsChoice>,
        /// IDs of users who are all approvers, or `None` or `Any`. Only the first five are used.
        approver_ids: Option<PeopleChoice>,
        merge_user_id: Option<UserId>,
        merge_user_username: Option<String>,
        deployed_after: Option<Ts>,
        deployed_before: Option<Ts>,
        /// Name of an environment that the merge request was deployed to.
        environment: Option<String>,
        /// Filters that exclude matching items.
        not: Option<(NotItems, NotMergeRequests)>,
    } with exclusive("reviewer_id", "reviewer_username"), exclusive("merge_user_id", "merge_user_username"),
        exclusive("approved_by_ids", "approved_by_usernames");
}

params! {
    pub struct NotMergeRequests {
        reviewer_id: Option<NumberChoice>,
        reviewer_username: Option<TextChoice>,
        my_reaction_emoji: Option<TextChoice>,
    }
}

/// The filters of a list of merge requests.
pub type MergeRequestFilters = (FilterItems, FilterMergeRequests);

params! {
    /// How a list shows them.
    pub struct ShowMergeRequests: paged {
        state: MergeRequestStates = MergeRequestStates::All,
        order_by: MergeRequestOrder = MergeRequestOrder::CreatedAt,
        sort: Sort = Sort::Desc,
        /// Whether labels are objects with color and description instead of names.
        with_labels_details: bool = false,
        /// Whether to recompute the merge status of merge requests that changed.
        with_merge_status_recheck: bool = false,
        view: Option<MergeRequestForm>,
        render_html: bool = false,
    }
}

/// The filter, for somebody. `scope` holds where none is asked for.
pub fn filter(
    (items, requests): MergeRequestFilters,
    tx: &mut Tx<'_>,
    caller: Option<UserId>,
    scope: MergeRequestScope,
    state: Option<MergeRequestState>,
) -> Result<MergeRequestFilter> {
    let caller = caller.ok_or_else(Error::unauthenticated)?;
    let (share, own_reviews) = requests.scope.unwrap_or(scope).share(caller);
    let (not_items, not) = match requests.not.clone() {
        Some((items, requests)) => (items.filter(tx)?, requests.filter(tx)?),
        None => (NotCommon::default(), NotFilter::default()),
    };
    let common = items.filter(tx, share, not_items)?;
    let asked = requests.reviewer_id.as_ref().map(one_of);
    let mut filter = MergeRequestFilter {
        common,
        state,
        reviewers: asked.into_iter().chain(own_reviews).collect(),
        merged_by: requests.merge_user_id,
        deployed: requests.deployed(),
        source_project: requests.source_project_id,
        source_branches: named_branch(requests.source_branch),
        target_branches: named_branch(requests.target_branch),
        draft: requests.wip.map(|wip| wip == YesOrNo::Yes),
        approved: requests.approved.map(|approved| approved == YesOrNo::Yes),
        approved_by: requests.approved_by_ids.map(|people| people.0),
        approvers: requests.approver_ids.map(|people| people.0),
        not,
        ..MergeRequestFilter::default()
    };
    if let Some(TextChoice(choice)) = requests.reviewer_username {
        filter.reviewers.push(known_user_ids(tx, choice)?);
    }
    if let Some(TextsChoice(choice)) = requests.approved_by_usernames {
        filter.approved_by = Some(all_named(tx, choice)?);
    }
    if let Some(name) = requests.merge_user_username {
        filter.merged_by = Some(person_or_nobody(tx, &name)?);
    }
    Ok(filter)
}

impl FilterMergeRequests {
    fn deployed(&self) -> Option<DeploymentCondition> {
        let environment = self.environment.clone().filter(|name| !name.is_empty());
        let (after, before) = (self.deployed_after, self.deployed_before);
        let asked = after.is_some() || before.is_some() || environment.is_some();
        asked.then_some(DeploymentCondition {
            after,
            before,
            environment,
            ..DeploymentCondition::default()
        })
    }
}

impl MergeRequestScope {
    /// The caller's own share, and what they are to review, where that is asked for.
    fn share(self, caller: UserId) -> (Share, Option<Choice<Vec<UserId>>>) {
        match self {
            Self::All => (Share::default(), None),
            Self::CreatedByMe | Self::CreatedByMeDashed => {
                (Share { author: Some(caller), assignee: None }, None)
            }
            Self::AssignedToMe | Self::AssignedToMeDashed => {
                (Share { author: None, assignee: Some(caller) }, None)
            }
            Self::ReviewsForMe | Self::ReviewsForMeDashed => {
                (Share::default(), Some(Choice::These(vec![caller])))
            }
        }
    }
}

fn named_branch(name: Option<String>) -> Vec<String> {
    name.into_iter().filter(|name| !name.is_empty()).collect()
}

fn known_user_ids(tx: &mut Tx<'_>, choice: Choice<String>) -> Result<Choice<Vec<UserId>>> {
    Ok(match choice {
        Choice::Nothing => Choice::Nothing,
        Choice::Anything => Choice::Anything,
        Choice::These(name) => Choice::These(vec![person_or_nobody(tx, &name)?]),
    })
}

/// The first of these people; further ones are passed over.
fn all_named(tx: &mut Tx<'_>, choice: Choice<Vec<String>>) -> Result<Choice<Vec<UserId>>> {
    Ok(match choice {
        Choice::Nothing => Choice::Nothing,
        Choice::Anything => Choice::Anything,
        Choice::These(mut names) => {
            names.truncate(MOST_PEOPLE);
            Choice::These(all_people(tx, &names)?)
        }
    })
}

impl NotMergeRequests {
    fn filter(self, tx: &mut Tx<'_>) -> Result<NotFilter> {
        let reviewers = match self.reviewer_username {
            Some(TextChoice(choice)) => Some(known_user_ids(tx, choice)?),
            None => None,
        };
        Ok(NotFilter {
            reviewer: self.reviewer_id.as_ref().map(one_of).or(reviewers),
            reaction: self.my_reaction_emoji.map(|choice| choice.0),
        })
    }
}

impl ShowMergeRequests {
    pub fn state(&self) -> Option<MergeRequestState> {
        match self.state {
            MergeRequestStates::Opened => Some(MergeRequestState::Opened),
            MergeRequestStates::Closed => Some(MergeRequestState::Closed),
            MergeRequestStates::Locked => Some(MergeRequestState::Locked),
            MergeRequestStates::Merged => Some(MergeRequestState::Merged),
            MergeRequestStates::All => None,
        }
    }

    pub fn sorting(&self) -> Sorting {
        let by = match self.order_by {
            MergeRequestOrder::CreatedAt => Order::Id,
            MergeRequestOrder::LabelPriority => Order::LabelPriority,
            MergeRequestOrder::MilestoneDue => Order::MilestoneDue,
            MergeRequestOrder::Popularity => Order::Column("upvotes"),
            MergeRequestOrder::Priority => Order::Priority,
            MergeRequestOrder::Title => Order::Title,
            MergeRequestOrder::UpdatedAt => Order::Column("updated_at"),
            MergeRequestOrder::MergedAt => Order::Optional("merged_at"),
        };
        let direction = match self.sort {
            Sort::Asc => Direction::Ascending,
            Sort::Desc => Direction::Descending,
        };
        Sorting { by, direction }
    }
}
