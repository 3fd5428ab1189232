//! Full names of refs: `refs/heads/main`.

use std::{borrow::Cow, fmt};

use bstr::{BStr, BString, ByteSlice};

use crate::git::{GitError, Result};

const BRANCHES: &str = "refs/heads/";
const TAGS: &str = "refs/tags/";
/// File systems end a name at 255 bytes, and git locks `<name>.lock`.
const LONGEST_PART: usize = 250;
/// What a branch or tag may be called in all.
const LONGEST: usize = 1000;
/// Nothing longer can be on disk: the name of a file, and about half of what a whole path may take.
const LONGEST_STORED_PART: usize = 255;
const LONGEST_STORED: usize = 2048;
/// A branch that begins so would be taken for the ref of that full name.
const SHADOWS: [&[u8]; 3] = [b"refs/heads/", b"refs/remotes/", b"refs/tags"];

/// The kind of a ref, by its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefKind {
    Branch,
    Tag,
    /// Merge requests, notes, keep-around and whatever else a push brought.
    Other,
}

/// A validated full name, always below `refs/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefName(BString);

impl RefName {
    /// Reads a full name by git's rules: that of a ref which may be there.
    pub fn full(name: impl AsRef<[u8]>) -> Result<Self> {
        let name = name.as_ref().as_bstr();
        if name.starts_with(b"refs/") && gix::validate::reference::name(name).is_ok() {
            Ok(Self(name.to_owned()))
        } else {
            Err(invalid(name))
        }
    }

    /// The branch `name`, given without `refs/heads/`, to be looked up.
    pub fn branch(name: &str) -> Result<Self> {
        Self::below(BRANCHES, name)
    }

    /// The tag `name`, given without `refs/tags/`, to be looked up.
    pub fn tag(name: &str) -> Result<Self> {
        Self::below(TAGS, name)
    }

    /// As [`branch`](Self::branch), for one that is to be made.
    pub fn new_branch(name: &str) -> Result<Self> {
        Self::branch(name)?.for_new_ref()
    }

    /// As [`tag`](Self::tag), for one that is to be made.
    pub fn new_tag(name: &str) -> Result<Self> {
        Self::tag(name)?.for_new_ref()
    }

    /// Refuses what no new ref may be called: a name that git, or a person, would take for another ref, a commit or an
    /// option, and one that is too long for a file.
    pub fn for_new_ref(self) -> Result<Self> {
        let short = self.short_bytes();
        let is_confusing = self.kind() != RefKind::Other && is_confusing(short);
        if is_confusing || short.len() > LONGEST || self.has_part_over(LONGEST_PART) {
            return Err(invalid(short));
        }
        Ok(self)
    }

    /// Whether a ref of this name can be on disk at all. To ask the file system for a longer one is an error there.
    pub fn is_storable(&self) -> bool {
        self.0.len() <= LONGEST_STORED && !self.has_part_over(LONGEST_STORED_PART)
    }

    fn has_part_over(&self, most: usize) -> bool {
        self.0.split_str("/").any(|part| part.len() > most)
    }

    fn below(folder: &str, name: &str) -> Result<Self> {
        Self::full(format!("{folder}{name}")).map_err(|_full| GitError::InvalidRef(name.to_owned()))
    }

    /// A name that git already keeps, whatever our own rules say of it.
    pub fn stored(name: &BStr) -> Self {
        Self(name.to_owned())
    }

    pub fn kind(&self) -> RefKind {
        if self.0.starts_with(BRANCHES.as_bytes()) {
            RefKind::Branch
        } else if self.0.starts_with(TAGS.as_bytes()) {
            RefKind::Tag
        } else {
            RefKind::Other
        }
    }

    pub fn is_branch(&self) -> bool {
        self.kind() == RefKind::Branch
    }

    pub fn is_tag(&self) -> bool {
        self.kind() == RefKind::Tag
    }

    /// The name people use: without `refs/heads/` or `refs/tags/`; other refs keep theirs.
    pub fn short(&self) -> Cow<'_, str> {
        self.short_bytes().to_str_lossy()
    }

    /// As [`short`](Self::short), for names that are not UTF-8.
    pub fn short_bytes(&self) -> &BStr {
        let folder = match self.kind() {
            RefKind::Branch => BRANCHES.len(),
            RefKind::Tag => TAGS.len(),
            RefKind::Other => 0,
        };
        self.0[folder..].as_bstr()
    }

    /// The names that have to be folders where this one lies, as far as refs may be called so.
    pub fn folders(&self) -> impl Iterator<Item = Self> + '_ {
        let ends = self.0.find_iter("/").skip(2);
        ends.map(|end| Self(self.0[..end].as_bstr().to_owned()))
    }

    pub fn as_bstr(&self) -> &BStr {
        self.0.as_bstr()
    }
}

