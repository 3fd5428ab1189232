//! Values in the fields of notes: the position in a diff, and the icon of what happened.

use graphql::Value;
use review::note::position::Position;

pub(super) fn position(text: &str) -> Option<Value> {
    let at: Position = serde_json::from_str(text).ok()?;
    let refs = Value::fields(
        "DiffRefs",
        [
            ("baseSha", at.base_sha.as_str().into()),
            ("headSha", at.head_sha.as_str().into()),
            ("startSha", at.start_sha.as_str().into()),
        ],
    );
    let path = at.new_path.as_deref().or(at.old_path.as_deref()).unwrap_or_default();
    Some(Value::fields(
        "DiffPosition",
        [
            ("diffRefs", refs),
            ("filePath", path.into()),
            ("height", at.height.into()),
            ("newLine", at.new_line.into()),
            ("newPath", at.new_path.as_deref().into()),
            ("oldLine", at.old_line.into()),
            ("oldPath", at.old_path.as_deref().into()),
            ("positionType", at.position_type.to_string().into()),
            ("width", at.width.into()),
            ("x", at.x.map(whole).into()),
            ("y", at.y.map(whole).into()),
        ],
    ))
}

/// A coordinate of an image without its fraction.
fn whole(number: f64) -> i64 {
    format!("{:.0}", number.trunc()).parse().unwrap_or_default()
}

/// The icon of what happened, by the first words of its sentence.
pub(super) fn icon(body: &str) -> Option<&'static str> {
    const ICONS: &[(&str, &str)] = &[
        ("assigned", "user"),
        ("unassigned", "user"),
        ("requested review", "user"),
        ("removed review request", "user"),
        ("changed title", "pencil-square"),
        ("changed the description", "pencil-square"),
        ("changed milestone", "clock"),
        ("removed milestone", "clock"),
        ("changed weight", "weight"),
        ("removed the weight", "weight"),
        ("changed due date", "calendar"),
        ("removed due date", "calendar"),
        ("changed time estimate", "timer"),
        ("removed time", "timer"),
        ("added to epic", "epic"),
        ("removed from epic", "epic"),
        ("changed epic", "epic"),
        ("made the issue confidential", "eye-slash"),
        ("made the issue visible", "eye"),
        ("made the epic confidential", "eye-slash"),
        ("made the epic visible", "eye"),
        ("locked this", "lock"),
        ("unlocked this", "lock-open"),
        ("mentioned in commit", "commit"),
        ("mentioned in", "comment-dots"),
        ("marked this", "issue-duplicate"),
        ("resolved all threads", "check-circle"),
        ("approved this", "approval"),
        ("unapproved this", "unapproval"),
        ("closed", "issue-close"),
        ("reopened", "issues"),
        ("merged", "git-merge"),
        ("moved", "arrow-right"),
    ];
    ICONS.iter().find(|(words, _)| body.starts_with(words)).map(|(_, icon)| *icon)
}
