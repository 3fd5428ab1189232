//! What lists of merge requests take.

use db::Tx;
use kernel::{
    Error, Result, Ts,
    ids::{ProjectId, UserId},
};
use review::{
    item::list::{Choice, Direction, Fields, Order, Search, Sorting},
    merge_request::{
        MergeRequestState,
        list::{MergeRequestFilter, NotFilter},
    },
    ports::Deployed,
};

use super::{
    choices::{MOST_PEOPLE, NumberChoice, PeopleChoice, SearchedFields, TextChoice, TextsChoice},
    people_named::{all_people, known_people, one_of, person, person_or_nobody},
};
use crate::{
    extract::{Csv, Sort},
    param_enums, params,
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
    /// Which merge requests a list shows.
    pub struct FilterMergeRequests: paged {
        scope: Option<MergeRequestScope>,
        iids: Option<Csv<i64>>,
        author_id: Option<UserId>,
        author_username: Option<String>,
        assignee_id: Option<NumberChoice>,
        assignee_username: Option<Csv<String>>,
        reviewer_id: Option<NumberChoice>,
        /// A name, or `None` and `Any`.
        reviewer_username: Option<TextChoice>,
        /// All of these, or `None` and `Any`.
        labels: Option<TextsChoice>,
        /// A title, or `None` and `Any`.
        milestone: Option<TextChoice>,
        /// An emoji that the caller gave, or `None` and `Any`.
        my_reaction_emoji: Option<TextChoice>,
        source_branch: Option<String>,
        source_project_id: Option<ProjectId>,
        target_branch: Option<String>,
        /// All of these words in one field.
        search: Option<String>,
        r#in: Option<SearchedFields>,
        /// Whether it is a draft.
        wip: Option<YesOrNo>,
        approved: Option<YesOrNo>,
        /// Approved by all of these, or `None` and `Any`; the first five count.
        approved_by_ids: Option<PeopleChoice>,
        /// As `approved_by_ids`, by their names.
        approved_by_usernames: Option<TextsChoice>,
        /// To be approved by all of these, or `None` and `Any`; the first five count.
        approver_ids: Option<PeopleChoice>,
        merge_user_id: Option<UserId>,
        merge_user_username: Option<String>,
        created_after: Option<Ts>,
        created_before: Option<Ts>,
        updated_after: Option<Ts>,
        updated_before: Option<Ts>,
        deployed_after: Option<Ts>,
        deployed_before: Option<Ts>,
        /// The name of an environment that it was deployed to.
        environment: Option<String>,
        /// What is not wanted.
        not: Option<NotMergeRequests>,
    } with exclusive("author_id", "author_username"), exclusive("assignee_id", "assignee_username"),
        exclusive("reviewer_id", "reviewer_username"), exclusive("merge_user_id", "merge_user_username"),
        exclusive("approved_by_ids", "approved_by_usernames");
}

params! {
    pub struct NotMergeRequests {
        labels: Option<Csv<String>>,
        milestone: Option<TextChoice>,
        author_id: Option<UserId>,
        author_username: Option<String>,
        assignee_id: Option<NumberChoice>,
        assignee_username: Option<Csv<String>>,
        reviewer_id: Option<NumberChoice>,
        reviewer_username: Option<TextChoice>,
        my_reaction_emoji: Option<TextChoice>,
    }
}

params! {
    /// How a list shows them.
    pub struct ShowMergeRequests: paged {
        state: MergeRequestStates = MergeRequestStates::All,
        order_by: MergeRequestOrder = MergeRequestOrder::CreatedAt,
        sort: Sort = Sort::Desc,
        /// With the colour and description of each label.
        with_labels_details: bool = false,
        /// Asks git again about those that changed since it was asked.
        with_merge_status_recheck: bool = false,
        view: Option<MergeRequestForm>,
        render_html: bool = false,
    }
}

