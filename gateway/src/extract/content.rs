//! Parameters that are paths and contents of files: bytes rather than text.

use bytes::Bytes;
use repo::git::TreePath;
use serde_json::{Value, json};

use super::{
    params::{INVALID, Param, ParamErrors},
    raw::Raw,
};

const NO_PATH: &str = "should be a valid file path";

/// A file as a URL names it. It may hold bytes that are no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePath(Vec<u8>);

impl FilePath {
    /// The path in a tree; `None` when no tree can hold it.
    pub fn lookup(&self) -> Option<TreePath> {
        TreePath::lookup(&self.0).ok().filter(|path| !path.is_root())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A path as a query or body names it, whether or not any tree can hold it. A name that is no text comes in an address
/// or a form, byte by byte; JSON has no way to say it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathBytes(pub Vec<u8>);

impl Param for PathBytes {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let bytes = match raw {
            Raw::Bytes(bytes) => bytes.clone(),
            raw => match String::read(raw)? {
                Some(text) => text.into_bytes(),
                None => return Ok(None),
            },
        };
        if bytes.contains(&0) { Err(ParamErrors::one(INVALID)) } else { Ok(Some(Self(bytes))) }
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

/// A path inside a repository, as a query or body names it; slashes at its ends do not matter.
impl Param for TreePath {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let bytes = match raw {
            Raw::Null => return Ok(None),
            Raw::Text(text) => text.as_bytes(),
            Raw::Bytes(bytes) => bytes,
            _ => return Err(ParamErrors::one(INVALID)),
        };
        Self::lookup(bytes).map(Some).map_err(|_invalid| ParamErrors::one(NO_PATH))
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

impl Param for FilePath {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let bytes = match raw {
            Raw::Text(text) => text.as_bytes(),
            Raw::Bytes(bytes) => bytes,
            _ => return Err(ParamErrors::one(INVALID)),
        };
        let climbs = bytes.split(|byte| *byte == b'/').any(|part| part == b"..");
        if climbs || bytes.starts_with(b"/") || bytes.contains(&0) {
            return Err(ParamErrors::one(NO_PATH));
        }
        Ok(Some(Self(bytes.to_vec())))
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

/// The content of a file, as text, as bytes of a form, or as an uploaded file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content(pub Bytes);

impl Param for Content {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        Ok(Some(Self(match raw {
            Raw::Null => return Ok(None),
            Raw::Bool(value) => value.to_string().into(),
            Raw::Number(value) => value.to_string().into(),
            Raw::Text(text) => text.clone().into(),
            Raw::Bytes(bytes) | Raw::Attached(bytes) => bytes.clone().into(),
            Raw::List(_) | Raw::Map(_) | Raw::File(_) => return Err(ParamErrors::one(INVALID)),
        })))
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::{FilePath, Param as _, Raw};

    #[test]
    fn paths_that_leave_the_repository_are_refused() {
        let read = |bytes: &[u8]| FilePath::read(&Raw::Bytes(bytes.to_vec()));
        for path in [&b"/etc/passwd"[..], b"../a", b"a/../b", b"a/..", b"a\0b"] {
            assert!(read(path).is_err(), "{path:?}");
        }
        for path in [&b"a/b.txt"[..], b"..a", b"caf\xe9", b"a..b"] {
            assert!(read(path).is_ok(), "{path:?}");
        }
        assert!(read(b"a//b").unwrap().unwrap().lookup().is_none());
        assert!(read(&b"a".repeat(1 << 20)).unwrap().unwrap().lookup().is_none());
    }
}
