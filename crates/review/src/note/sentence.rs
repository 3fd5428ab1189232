//! Sentences of system notes that are written in more than one place.

use crate::item::ItemKind;

/// `changed title from **{-old-}** to **{+new+}**`
pub(crate) fn title(before: &str, after: &str) -> String {
    format!("changed title from **{{-{before}-}}** to **{{+{after}+}}**")
}

/// `assigned to @ada, @bob and unassigned @mia`, from names as they are to be read; empty where there are none.
pub(crate) fn assignees(added: &[String], removed: &[String]) -> String {
    let given = (!added.is_empty()).then(|| format!("assigned to {}", added.join(", ")));
    let taken = (!removed.is_empty()).then(|| format!("unassigned {}", removed.join(", ")));
    joined(given, taken)
}

/// `requested review from @ada and @bob`, from names as they are to be read; empty where there are none.
pub(crate) fn reviewers(added: &[String], removed: &[String]) -> String {
    let listed = |names: &[String]| match names.split_last() {
        Some((last, others)) if !others.is_empty() => {
            Some(format!("{} and {last}", others.join(", ")))
        }
        Some((last, _)) => Some(last.clone()),
        None => None,
    };
    let asked = listed(added).map(|names| format!("requested review from {names}"));
    let freed = listed(removed).map(|names| format!("removed review request for {names}"));
    joined(asked, freed)
}

/// `mentioned in merge request !2`, for the name by which the item reads that is told.
pub(crate) fn mention(kind: ItemKind, name: &str) -> String {
    let word = match kind {
        ItemKind::Issue => "issue",
        ItemKind::MergeRequest => "merge request",
        ItemKind::Epic => "epic",
    };
    format!("mentioned in {word} {name}")
}

fn joined(first: Option<String>, second: Option<String>) -> String {
    first.into_iter().chain(second).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use super::{assignees, reviewers};

    #[test]
    fn people_who_came_and_went_are_told_in_one_sentence() {
        let names = |all: &[&str]| all.iter().map(|name| format!("@{name}")).collect::<Vec<_>>();
        let (two, one) = (names(&["ada", "bo"]), names(&["mia"]));
        assert_eq!(assignees(&two, &one), "assigned to @ada, @bo and unassigned @mia");
        assert_eq!(
            reviewers(&two, &one),
            "requested review from @ada and @bo and removed review request for @mia"
        );
        assert_eq!(assignees(&[], &one), "unassigned @mia");
        assert!(reviewers(&[], &[]).is_empty());
    }
}
