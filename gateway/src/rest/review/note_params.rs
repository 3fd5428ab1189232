//! Parameters of notes.

use kernel::{Ts, ids::NoteId};
use review::note::reading::{Activity, NoteQuery, OrderBy};

use crate::{
    extract::{NonEmpty, Sort},
    param_enums, params,
    rest::shared::discussion_params::PositionParams,
};

param_enums! { Activity, OrderBy }

params! {
    pub struct ListNotes: paged {
        /// Sort order; `created_at` is the order of creation.
        order_by: OrderBy = OrderBy::CreatedAt,
        sort: Sort = Sort::Desc,
        activity_filter: Activity = Activity::All,
    }
}

impl From<ListNotes> for NoteQuery {
    fn from(params: ListNotes) -> Self {
        Self {
            activity: params.activity_filter,
            order_by: params.order_by,
            newest_first: params.sort == Sort::Desc,
        }
    }
}

params! {
    pub struct OneNote {
        note_id: NoteId,
    }
}

params! {
    pub struct CreateNote {
        body: String,
        /// Only for members with at least the Reporter role.
        internal: Option<bool>,
        /// Same as `internal`; deprecated.
        confidential: Option<bool>,
        /// Ignored unless the caller is an owner or administrator.
        created_at: Option<Ts>,
        /// SHA of the head commit known to the caller; `/merge` fails if the head has changed.
        merge_request_diff_head_sha: Option<String>,
    }
}

params! {
    pub struct ChangeNote {
        body: NonEmpty,
    }
}

params! {
    pub struct ResolveDiscussion {
        resolved: bool,
    }
}

params! {
    /// What discussions of merge requests may be about.
    pub struct OnDiff {
        position: Option<PositionParams>,
        /// A commit of the merge request.
        commit_id: Option<String>,
    }
}
