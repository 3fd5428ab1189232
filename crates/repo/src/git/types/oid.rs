//! The name of a git object.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::git::GitError;

/// A full SHA-1 object name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid([u8; 20]);

impl Oid {
    /// Stands for "no object" where git moves refs.
    pub const NULL: Self = Self([0; 20]);
    /// The tree without entries, known to every repository.
    pub const EMPTY_TREE: Self = Self([
        0x4b, 0x82, 0x5d, 0xc6, 0x42, 0xcb, 0x6e, 0xb9, 0xa0, 0x60, 0xe5, 0x4b, 0xf8, 0xd6, 0x92,
        0x88, 0xfb, 0xee, 0x49, 0x04,
    ]);

    pub const fn new(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    pub fn is_null(&self) -> bool {
        *self == Self::NULL
    }

    /// The eight digits that people are shown.
    pub fn short(&self) -> String {
        hex::encode(&self.0[..4])
    }

    pub fn of(id: &gix::oid) -> Self {
        let mut bytes = [0; 20];
        bytes.copy_from_slice(id.as_bytes());
        Self(bytes)
    }

    pub fn gix(self) -> gix::ObjectId {
        gix::ObjectId::Sha1(self.0)
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [0; 40];
        hex::encode_to_slice(self.0, &mut digits).or(Err(fmt::Error))?;
        f.pad(str::from_utf8(&digits).or(Err(fmt::Error))?)
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Reads exactly 40 hexadecimal digits; everything else is no object's name.
impl FromStr for Oid {
    type Err = GitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 20];
        hex::decode_to_slice(text, &mut bytes).or(Err(GitError::NotFound))?;
        Ok(Self(bytes))
    }
}

impl Serialize for Oid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Oid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().or(Err(de::Error::custom("not a full object id")))
    }
}

#[cfg(test)]
mod tests {
    use super::Oid;

    #[test]
    fn only_forty_digits_are_an_id() {
        let text = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        assert_eq!(text.parse::<Oid>().unwrap(), Oid::EMPTY_TREE);
        assert_eq!(Oid::EMPTY_TREE.to_string(), text);
        assert_eq!(Oid::EMPTY_TREE.short(), "4b825dc6");
        assert_eq!(text.to_uppercase().parse::<Oid>().unwrap(), Oid::EMPTY_TREE);
        for wrong in ["", "4b825dc6", &text[1..], &format!("{text}0"), &text.replace('4', "g")] {
            assert!(wrong.parse::<Oid>().is_err(), "{wrong}");
        }
    }
}