impl FilterMergeRequests {
    /// The filter, for somebody. `scope` holds where none is asked for.
    pub fn filter(
        self,
        tx: &mut Tx<'_>,
        caller: Option<UserId>,
        scope: MergeRequestScope,
        state: Option<MergeRequestState>,
    ) -> Result<MergeRequestFilter> {
        let mut filter = MergeRequestFilter {
            state,
            created_after: self.created_after,
            created_before: self.created_before,
            updated_after: self.updated_after,
            updated_before: self.updated_before,
            authors: self.author_id.into_iter().collect(),
            assignees: self.assignee_id.as_ref().map(one_of).into_iter().collect(),
            reviewers: self.reviewer_id.as_ref().map(one_of).into_iter().collect(),
            merged_by: self.merge_user_id,
            iids: self.iids.map(|iids| iids.0).filter(|iids| !iids.is_empty()),
            labels: self.labels.map(|labels| labels.0),
            milestone: self.milestone.map(TextChoice::into_milestone),
            source_project: self.source_project_id,
            source_branch: self.source_branch.filter(|name| !name.is_empty()),
            target_branch: self.target_branch.filter(|name| !name.is_empty()),
            draft: self.wip.map(|wip| wip == YesOrNo::Yes),
            approved: self.approved.map(|approved| approved == YesOrNo::Yes),
            approved_by: self.approved_by_ids.map(|people| people.0),
            approvers: self.approver_ids.map(|people| people.0),
            ..MergeRequestFilter::default()
        };
        let fields = self.r#in.map_or(Fields::Both, |fields| fields.0);
        filter.search = self.search.map(|text| Search { text, fields });
        let environment = self.environment.filter(|name| !name.is_empty());
        if self.deployed_after.is_some() || self.deployed_before.is_some() || environment.is_some()
        {
            let (after, before) = (self.deployed_after, self.deployed_before);
            filter.deployed = Some(Deployed { after, before, environment });
        }
        if let Some(name) = self.author_username {
            filter.authors.push(person_or_nobody(tx, &name)?);
        }
        if let Some(Csv(names)) = self.assignee_username {
            filter.assignees.push(Choice::These(all_people(tx, &names)?));
        }
        if let Some(TextChoice(choice)) = self.reviewer_username {
            filter.reviewers.push(named(tx, choice)?);
        }
        if let Some(TextsChoice(choice)) = self.approved_by_usernames {
            filter.approved_by = Some(all_named(tx, choice)?);
        }
        if let Some(name) = self.merge_user_username {
            filter.merged_by = Some(person_or_nobody(tx, &name)?);
        }
        let caller = caller.ok_or(Error::Unauthenticated)?;
        share(&mut filter, caller, self.scope.unwrap_or(scope));
        filter.reaction = self.my_reaction_emoji.map(|choice| (caller, choice.0));
        if let Some(not) = self.not {
            filter.not = not.filter(tx, caller)?;
        }
        Ok(filter)
    }
}

/// The caller's own share, where that is asked for.
fn share(filter: &mut MergeRequestFilter, caller: UserId, scope: MergeRequestScope) {
    use MergeRequestScope as Scope;
    match scope {
        Scope::All => {}
        Scope::CreatedByMe | Scope::CreatedByMeDashed => filter.authors.push(caller),
        Scope::AssignedToMe | Scope::AssignedToMeDashed => {
            filter.assignees.push(Choice::These(vec![caller]));
        }
        Scope::ReviewsForMe | Scope::ReviewsForMeDashed => {
            filter.reviewers.push(Choice::These(vec![caller]));
        }
    }
}

fn named(tx: &mut Tx<'_>, choice: Choice<String>) -> Result<Choice<Vec<UserId>>> {
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
    fn filter(self, tx: &mut Tx<'_>, caller: UserId) -> Result<NotFilter> {
        let author = match self.author_username {
            Some(name) => person(tx, &name)?,
            None => None,
        };
        let assignees = match self.assignee_username {
            Some(Csv(names)) => Some(Choice::These(known_people(tx, &names)?)),
            None => None,
        };
        let reviewers = match self.reviewer_username {
            Some(TextChoice(choice)) => Some(named(tx, choice)?),
            None => None,
        };
        Ok(NotFilter {
            labels: self.labels.unwrap_or_default().0,
            milestone: self.milestone.map(TextChoice::into_milestone),
            author: self.author_id.or(author),
            assignee: self.assignee_id.as_ref().map(one_of).or(assignees),
            reviewer: self.reviewer_id.as_ref().map(one_of).or(reviewers),
            reaction: self.my_reaction_emoji.map(|choice| (caller, choice.0)),
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
            MergeRequestOrder::Title => Order::Column("title"),
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
