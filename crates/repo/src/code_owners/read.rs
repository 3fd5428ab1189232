//! The file of code owners in a repository, and what it says of changes.

use std::collections::BTreeSet;

use kernel::Result;

use super::parse::{CodeOwners, Owner};
use crate::{
    commit::read::deadline,
    git::{DiffLimits, EntryKind, Oid, Reader, TreePath},
};

/// Where the file may be; the first that is there counts.
pub(crate) const PLACES: [&str; 3] = ["CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"];
/// A larger file is passed over.
pub(crate) const LARGEST: u64 = 1 << 20;
const NAMES_ALONE: DiffLimits = DiffLimits { files: 0, ..DiffLimits::NONE };

/// What the file says at a commit; nothing where there is none.
pub fn of_branch(reader: &Reader, at: Oid) -> Result<CodeOwners> {
    let Some((_, blob)) = find(reader, at)? else { return Ok(CodeOwners::default()) };
    if reader.blob_info(blob)?.size > LARGEST {
        return Ok(CodeOwners::default());
    }
    let content = reader.blob(blob, LARGEST)?;
    Ok(CodeOwners::parse(&String::from_utf8_lossy(&content)))
}

/// The path of the file at a commit, and its blob.
pub fn find(reader: &Reader, at: Oid) -> Result<Option<(&'static str, Oid)>> {
    for place in PLACES {
        let Ok(path) = TreePath::lookup(place.as_bytes()) else { continue };
        let entry = reader.find_entry(at, &path)?;
        if let Some(entry) = entry.filter(|entry| entry.kind() == EntryKind::Blob) {
            return Ok(Some((place, entry.id)));
        }
    }
    Ok(None)
}

/// The paths that differ between two commits, by their old names and their new ones.
pub fn changed_by(reader: &Reader, from: Oid, to: Oid) -> Result<BTreeSet<String>> {
    let files = reader.diff(Some(from), to, NAMES_ALONE, deadline())?;
    let paths = files.iter().flat_map(|file| [&file.old_path, &file.new_path]);
    Ok(paths.map(|path| path.to_text().into_owned()).collect())
}

/// One pattern that fits a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnerMatch {
    pub section: String,
    pub pattern: String,
    pub optional: bool,
    pub approvals: i64,
    pub owners: Vec<Owner>,
}

/// Changed files with their code owners.
pub type OwnerMatches = Vec<OwnerMatch>;

impl CodeOwners {
    /// The patterns that count for these paths, each once, section by section.
    pub fn of_paths(&self, paths: &BTreeSet<String>) -> OwnerMatches {
        let mut found = Vec::new();
        for section in &self.sections {
            let patterns: BTreeSet<(&str, &[Owner])> =
                paths.iter().filter_map(|path| section.owners_of(path)).collect();
            found.extend(patterns.into_iter().map(|(pattern, owners)| OwnerMatch {
                section: section.name.clone(),
                pattern: pattern.to_owned(),
                optional: section.optional,
                approvals: section.approvals,
                owners: owners.to_vec(),
            }));
        }
        found
    }
}

/// What somebody is told who pushes what has owners past them; nothing where it has none.
pub fn refusal(owners: &CodeOwners, paths: &BTreeSet<String>) -> Option<String> {
    let owned = owners.of_paths(paths);
    let required = owned.iter().filter(|owned| !owned.optional);
    let patterns: BTreeSet<&str> = required.map(|owned| owned.pattern.as_str()).collect();
    if patterns.is_empty() {
        return None;
    }
    let list: Vec<String> = patterns.iter().map(|pattern| format!("- {pattern}")).collect();
    Some(format!(
        "Pushes to protected branches that contain changes to files that\nmatch patterns defined in `CODEOWNERS` are disabled for this\nproject. Please submit these changes via a merge request.\n\nThe following pattern(s) in `CODEOWNERS` were matched:\n{}",
        list.join("\n")
    ))
}

#[cfg(test)]
mod tests {
    use super::refusal;
    use crate::code_owners::CodeOwners;

    #[test]
    fn a_push_past_owners_is_told_which_patterns_it_met() {
        let owners = CodeOwners::parse("*.md @docs\n/a @ada\n^[Maybe]\n*.txt @eve\n");
        let told = |paths: &[&str]| {
            refusal(&owners, &paths.iter().map(|path| (*path).to_owned()).collect())
        };
        let text = told(&["x.md", "y.md", "a", "b.txt"]).expect("a refusal");
        assert!(text.ends_with("were matched:\n- *.md\n- /a"), "{text}");
        assert_eq!(told(&["b.txt", "c.rs"]), None);
    }
}
