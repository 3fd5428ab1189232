//! Paths inside a tree, as the bytes that git keeps.

use std::{borrow::Cow, fmt};

use bstr::{BStr, BString, ByteSlice};

use crate::git::{GitError, Result};

const LONGEST: usize = 4096;
const DEEPEST: usize = 255;

/// A relative path. The root of a tree is [`TreePath::ROOT`], the empty path.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(BString);

impl TreePath {
    pub const ROOT: Self = Self(BString::new(Vec::new()));

    /// A path that may be written: no empty part, `.`, `..` or anything a file system could take for `.git`,
    /// no backslash or control character, within bounds.
    pub fn new(path: impl AsRef<[u8]>) -> Result<Self> {
        let path = path.as_ref().as_bstr();
        let valid = Self::bounded(path)
            && !path.iter().any(|byte| *byte < 0x20 || *byte == 0x7f || *byte == b'\\')
            && path.split_str("/").all(is_safe_part);
        if valid { Ok(Self(path.to_owned())) } else { Err(refuse(path)) }
    }

    /// A path that is only looked up: whatever a push may have brought can be named. Slashes at both ends are
    /// dropped; nothing at all is the root.
    pub fn lookup(path: impl AsRef<[u8]>) -> Result<Self> {
        let path = path.as_ref().trim_with(|c| c == '/').as_bstr();
        let valid = path.is_empty()
            || (Self::bounded(path)
                && !path.contains(&0)
                && path.split_str("/").all(|part| !matches!(part, b"" | b"." | b"..")));
        if valid { Ok(Self(path.to_owned())) } else { Err(refuse(path)) }
    }

    /// A path that git already keeps.
    pub fn stored(path: impl Into<BString>) -> Self {
        Self(path.into())
    }

    fn bounded(path: &BStr) -> bool {
        path.len() <= LONGEST && path.split_str("/").count() <= DEEPEST
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub fn as_bstr(&self) -> &BStr {
        self.0.as_bstr()
    }

    /// The path as text; bytes that are not UTF-8 are replaced.
    pub fn to_text(&self) -> Cow<'_, str> {
        self.0.to_str_lossy()
    }

    /// The parts between the slashes; none for the root.
    pub fn parts(&self) -> impl Iterator<Item = &BStr> {
        self.0.split_str("/").filter(|part| !part.is_empty()).map(ByteSlice::as_bstr)
    }

    /// The last part.
    pub fn name(&self) -> &BStr {
        self.0.rsplit_str("/").next().unwrap_or_default().as_bstr()
    }

    /// The folder it lies in; the root's is the root.
    pub fn parent(&self) -> Self {
        Self(self.0.rfind_byte(b'/').map_or_else(BString::default, |at| self.0[..at].into()))
    }

    /// The path of `name` inside this folder.
    pub fn join(&self, name: &BStr) -> Self {
        if self.is_root() {
            return Self(name.to_owned());
        }
        let mut path = self.0.clone();
        path.push(b'/');
        path.extend_from_slice(name);
        Self(path)
    }
}

fn refuse(path: &BStr) -> GitError {
    GitError::InvalidPath(path.chars().take(200).collect())
}

fn is_safe_part(part: &[u8]) -> bool {
    use gix::validate::path::component;
    let rules =
        component::Options { protect_windows: false, protect_hfs: true, protect_ntfs: true };
    !part.is_empty() && component(part.as_bstr(), None, rules).is_ok()
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_text())
    }
}

#[cfg(test)]
mod tests {
    use super::TreePath;

    #[test]
    fn dangerous_paths_cannot_be_written() {
        for path in [
            "",
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "a/../b",
            "./a",
            ".git",
            ".git/config",
            ".GIT",
            "a/.Git/x",
            "git~1",
            ".g\u{200c}it",
            "a\\b",
            "a\0b",
            "a\nb",
            "a\x7fb",
        ] {
            assert!(TreePath::new(path).is_err(), "{path:?}");
        }
        assert!(TreePath::new("a".repeat(4097)).is_err());
        assert!(TreePath::new(vec!["a"; 256].join("/")).is_err());
        for path in [
            "a",
            "a/b c",
            ".gitignore",
            ".gitattributes",
            "con",
            "aux.c",
            "ü/ß",
            "a/.b",
            "*.rs",
            "-x",
        ] {
            assert!(TreePath::new(path).is_ok(), "{path:?}");
        }
        assert!(TreePath::new(b"caf\xe9").is_ok());
    }

    #[test]
    fn a_lookup_only_refuses_what_no_tree_can_hold() {
        for (path, expected) in
            [("", ""), ("/", ""), ("/a/b/", "a/b"), ("a\\b", "a\\b"), (".git/x", ".git/x")]
        {
            assert_eq!(TreePath::lookup(path).unwrap().to_text(), expected);
        }
        for path in ["..", "a/../b", "a//b", "./a", "a\0b"] {
            assert!(TreePath::lookup(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn paths_come_apart() {
        let path = TreePath::new("a/b/c.txt").unwrap();
        assert_eq!((path.name(), path.parent().to_string()), ("c.txt".into(), "a/b".to_owned()));
        assert_eq!(path.parts().count(), 3);
        assert!(TreePath::ROOT.parent().is_root());
        assert_eq!(TreePath::ROOT.parts().count(), 0);
        assert_eq!(path.parent().join("x".into()).to_string(), "a/b/x");
    }
}
