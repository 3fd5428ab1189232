//! Parameters of discussions and of positions in diffs.

use kernel::Ts;
use review::note::position::{LineEnd, LineRange, Position, PositionType};

use crate::{param_enums, params};

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
