//! What the calls of notes and discussions take.

use kernel::{Ts, ids::NoteId};
use review::note::reading::{Activity, Listed, OrderBy};

use crate::{
    extract::{Filled, Sort},
    param_enums, params,
};

param_enums! { Activity, OrderBy }

params! {
    pub struct ListNotes: paged {
        /// `created_at` is the order in which they were written.
        order_by: OrderBy = OrderBy::CreatedAt,
        sort: Sort = Sort::Desc,
        activity_filter: Activity = Activity::All,
    }
}

impl From<ListNotes> for Listed {
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
        /// For members from Reporter on alone.
        internal: Option<bool>,
        /// The older name of `internal`.
        confidential: Option<bool>,
        /// Heeded from owners and administrators.
        created_at: Option<Ts>,
    }
}

params! {
    pub struct ChangeNote {
        body: Filled,
    }
}

params! {
    pub struct OneDiscussion {
        discussion_id: String,
    }
}

params! {
    pub struct CreateDiscussion {
        body: String,
        /// Heeded from owners and administrators.
        created_at: Option<Ts>,
    }
}

params! {
    /// Either what is said, or whether it is settled.
    pub struct ChangeThreadNote {
        body: Option<String>,
        resolved: Option<bool>,
    } with exactly_one("body", "resolved");
}

params! {
    pub struct ResolveDiscussion {
        resolved: bool,
    }
}
