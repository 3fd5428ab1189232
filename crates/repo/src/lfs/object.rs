//! The name of a large file, and the few lines in git that point at it.

use std::{fmt, str::FromStr};

/// The SHA-256 of the content, in small letters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LfsId(String);

impl LfsId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn of_digest(digest: &[u8]) -> Self {
        Self(hex::encode(digest))
    }
}

impl fmt::Display for LfsId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// No such name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoLfsId;

impl FromStr for LfsId {
    type Err = NoLfsId;

    fn from_str(text: &str) -> Result<Self, NoLfsId> {
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        match text.len() == 64 && text.bytes().all(digit) {
            true => Ok(Self(text.to_owned())),
            false => Err(NoLfsId),
        }
    }
}

/// The LFS pointer that git stores instead of a large file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    pub id: LfsId,
    pub size: i64,
}

/// No pointer is longer.
const LONGEST: usize = 1024;

impl Pointer {
    pub fn parse(content: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(content).ok().filter(|text| text.len() < LONGEST)?;
        let mut lines = text.lines();
        let version = lines.next()?.strip_prefix("version ")?;
        if !version.starts_with("https://git-lfs.github.com/spec/v")
            && !version.starts_with("http://git-media.io/v/")
        {
            return None;
        }
        let (mut id, mut size) = (None, None);
        for line in lines {
            match line.split_once(' ')? {
                ("oid", name) => id = name.strip_prefix("sha256:")?.parse().ok(),
                ("size", number) => size = number.parse().ok().filter(|size| *size >= 0),
                _ => {}
            }
        }
        Some(Self { id: id?, size: size? })
    }
}

#[cfg(test)]
mod tests {
    use super::{LfsId, Pointer};

    const NAME: &str = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";

    #[test]
    fn pointers_are_told_from_other_files() {
        let text =
            format!("version https://git-lfs.github.com/spec/v1\noid sha256:{NAME}\nsize 12345\n");
        let pointer = Pointer::parse(text.as_bytes()).unwrap();
        assert_eq!((pointer.id.as_str(), pointer.size), (NAME, 12345));
        for other in [
            "",
            "version 1\n",
            &text.replace("sha256", "md5"),
            &text.replace("12345", "-1"),
            &text.replace("4d7a", "4D7A"),
            &text.replace("size 12345\n", ""),
            &format!("{text}{}", "ext-0-x a\n".repeat(200)),
        ] {
            assert_eq!(Pointer::parse(other.as_bytes()), None, "{other}");
        }
        assert_eq!(Pointer::parse(b"version https://git-lfs.github.com/spec/v1\n\xff"), None);
    }

    #[test]
    fn names_lead_nowhere_else() {
        for wrong in
            ["", "../../../etc/passwd", &NAME[1..], &NAME.to_uppercase(), &format!("{NAME}0")]
        {
            assert!(wrong.parse::<LfsId>().is_err(), "{wrong}");
        }
    }
}
