//! What the calls of notes and discussions take.

use kernel::{Ts, ids::NoteId};
use review::note::{
    position::{LineEnd, LineRange, Position, PositionType},
    reading::{Activity, NoteQuery, OrderBy},
};

use crate::{
    extract::{NonEmpty, Sort},
    param_enums, params,
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
    pub struct OneDiscussion {
        discussion_id: String,
    }
}

params! {
    pub struct CreateDiscussion {
        body: String,
        /// Ignored unless the caller is an owner or administrator.
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

param_enums! { PositionType }

params! {
    /// Where several lines begin or end.
    pub struct RangeEnd {
        /// Line code: `<SHA-1 of the path>_<old line>_<new line>`.
        line_code: Option<String>,
        /// `new`, `old`, or null for an unchanged line.
        r#type: Option<String>,
        old_line: Option<i64>,
        new_line: Option<i64>,
    }
}

params! {
    pub struct Range {
        start: RangeEnd,
        end: RangeEnd,
    }
}

params! {
    /// A place in a diff.
    pub struct PositionParams {
        base_sha: String,
        start_sha: String,
        head_sha: String,
        position_type: PositionType,
        new_path: Option<String>,
        new_line: Option<i64>,
        old_path: Option<String>,
        old_line: Option<i64>,
        width: Option<i64>,
        height: Option<i64>,
        x: Option<f64>,
        y: Option<f64>,
        line_range: Option<Range>,
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

impl From<RangeEnd> for LineEnd {
    fn from(end: RangeEnd) -> Self {
        Self {
            line_code: end.line_code,
            side: end.r#type.filter(|side| !side.is_empty()),
            old_line: end.old_line,
            new_line: end.new_line,
        }
        .completed()
    }
}

impl From<PositionParams> for Position {
    fn from(at: PositionParams) -> Self {
        let filled = |path: Option<String>| path.filter(|path| !path.is_empty());
        let range = |range: Range| LineRange { start: range.start.into(), end: range.end.into() };
        Self {
            base_sha: at.base_sha,
            start_sha: at.start_sha,
            head_sha: at.head_sha,
            old_path: filled(at.old_path),
            new_path: filled(at.new_path),
            position_type: at.position_type,
            old_line: at.old_line,
            new_line: at.new_line,
            line_range: at.line_range.map(range),
            width: at.width,
            height: at.height,
            x: at.x,
            y: at.y,
        }
    }
}
