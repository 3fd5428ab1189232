//! Finds files of a project by patterns. Symbolic links are entries of their own and are never followed.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Result, ensure};

use super::glob::{Pattern, Progress};

/// Entries of one archive.
const MOST_ENTRIES: usize = 1_000_000;
const DEEPEST: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    Link,
}

/// Paths with `/` between their names, in order.
pub(crate) type FileKinds = BTreeMap<String, Kind>;

/// Which files are wanted.
#[derive(Default)]
pub(crate) struct Selection {
    pub(crate) paths: Vec<Pattern>,
    pub(crate) exclude: Vec<Pattern>,
}

impl Selection {
    /// All that the patterns mean; a folder means everything in it.
    pub(crate) fn find(&self, root: &Path) -> Result<FileKinds> {
        let mut walk = Walk { selection: self, found: FileKinds::new() };
        let start = self.paths.iter().map(Pattern::start).collect::<Vec<_>>();
        walk.folder(root, "", &start, false, 0)?;
        Ok(walk.found)
    }

    pub(crate) fn excludes(&self, path: &str) -> bool {
        self.exclude.iter().any(|pattern| pattern.matches(path))
    }
}

struct Walk<'s> {
    selection: &'s Selection,
    found: FileKinds,
}

impl Walk<'_> {
    fn folder(
        &mut self,
        folder: &Path,
        path: &str,
        progress: &[Progress],
        is_inside: bool,
        depth: usize,
    ) -> Result<()> {
        ensure!(depth <= DEEPEST, "{path} lies more than {DEEPEST} folders deep");
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            // Archives name their entries in UTF-8.
            let Some(name) = name.to_str() else { continue };
            // Git's own files are nobody's result.
            if depth == 0 && name == ".git" {
                continue;
            }
            let own = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            let patterns = self.selection.paths.iter();
            let next: Vec<Progress> = patterns
                .clone()
                .zip(progress)
                .map(|(pattern, at)| pattern.step(at, name))
                .collect();
            let is_match =
                is_inside || patterns.zip(&next).any(|(pattern, at)| pattern.is_match(at));
            let kind = entry.file_type()?;
            if kind.is_dir() {
                if is_match {
                    self.keep(&own, Kind::Folder)?;
                }
                if is_match || next.iter().any(Progress::is_alive) {
                    self.folder(&entry.path(), &own, &next, is_match, depth + 1)?;
                }
            } else if is_match && kind.is_symlink() {
                self.keep(&own, Kind::Link)?;
            } else if is_match && kind.is_file() {
                self.keep(&own, Kind::File)?;
            }
        }
        Ok(())
    }

    fn keep(&mut self, path: &str, kind: Kind) -> Result<()> {
        if !self.selection.excludes(path) {
            ensure!(self.found.len() < MOST_ENTRIES, "there are more than {MOST_ENTRIES} files");
            self.found.insert(path.to_owned(), kind);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(paths: &[&str], exclude: &[&str]) -> Selection {
        let parse =
            |all: &[&str]| all.iter().flat_map(|text| Pattern::parse(text).unwrap()).collect();
        Selection { paths: parse(paths), exclude: parse(exclude) }
    }

    fn project() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["dist/a/b", ".git", "src"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        for name in ["dist/x.js", "dist/a/b/y.js", "dist/a/z.map", ".git/config", "src/m.rs"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        folder
    }

    #[test]
    fn a_folder_means_everything_in_it_but_what_is_excluded() {
        let found = selection(&["dist/"], &["**/*.map"]).find(project().path()).unwrap();
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["dist", "dist/a", "dist/a/b", "dist/a/b/y.js", "dist/x.js"]);
    }

    #[test]
    fn everything_is_without_gits_own_files() {
        let found = selection(&["."], &[]).find(project().path()).unwrap();
        assert!(found.contains_key("src/m.rs") && !found.contains_key(".git/config"));
    }

    #[test]
    fn links_are_not_followed() {
        let folder = project();
        std::os::unix::fs::symlink("/etc", folder.path().join("dist/etc")).unwrap();
        let found = selection(&["dist/**/*"], &[]).find(folder.path()).unwrap();
        assert_eq!(found["dist/etc"], Kind::Link);
        assert!(!found.contains_key("dist/etc/passwd"));
    }
}