fn invalid(name: &BStr) -> GitError {
    GitError::InvalidRef(name.to_str_lossy().into_owned())
}

fn is_confusing(short: &BStr) -> bool {
    short.starts_with(b"-")
        || short == "HEAD"
        || short == "@"
        || SHADOWS.iter().any(|prefix| short.starts_with(prefix))
        || (short.len() == 40 && short.iter().all(u8::is_ascii_hexdigit))
}

impl fmt::Display for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_str_lossy())
    }
}

impl serde::Serialize for RefName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for RefName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Self::full(text.as_bytes()).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{RefKind, RefName};

    #[test]
    fn names_know_their_kind_and_short_form() {
        for (full, kind, short) in [
            ("refs/heads/main", RefKind::Branch, "main"),
            ("refs/heads/a/b", RefKind::Branch, "a/b"),
            ("refs/tags/v1.0", RefKind::Tag, "v1.0"),
            ("refs/merge-requests/1/head", RefKind::Other, "refs/merge-requests/1/head"),
        ] {
            let name = RefName::full(full).unwrap();
            assert_eq!((name.kind(), name.short().as_ref()), (kind, short));
        }
        assert_eq!(RefName::branch("main").unwrap().to_string(), "refs/heads/main");
        assert_eq!(RefName::tag("v1").unwrap().to_string(), "refs/tags/v1");
    }

    #[test]
    fn a_name_lies_in_folders_that_could_be_refs() {
        let folders = |name: &str| -> Vec<String> {
            RefName::full(name).unwrap().folders().map(|folder| folder.to_string()).collect()
        };
        assert_eq!(folders("refs/heads/a/b/c"), ["refs/heads/a", "refs/heads/a/b"]);
        assert!(folders("refs/heads/a").is_empty() && folders("refs/a").is_empty());
    }

    #[test]
    fn what_git_does_not_take_is_no_name() {
        for name in [
            "", " ", "a b", "a..b", "a.lock", "a/.b", ".a", "a/", "/a", "a//b", "a@{b", "a\\b",
            "a\n", "a\0", "a~1", "a^", "a:b", "a?", "a*", "[a", "a.",
        ] {
            assert!(RefName::branch(name).is_err(), "{name:?}");
            assert!(RefName::new_branch(name).is_err(), "{name:?}");
        }
        for name in ["", "main", "HEAD", "refs/", "heads/main", "refs/heads/"] {
            assert!(RefName::full(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn no_new_ref_is_called_like_another_one() {
        for name in [
            "-x",
            "--output=x",
            "HEAD",
            "@",
            "refs/heads/main",
            "refs/remotes/origin/main",
            "refs/tags/v1",
            "refs/tagsx",
            "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        ] {
            assert!(RefName::new_branch(name).is_err(), "{name:?}");
            assert!(RefName::new_tag(name).is_err(), "{name:?}");
            assert!(RefName::branch(name).is_ok(), "{name:?} may be there from before");
        }
        for name in ["a", "a-b", "feature/x-1", "ünïcode", "@x", "v1.0-rc.1", "a/HEAD", "refs/x"]
        {
            assert!(RefName::new_branch(name).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn a_name_fits_into_the_file_system_with_its_lock() {
        let parts = |length: usize, count: usize| vec!["a".repeat(length); count].join("/");
        for (name, may_be_made, may_be_there) in [
            (parts(250, 1), true, true),
            (parts(251, 1), false, true),
            (parts(255, 1), false, true),
            (parts(256, 1), false, false),
            (parts(99, 10) + "/", true, true),
            (parts(99, 10) + "/aa", false, true),
            (parts(200, 20), false, false),
        ] {
            let name = name.trim_end_matches('/');
            assert_eq!(RefName::new_branch(name).is_ok(), may_be_made, "{}", name.len());
            assert_eq!(RefName::tag(name).unwrap().is_storable(), may_be_there, "{}", name.len());
        }
    }
}
