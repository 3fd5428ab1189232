//! Full names of refs: `refs/heads/main`.

use std::{borrow::Cow, fmt};

use bstr::{BStr, BString, ByteSlice};

use crate::git::{GitError, Result};

const BRANCHES: &str = "refs/heads/";
const TAGS: &str = "refs/tags/";
const LONGEST: usize = 1024;

/// What a ref is, by the folder it lies in.
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
    /// Reads a full name, by git's rules and three of our own: no leading dash, no `HEAD`, nothing that looks
    /// like an object id directly below `refs/heads/` or `refs/tags/`.
    pub fn full(name: impl AsRef<[u8]>) -> Result<Self> {
        let name = name.as_ref().as_bstr();
        let valid = name.starts_with(b"refs/")
            && name.len() <= LONGEST
            && gix::validate::reference::name(name).is_ok()
            && !is_confusing(name);
        if valid {
            Ok(Self(name.to_owned()))
        } else {
            Err(GitError::InvalidRef(name.to_str_lossy().into_owned()))
        }
    }

    /// The branch `name`, given without `refs/heads/`.
    pub fn branch(name: &str) -> Result<Self> {
        Self::below(BRANCHES, name)
    }

    /// The tag `name`, given without `refs/tags/`.
    pub fn tag(name: &str) -> Result<Self> {
        Self::below(TAGS, name)
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

    pub fn as_bstr(&self) -> &BStr {
        self.0.as_bstr()
    }
}

fn is_confusing(name: &BStr) -> bool {
    let short = name
        .strip_prefix(BRANCHES.as_bytes())
        .or_else(|| name.strip_prefix(TAGS.as_bytes()))
        .unwrap_or_default();
    short.starts_with(b"-")
        || short == b"HEAD"
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
    fn bad_names_are_refused() {
        for name in [
            "",
            " ",
            "a b",
            "a..b",
            "a.lock",
            "a/.b",
            ".a",
            "a/",
            "/a",
            "a//b",
            "a@{b",
            "a\\b",
            "a\n",
            "a\0",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "[a",
            "-x",
            "--output=x",
            "HEAD",
            "a.",
            "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
        ] {
            assert!(RefName::branch(name).is_err(), "{name:?}");
        }
        for name in ["", "main", "HEAD", "refs/", "heads/main", "refs/heads/"] {
            assert!(RefName::full(name).is_err(), "{name:?}");
        }
        assert!(RefName::branch(&"a".repeat(1100)).is_err());
        for name in ["a", "a-b", "feature/x-1", "ünïcode", "@x", "v1.0-rc.1", "a/HEAD"] {
            assert!(RefName::branch(name).is_ok(), "{name:?}");
        }
    }
}
