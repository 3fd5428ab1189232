//! The milestone of an item.

use db::Tx;
use kernel::{
    Result,
    ids::{MilestoneId, ProjectId},
};

use crate::{Home, milestone::MilestoneStore as _, ports::GroupHierarchy};

/// A milestone of the project or of a group above it; any other is none.
pub fn usable(
    tx: &mut Tx<'_>,
    places: &impl GroupHierarchy,
    project: ProjectId,
    asked: Option<MilestoneId>,
) -> Result<Option<MilestoneId>> {
    let Some(id) = asked else { return Ok(None) };
    let Some(found) = tx.milestones_by_id(&[id])?.pop() else { return Ok(None) };
    let usable = match (found.project_id, found.namespace_id) {
        (Some(home), _) => home == project,
        (None, Some(group)) => places.above(tx, Home::Project(project))?.contains(&group),
        (None, None) => false,
    };
    Ok(usable.then_some(id))
}

/// What notes tell of another milestone.
pub fn sentence(tx: &mut Tx<'_>, to: Option<MilestoneId>) -> Result<String> {
    let Some(id) = to else { return Ok(sentence_of(None)) };
    let found = tx.milestones_by_id(&[id])?.pop();
    let title = found.map(|milestone| milestone.title).unwrap_or_default();
    Ok(sentence_of(Some(&title)))
}

/// As [`sentence`], for the title of a milestone.
pub(crate) fn sentence_of(title: Option<&str>) -> String {
    match title {
        Some(title) => format!("changed milestone to %{}", quoted(title)),
        None => "removed milestone".to_owned(),
    }
}

/// A title as references write it.
fn quoted(title: &str) -> String {
    let plain = title.chars().all(|letter| letter.is_alphanumeric() || "-_.".contains(letter));
    if plain { title.to_owned() } else { format!("\"{title}\"") }
}
