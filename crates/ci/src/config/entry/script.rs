//! Commands: one, or a list of them, in which lists are taken apart.

use super::{Entry, Report};
use crate::config::node::Node;

pub(super) const DEEPEST: usize = 10;

/// `script`, `before_script`, `after_script` and whatever else is run.
pub(super) fn script(report: &mut Report, entry: Entry<'_>) -> Option<Vec<String>> {
    let commands = commands(entry.node);
    if commands.is_none() {
        report.config(
            entry.path,
            "should be a string or a nested array of strings up to 10 levels deep",
        );
    }
    commands
}

fn commands(node: &Node) -> Option<Vec<String>> {
    if let Some(text) = node.as_text() {
        return Some(vec![text.to_owned()]);
    }
    let mut flat = Vec::new();
    flatten(node.as_list()?, DEEPEST, &mut |item| {
        flat.push(item.as_text()?.to_owned());
        Some(())
    })?;
    Some(flat)
}

/// Hands on what is in a list and in the lists in it; `None` when something is refused or too deep.
pub(super) fn flatten<'a>(
    items: &'a [Node],
    levels: usize,
    take: &mut impl FnMut(&'a Node) -> Option<()>,
) -> Option<()> {
    for item in items {
        match item.as_list() {
            Some(inner) => flatten(inner, levels.checked_sub(1).filter(|left| *left > 0)?, take)?,
            None => take(item)?,
        }
    }
    Some(())
}
