//! The changes of a push to the pages of a wiki.

use std::collections::BTreeMap;

use kernel::Result;

use super::find::{self, PageFile};
use crate::{
    event::WikiAction,
    git::{Oid, Reader},
};

/// More than this is not told of one push.
const MOST: usize = 100;

/// A page that changed, by its file as it is called afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageChange {
    pub action: WikiAction,
    pub path: String,
}

/// The pages that differ between two versions, in the order of their files. A page that was moved, and not written
/// anew, is one that changed.
pub fn between(reader: &Reader, old: Option<Oid>, new: Option<Oid>) -> Result<Vec<PageChange>> {
    let pages = |at: Option<Oid>| match at {
        Some(at) => find::all(reader, at),
        None => Ok(Vec::new()),
    };
    let mut changes = compared(pages(old)?, pages(new)?);
    changes.truncate(MOST);
    Ok(changes)
}

fn compared(old: Vec<PageFile>, new: Vec<PageFile>) -> Vec<PageChange> {
    let mut gone: BTreeMap<String, Oid> =
        old.into_iter().map(|page| (page.path, page.blob)).collect();
    let mut changes = Vec::new();
    let mut fresh = Vec::new();
    for page in new {
        match gone.remove(&page.path) {
            None => fresh.push(page),
            Some(blob) if blob == page.blob => {}
            Some(_) => changes.push(PageChange { action: WikiAction::Update, path: page.path }),
        }
    }
    for page in fresh {
        let source = gone.iter().find(|(_, blob)| **blob == page.blob);
        let action = match source.map(|(path, _)| path.clone()) {
            Some(path) => {
                gone.remove(&path);
                WikiAction::Update
            }
            None => WikiAction::Create,
        };
        changes.push(PageChange { action, path: page.path });
    }
    let deleted = |path| PageChange { action: WikiAction::Delete, path };
    changes.extend(gone.into_keys().map(deleted));
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    changes
}

#[cfg(test)]
mod tests {
    use super::{PageChange, compared};
    use crate::{
        event::WikiAction::{Create, Delete, Update},
        git::Oid,
        wiki::{Markup, PageFile},
    };

    fn page((path, byte): &(&str, u8)) -> PageFile {
        let slug = path.trim_end_matches(".md").to_owned();
        let markup = Markup::of_ending("md").expect("a language");
        let blob: Oid = hex::encode([*byte; 20]).parse().expect("an id");
        PageFile { slug, path: (*path).to_owned(), markup, blob }
    }

    #[test]
    fn pages_are_made_changed_moved_and_taken_away() {
        let old = [("gone.md", 1), ("here.md", 2), ("kept.md", 3), ("was.md", 4)];
        let new = [("here.md", 5), ("is.md", 4), ("kept.md", 3), ("new.md", 6)];

        let changes = compared(old.iter().map(page).collect(), new.iter().map(page).collect());

        let told: Vec<_> = changes.iter().map(|one| (one.path.as_str(), one.action)).collect();
        assert_eq!(
            told,
            [("gone.md", Delete), ("here.md", Update), ("is.md", Update), ("new.md", Create)]
        );
        let none: Vec<PageChange> = compared(Vec::new(), Vec::new());
        assert!(none.is_empty());
    }
}
